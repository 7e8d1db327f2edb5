"""Text that leaves the window: of which lines of which files, so that the guard does not say that
they are as they were read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sightline.changes.session_context import Known, SessionContext, load_knowledge, located
from sightline.conversation.window.blocks import Block, Tail
from sightline.errors import PathError
from sightline.model.diff import diff
from sightline.model.events import Dropped
from sightline.model.spans import Spans, carry, intersect, spans, subtract, union, whole


def leaving(
    ground: SessionContext, gone: Sequence[Block], standing: Sequence[Block], tails: Iterable[Tail]
) -> list[Dropped]:
    """What this session's agent holds no more once these blocks are gone: never a line that still
    stands in another block, or in a tail."""
    texts = [tail.text for tail in tails]
    found: dict[str, Dropped] = {}
    for path, spelled in _by_file(ground, gone).items():
        known = load_knowledge(ground, located(ground, spelled[0]))
        if known.knowledge is None or not known.knowledge.belief.held:
            continue
        same = [each for each in standing if _mentions(each, path)]
        names = _spellings(ground, same, path)
        left = _lines(known, gone, spelled, unsure=True)
        left = subtract(left, _lines(known, same, names, unsure=False))
        left = subtract(left, _in_texts(known, texts, (*spelled, *names)))
        lines = intersect(known.knowledge.belief.held, left)
        if lines:
            found[path] = Dropped(known.knowledge.path, lines)
    return list(found.values())


def _by_file(ground: SessionContext, blocks: Iterable[Block]) -> dict[str, list[str]]:
    """Path in the workspace -> as it is spelled in these blocks."""
    found: dict[str, list[str]] = {}
    for spelled in dict.fromkeys(path for block in blocks for path in _paths(block)):
        path = path_of(ground, spelled)
        if path is not None:
            found.setdefault(path, []).append(spelled)
    return found


def _spellings(ground: SessionContext, blocks: Iterable[Block], path: str) -> list[str]:
    return _by_file(ground, blocks).get(path, [])


def path_of(ground: SessionContext, spelled: str) -> str | None:
    """Where a path that an agent spells leads; None out of the workspace."""
    try:
        return located(ground, spelled).path
    except PathError:
        return None


def _paths(block: Block) -> Iterator[str]:
    yield from (each.path for each in block.excerpts)
    yield from (each.path for each in block.rewrites)
    if block.deed == "read":
        yield from block.paths


def _mentions(block: Block, path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return any(name in each for each in _paths(block))


def _lines(known: Known, blocks: Iterable[Block], names: Sequence[str], *, unsure: bool) -> Spans:
    """The lines of what is believed that blocks show. unsure: all of it, of a read of which nobody
    can tell what it showed."""
    held = known.held
    believed = [line.rstrip("\n") for line in held.lines] if held else None
    total = known.knowledge.belief.lines if known.knowledge else 0
    found: Spans = ()
    for block in blocks:
        for excerpt in block.excerpts:
            if excerpt.path in names:
                found = union(found, _shown(believed, excerpt.first, excerpt.text))
        for rewrite in block.rewrites:
            if rewrite.path in names:
                found = union(found, _shown(believed, 1, rewrite.new))
        is_read = block.deed == "read" and block.kind == "result" and not block.error
        if unsure and is_read and not block.excerpts and set(names) & set(block.paths):
            found = union(found, whole(total))
    return found


def _shown(believed: Sequence[str] | None, first: int, text: str) -> Spans:
    """Where the lines of a text stand in what is believed; by their numbers where that is not
    kept."""
    lines = text.removesuffix("\n").split("\n")
    if believed is None:
        return spans([(first, first + len(lines) - 1)])
    if list(believed[first - 1 : first - 1 + len(lines)]) == lines:
        return spans([(first, first + len(lines) - 1)])
    return carry(whole(len(lines)), diff(lines, believed))


def _in_texts(known: Known, texts: Iterable[str], names: Sequence[str]) -> Spans:
    """The lines that current views show."""
    held = known.held
    if held is None:
        return ()
    believed = [line.rstrip("\n") for line in held.lines]
    found: Spans = ()
    for text in texts:
        if any(text.startswith(f"[{name} ") for name in names):
            lines = text.split("\n")
            found = union(found, carry(whole(len(lines)), diff(lines, believed)))
    return found
