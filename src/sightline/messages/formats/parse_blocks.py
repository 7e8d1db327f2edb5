"""Parse messages of any format into blocks: steps, results of calls, and the effects of tools.

Calls may also stand in the model's text, and their results in the user's: as tags (Cline, Roo), or
as one block of shell at the end (mini-swe-agent, SWE-agent).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct, structs

from sightline.messages.blocks import Block, Deed, Excerpt, Rewrite
from sightline.messages.formats.exchanges import CallIds
from sightline.messages.formats.file_excerpts import read_excerpts, window_excerpts
from sightline.messages.formats.file_writes import rewrites
from sightline.messages.formats.parts import Adapter, Message, Part, Role, parts_of
from sightline.messages.formats.problems import MISSING
from sightline.messages.formats.shell_effects import (
    ShellEffect,
    output_excerpts,
    shell_effect,
    split_output,
)
from sightline.messages.tool_calls import Call, make_call, tagged_calls
from sightline.messages.tool_names import SHELLS, deed_of, plain_name
from sightline.messages.written_files import paths_of
from sightline.text.tokens import PICTURE


class Effect(Struct, frozen=True):
    """The effect of a call. shell: of a command."""

    call: Call
    deed: Deed
    paths: tuple[str, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    shell: ShellEffect | None = None


def effect_of(call: Call) -> Effect:
    """Work out the effect of a call. An unknown tool, or broken arguments, leave the effect empty."""
    if plain_name(call.name) in SHELLS:
        shell = shell_effect(call)
        return Effect(call, shell.deed, shell.paths, shell.rewrites, shell)
    deed = deed_of(call)
    if deed not in ("read", "edit", "write"):
        return Effect(call, deed)
    written = () if deed == "read" else rewrites(call, whole=deed == "write")
    return Effect(call, deed, tuple(dict.fromkeys(paths_of(call))), written)


def result_excerpts(effect: Effect, text: str) -> tuple[Excerpt, ...]:
    """Return the lines of files that a result shows; none where that is not certain."""
    if text.startswith("[File: "):
        return window_excerpts(text)
    if effect.shell is not None:
        return output_excerpts(effect.shell, text, trims=effect.call.name == "Bash")
    if effect.deed != "read" or ("<file>" not in text and len(effect.paths) != 1):
        return ()
    path = effect.paths[0] if effect.paths else None
    return read_excerpts(effect.call, path, text)


FAILURES = (
    *("<tool_use_error>", "apply_patch verification failed", "The user denied this operation"),
    *("The tool execution failed with the following error", "Tool call repetition limit"),
    MISSING,
)
"""How results begin whose calls did nothing, in the words of the hosts, or have no result."""

MAYBE_FAILURES = ("Error: ", "<error>", "[ERROR] ", "Missing value for required parameter")
"""The same, but a command may print these words, too."""

NEVER_RAN = re.compile(r"(?:Tool \[[^\n]*\] was not executed|Skipping tool )")
"""Roo Code's words, in place of the results of calls beside another one."""


def has_failed(effect: Effect, text: str) -> bool:
    """Return whether a result says that its call failed, for formats without a field for errors."""
    head = text[:400].lstrip()
    if head.startswith(FAILURES) or NEVER_RAN.match(head):
        return True
    if effect.shell is not None:
        return split_output(text)[1] not in (None, 0)
    return head.startswith(MAYBE_FAILURES)


