"""Messages to blocks, whatever their format: steps, which result is whose, and what tools do.

Calls that stand in a model's text, and results in the user's: tags (Cline, Roo), and one block of
shell at the end (mini-swe-agent, SWE-agent).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, structs

from sightline.conversation import tool_calls
from sightline.conversation.formats import tool_effects
from sightline.conversation.formats.parts import Adapter, Message, Part, Role, parts_of
from sightline.conversation.formats.tool_effects import Told
from sightline.conversation.tool_calls import Call, call
from sightline.conversation.window.blocks import Block

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
    said = results(parts, due) if role == "user" else {}
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
    told = tool_effects.told(call(name or "", part.tool or "", part.given))
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
    told = known.calls.get(name or "") or tool_effects.told(Call(name or "", part.tool or "", None))
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
    error = part.error or tool_effects.failed(told, text)
    shown = () if error else tool_effects.shown(told, text)
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
    told = known.calls[name] if name else tool_effects.told(Call("", said.tool, given))
    return _answered(place, part, tokens, known, name, told, said.text)


def _text(place: tuple[int, int], part: Part, tokens: int, known: Known) -> Block:
    found = calls(part.text) if part.kind == "text" else ()
    if not found:
        fixed, loose, step = part.fixed, part.loose, known.step
        return Block(*place, part.kind, part.text, tokens, step, fixed=fixed, loose=loose)
    said = [tool_effects.told(each) for each in found]
    names = [f"#{place[0]}.{place[1]}.{n}" for n in range(len(found))]
    known.spoken += [(each.name, name) for each, name in zip(found, names, strict=True)]
    known.calls.update(zip(names, said, strict=True))
    paths = tuple(dict.fromkeys(path for each in said for path in each.paths))
    rewrites = tuple(rewrite for each in said for rewrite in each.rewrites)
    first = structs.replace(said[0], paths=paths, rewrites=rewrites)
    return _block(place, part, tokens, known, names[0], first, fixed=True)


FENCED = re.compile(r"(?:\A|\n)```(?:bash|sh|mswea_bash_command)?\n(.*?)\n```\s*\Z", re.DOTALL)
HEAD = re.compile(r"\A\[(\w+)(?: for (?:'([^'\n]*)')?[^\n]*?|\.[^\n]*?)?\] Result:[ \n]*")
SHOWN = ("<returncode>", "[File: /")
OBSERVED = ("Observation:", "OBSERVATION:", "<warning>\nThe output")
PROMPT = re.compile(r"\(Open file: .*\)\s*\n\(Current directory: .*\)\s*\nbash-\$\s*\Z")
FEEDBACK = ("<feedback>", "<user_message>", "<answer>", "<task>")


def calls(text: str) -> tuple[Call, ...]:
    """The calls in a text of the model's, in order."""
    if "</" in text and (found := tuple(tool_calls.tagged_calls(text))):
        return found
    if text.count("```") == 2 and (block := FENCED.search(text)):
        return (Call("", "bash", {"command": block[1]}),)
    return ()


class Said(Struct, frozen=True):
    """A result in a text: of which tool, for which path where the host says so, and the result
    itself; "" for a line that only announces one."""

    tool: str
    path: str | None
    text: str


def results(parts: Sequence[Part], waiting: Sequence[str]) -> dict[int, Said]:
    """The results of such calls among the texts of a message, by part. waiting: the tools whose
    results are due. Where a person's words stand in it, too, it is no result: it stays as it
    is."""
    found: dict[int, Said] = {}
    due = Said("", None, "")
    for number, part in enumerate(parts):
        head = HEAD.match(part.text)
        if head is None and not due.tool:
            if part.text.startswith(SHOWN) or (list(waiting) == ["bash"] and _observed(part.text)):
                found[number] = Said("bash", None, part.text)
            continue
        due = Said(head[1], head[2], "") if head else due
        body = part.text[head.end() :] if head else part.text
        if head is None and body.startswith("<environment_details>"):
            due = Said("", None, "")
        elif not any(word in body for word in FEEDBACK):
            found[number] = structs.replace(due, text=body)
    return found


def _observed(text: str) -> bool:
    if "INSTRUCTIONS:" in text:
        return False  # the next task, after one that was submitted
    return text.startswith(OBSERVED) or PROMPT.search(text[-400:]) is not None
