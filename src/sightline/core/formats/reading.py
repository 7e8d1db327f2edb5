"""Messages to blocks, whatever their format: steps, which result is whose, and what tools do."""

from __future__ import annotations

from sightline.core.calls.call import Call, call
from sightline.core.formats import spoken, tools
from sightline.core.formats.parts import parts_of
from sightline.core.window.blocks import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sightline.core.formats.parts import Adapter, Message, Part, Role
    from sightline.core.formats.spoken import Said
    from sightline.core.formats.tools import Told

    Count = Callable[[str], int]

PICTURE = 1_500
"""Tokens of a picture, or of a document's pages: nobody knows its size here."""


class Names:
    """Gives calls and results an id where their format has none: results come in the order of the
    calls."""

    def __init__(self) -> None:
        self._open: list[tuple[str | None, str]] = []

    def of(self, place: tuple[int, int], part: Part) -> str | None:
        if part.call is not None or part.kind not in ("call", "result"):
            return part.call
        if part.kind == "call":
            name = f"#{place[0]}.{place[1]}"
            self._open.append((part.tool, name))
            return name
        known = (each for each in self._open if part.tool in (None, each[0]))
        first = next(known, None)
        if first is None:
            return None
        self._open.remove(first)
        return first[1]

    def answered(self) -> None:
        """The model begins to say something else."""
        self._open = []


class Known:
    """What has to be known of the messages before, to read the next ones. It is changed by it."""

    def __init__(self) -> None:
        self.step = 0
        self.role: Role | None = None
        self.names = Names()
        self.calls: dict[str, Told] = {}
        self.spoken: list[tuple[str, str]] = []


def blocks(
    adapter: Adapter,
    messages: Sequence[Message],
    count: Count,
    start: int = 0,
    known: Known | None = None,
) -> list[Block]:
    """The blocks of all messages from an index on. known: of those before it; without it, they are
    read for it."""
    if known is None:
        known = Known()
        for number in range(start):
            list(_of_message(adapter, number, messages[number], len, known))
    return [
        block
        for number in range(start, len(messages))
        for block in _of_message(adapter, number, messages[number], count, known)
    ]


def _of_message(
    adapter: Adapter, number: int, message: Message, count: Count, known: Known
) -> Iterator[Block]:
    parts = parts_of(adapter, number, message)
    role = adapter.role(message)
    if role == "model" and known.role != "model":
        known.step += 1
        known.names.answered()
        known.spoken = []
    known.role = role
    due = [tool for tool, _ in known.spoken]
    said = spoken.results(parts, due) if role == "user" else {}
    for at, part in enumerate(parts):
        tokens = count(part.text) + PICTURE * part.pictures
        place = (number, at)
        if part.kind == "call":
            yield _call(place, part, tokens, known)
        elif part.kind == "result":
            yield _result(place, part, tokens, known)
        elif at in said:
            yield _answer(place, part, tokens, known, said[at])
        else:
            yield _text(place, part, tokens, known)


def _call(place: tuple[int, int], part: Part, tokens: int, known: Known) -> Block:
    name = known.names.of(place, part)
    told = tools.told(call(name or "", part.tool or "", part.given))
    if name is not None:
        known.calls[name] = told
    return _block(place, part, tokens, known, name, told)


def _block(
    place: tuple[int, int],
    part: Part,
    tokens: int,
    known: Known,
    name: str | None,
    told: Told,
    *,
    fixed: bool = False,
) -> Block:
    return Block(
        *(*place, "call", part.text, tokens, known.step, name, told.call.name, told.deed),
        *(False, part.fixed or fixed, None, told.paths, (), told.rewrites),
    )


def _result(place: tuple[int, int], part: Part, tokens: int, known: Known) -> Block:
    name = known.names.of(place, part)
    told = known.calls.get(name or "") or tools.told(Call(name or "", part.tool or "", None))
    return _answered(place, part, tokens, known, name, told, part.text)


def _answered(
    place: tuple[int, int],
    part: Part,
    tokens: int,
    known: Known,
    name: str | None,
    told: Told,
    text: str,
) -> Block:
    error = part.error or tools.failed(told, text)
    shown = () if error else tools.shown(told, text)
    paths = tuple(dict.fromkeys((*told.paths, *(each.path for each in shown))))
    return Block(
        *(*place, "result", part.text, tokens, known.step, name, told.call.name or None),
        *(told.deed, error, False, None, paths, shown, ()),
    )


def _answer(place: tuple[int, int], part: Part, tokens: int, known: Known, said: Said) -> Block:
    """The result of a call that stands in the model's text."""
    if not said.text.strip():
        return Block(*place, "system", part.text, tokens, known.step, fixed=True)
    name = next((name for due, name in known.spoken if due == said.tool), None)
    given = {} if said.path is None else {"path": said.path}
    told = known.calls[name] if name else tools.told(Call("", said.tool, given))
    return _answered(place, part, tokens, known, name, told, said.text)


def _text(place: tuple[int, int], part: Part, tokens: int, known: Known) -> Block:
    found = spoken.calls(part.text) if part.kind == "text" else ()
    if not found:
        fixed, loose, step = part.fixed, part.loose, known.step
        return Block(*place, part.kind, part.text, tokens, step, fixed=fixed, loose=loose)
    said = [tools.told(each) for each in found]
    names = [f"#{place[0]}.{place[1]}.{n}" for n in range(len(found))]
    known.spoken += [(each.name, name) for each, name in zip(found, names, strict=True)]
    known.calls.update(zip(names, said, strict=True))
    paths = tuple(dict.fromkeys(path for each in said for path in each.paths))
    rewrites = tuple(rewrite for each in said for rewrite in each.rewrites)
    first = said[0].replace(paths=paths, rewrites=rewrites)
    return _block(place, part, tokens, known, names[0], first, fixed=True)