class BlockParser:
    """Parses the messages of one conversation, one after the other. count: tokens of a text; fenced:
    which block of shell the host takes for a call, where a message yet to come tells."""

    def __init__(self, adapter: Adapter, count: Callable[[str], int], fenced: Fenced = "") -> None:
        self._adapter = adapter
        self._count = count
        self._number = 0
        self._step = 0
        self._role: Role | None = None
        self._ids = CallIds()
        self._effects: dict[str, Effect] = {}  # by id of the call
        self._spoken: list[tuple[str, str]] = []  # tool and id of the calls in the model's text
        self._fenced = fenced

    def parse(self, message: Message) -> list[Block]:
        """Return the blocks of the next message."""
        number, self._number = self._number, self._number + 1
        parts = parts_of(self._adapter, number, message)
        role = self._adapter.role(message)
        if role == "model" and self._role != "model":
            self._step += 1
            self._ids.start_answer()
            self._spoken = []
        self._role = role
        if role != "model" and not self._fenced:
            self._fenced = _asked_fence(parts, is_first=not self._step)
        tools = [tool for tool, _ in self._spoken]
        results = find_results(parts, tools) if role == "user" else {}
        return [
            self._parse_part(number, at, part, results.get(at)) for at, part in enumerate(parts)
        ]

    def _parse_part(self, number: int, at: int, part: Part, result: TextResult | None) -> Block:
        tokens = self._count(part.text) + PICTURE * part.pictures
        block = Block(
            *(number, at, part.kind, part.text, tokens, self._step),
            fixed=part.fixed,
            loose=part.loose,
        )
        call_id = self._ids.id_of((number, at), part)
        if part.kind == "call":
            effect = effect_of(make_call(call_id or "", part.tool or "", part.given))
            if call_id is not None:
                self._effects[call_id] = effect
            return _call_block(block, call_id, effect)
        if part.kind == "result":
            known = self._effects.get(call_id or "")
            effect = known or effect_of(Call(call_id or "", part.tool or "", None))
            return _result_block(block, call_id, effect, part.text, error=part.error)
        if result is not None:
            return self._spoken_result(block, result)
        is_spoken = part.kind == "text"
        calls = calls_in_text(part.text, fenced=self._fenced) if is_spoken else ()
        return self._spoken_calls(block, calls) if calls else block

    def _spoken_result(self, block: Block, result: TextResult) -> Block:
        """Return the block of a result in the user's text."""
        if not result.text.strip():
            return structs.replace(block, kind="system", fixed=True, loose=False)
        call_id = next((name for tool, name in self._spoken if tool == result.tool), None)
        arguments = {} if result.path is None else {"path": result.path}
        effect = self._effects.get(call_id or "") or effect_of(Call("", result.tool, arguments))
        return _result_block(block, call_id, effect, result.text)

    def _spoken_calls(self, block: Block, calls: Sequence[Call]) -> Block:
        """Return the block of a text of the model that contains calls."""
        effects = [effect_of(call) for call in calls]
        ids = [f"#{block.message}.{block.part}.{number}" for number in range(len(calls))]
        self._spoken += zip((call.name for call in calls), ids, strict=True)
        self._effects.update(zip(ids, effects, strict=True))
        paths = tuple(dict.fromkeys(path for effect in effects for path in effect.paths))
        texts = tuple(rewrite for effect in effects for rewrite in effect.rewrites)
        first = structs.replace(effects[0], paths=paths, rewrites=texts)
        return structs.replace(_call_block(block, ids[0], first), fixed=True)


def _call_block(block: Block, id: str | None, effect: Effect) -> Block:
    return structs.replace(
        block,
        kind="call",
        call=id,
        tool=effect.call.name,
        deed=effect.deed,
        paths=effect.paths,
        rewrites=effect.rewrites,
        restored=effect.shell.restored if effect.shell else (),
        loose=False,
    )


def _result_block(
    block: Block, id: str | None, effect: Effect, text: str, *, error: bool = False
) -> Block:
    error = error or has_failed(effect, text)
    excerpts = () if error else result_excerpts(effect, text)
    return structs.replace(
        block,
        kind="result",
        call=id,
        tool=effect.call.name or None,
        deed=effect.deed,
        error=error,
        fixed=False,
        paths=tuple(dict.fromkeys((*effect.paths, *(excerpt.path for excerpt in excerpts)))),
        excerpts=excerpts,
        loose=False,
    )


Fenced = Literal["", "one", "last"]
LAST_ASKED = re.compile(r"bash-\$|RESPONSE FORMAT")
ONE_ASKED = re.compile(r"mswea_bash_command|\b(?:ONE|one) (?:bash )?code block\b")
"""Words of hosts, before the model's first answer, that ask for calls as a block of shell."""

