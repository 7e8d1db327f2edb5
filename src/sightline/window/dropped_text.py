"""Record which lines of files leave the context window, so that the guard does not answer
"unchanged since your read" about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sightline.changes.session_context import Known, SessionContext, load_knowledge, located
from sightline.errors import PathError
from sightline.messages.blocks import Block, Tail
from sightline.model.diff import diff
from sightline.model.events import Dropped
from sightline.model.spans import Spans, carry, intersect, spans, subtract, union, whole


def dropped_lines(
    context: SessionContext,
    removed: Sequence[Block],
    visible: Sequence[Block],
    tails: Iterable[Tail] = (),
) -> list[Dropped]:
    """Return the lines that the agent no longer holds once blocks are removed: never a line that a
    visible block or a tail shows."""
    texts = [tail.text for tail in tails]
    dropped: list[Dropped] = []
    for path, spellings in _spellings(context, removed).items():
        known = load_knowledge(context, located(context, spellings[0]))
        if known.knowledge is None or not known.knowledge.belief.held:
            continue
        name = path.rsplit("/", 1)[-1]
        related = [b for b in visible if any(name in spelling for spelling in _paths(b))]
        names = _spellings(context, related).get(path, [])
        lines = _shown(known, removed, spellings, unclear=True)
        lines = subtract(lines, _shown(known, related, names, unclear=False))
        lines = subtract(lines, _shown_in_tails(known, texts, (*spellings, *names)))
        lines = intersect(known.knowledge.belief.held, lines)
        if lines:
            dropped.append(Dropped(known.knowledge.path, lines))
    return dropped


def _spellings(context: SessionContext, blocks: Iterable[Block]) -> dict[str, list[str]]:
    """Return, by path in the workspace, the spellings of the path in blocks."""
    spellings: dict[str, list[str]] = {}
    for spelling in dict.fromkeys(path for block in blocks for path in _paths(block)):
        path = path_of(context, spelling)
        if path is not None:
            spellings.setdefault(path, []).append(spelling)
    return spellings


def path_of(context: SessionContext, spelling: str) -> str | None:
    """Resolve a path that an agent spells; None outside the workspace."""
    try:
        return located(context, spelling).path
    except PathError:
        return None


def _paths(block: Block) -> Iterator[str]:
    yield from (excerpt.path for excerpt in block.excerpts)
    yield from (rewrite.path for rewrite in block.rewrites)
    if block.deed == "read":
        yield from block.paths


def _shown(known: Known, blocks: Iterable[Block], names: Sequence[str], *, unclear: bool) -> Spans:
    """Return the lines of the believed text that blocks show. unclear: count a read as showing the
    whole file when its result cannot be parsed."""
    believed = _believed_lines(known)
    lines: Spans = ()
    for block in blocks:
        texts = [(e.first, e.text) for e in block.excerpts if e.path in names]
        texts += [(1, rewrite.new) for rewrite in block.rewrites if rewrite.path in names]
        for first, text in texts:
            lines = union(lines, _positions(believed, first, text))
        is_read = block.deed == "read" and block.kind == "result" and not block.error
        if unclear and is_read and not block.excerpts and set(names) & set(block.paths):
            lines = union(lines, whole(known.knowledge.belief.lines if known.knowledge else 0))
    return lines


def _believed_lines(known: Known) -> list[str] | None:
    held = known.held
    return [line.rstrip("\n") for line in held.lines] if held else None


def _positions(believed: Sequence[str] | None, first: int, text: str) -> Spans:
    """Return the positions of a text's lines in the believed text; by their line numbers where the
    believed text is not stored."""
    lines = text.removesuffix("\n").split("\n")
    last = first + len(lines) - 1
    if believed is None or list(believed[first - 1 : last]) == lines:
        return spans([(first, last)])
    return carry(whole(len(lines)), diff(lines, believed))


def _shown_in_tails(known: Known, texts: Iterable[str], names: Sequence[str]) -> Spans:
    believed = _believed_lines(known)
    shown: Spans = ()
    for text in texts:
        if believed is not None and any(text.startswith(f"[{name} ") for name in names):
            lines = text.split("\n")
            shown = union(shown, carry(whole(len(lines)), diff(lines, believed)))
    return shown