FENCED = re.compile(
    r"(?:\A|\n)(?:```(?:bash|sh|mswea_bash_command)?\n((?:(?!\n```).)*)\n```"
    r"|<command>\n((?:(?!\n</command>).)*)\n</command>)\s*\Z",
    re.DOTALL,
)
HEAD = re.compile(r"\A\[(\w+)(?: for (?:'([^'\n]*)')?[^\n]*?|\.[^\n]*?)?\] Result:[ \n]*")
SHOWN = ("<returncode>", "[File: /")
OBSERVED = ("Observation:", "OBSERVATION:", "<warning>\nThe output")
PROMPT = re.compile(r"\(Open file: .*\)\s*\n\(Current directory: .*\)\s*\nbash-\$\s*\Z")
FEEDBACK = re.compile(r"^<(?:feedback|user_message|answer|task)>", re.MULTILINE)
"""Tags around a person's words. A tag inside a line is the file's own text."""


def calls_in_text(text: str, *, fenced: Fenced) -> tuple[Call, ...]:
    """Return the calls in a text of the model, in order. fenced: a block of shell at the end, in a
    fence or a tag, is a call, because the host asked for it: for the only fence, or the last one."""
    if calls := tuple(tagged_calls(text)):
        return calls
    block = FENCED.search(text) if fenced else None
    if block is None or (fenced == "one" and (block[1] is None or text.count("```") != 2)):
        return ()
    return (Call("", "bash", {"command": block[1] or block[2] or ""}),)


def _is_output(text: str) -> bool:
    """Return whether a text on the user's side is certainly the output of a command."""
    return text.startswith("<returncode>") or PROMPT.search(text[-400:]) is not None


def _asked_fence(parts: Sequence[Part], *, is_first: bool) -> Fenced:
    """Return which block of shell the host takes for a call, as its words or its outputs tell."""
    for part in parts:
        if PROMPT.search(part.text[-400:]) or (is_first and LAST_ASKED.search(part.text)):
            return "last"
        if part.text.startswith("<returncode>") or (is_first and ONE_ASKED.search(part.text)):
            return "one"
    return ""


def asked_fence(adapter: Adapter, messages: Sequence[Message]) -> Fenced:
    """Return which block of shell the host takes for a call, as the messages before the model's second
    answer tell: of a conversation that begins in the middle, the output of its first call."""
    answers = 0
    for number, message in enumerate(messages):
        parts = parts_of(adapter, number, message)
        if adapter.role(message) == "model":
            answers += 1
            if answers > 1:
                break
        elif asked := _asked_fence(parts, is_first=not answers):
            return asked
    return ""


class TextResult(Struct, frozen=True):
    """A result in a text. path: where the host names it; text: the result itself, "" for a line that
    only announces one."""

    tool: str
    path: str | None
    text: str


def find_results(parts: Sequence[Part], waiting: Sequence[str]) -> dict[int, TextResult]:
    """Return the results of calls in text among the parts of a user's message. waiting: the tools
    whose results are missing. A part with a person's words is no result."""
    results: dict[int, TextResult] = {}
    announced = TextResult("", None, "")
    for number, part in enumerate(parts):
        head = HEAD.match(part.text)
        if head is None and not announced.tool:
            is_prompt = part.text.startswith(OBSERVED) or _is_output(part.text)
            # "INSTRUCTIONS:" begins the next task, after a task that was submitted
            is_observed = is_prompt and "INSTRUCTIONS:" not in part.text
            if part.text.startswith(SHOWN) or (list(waiting) == ["bash"] and is_observed):
                results[number] = TextResult("bash", None, part.text)
            continue
        announced = TextResult(head[1], head[2], "") if head else announced
        body = part.text[head.end() :] if head else part.text
        if head is None and body.startswith("<environment_details>"):
            announced = TextResult("", None, "")
        elif not FEEDBACK.search(body):
            results[number] = structs.replace(announced, text=body)
    return results
