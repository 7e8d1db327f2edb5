"""The prompts for a model that gives structured answers: versioned text files of this package.

A workspace may replace a prompt by a file of its own. A prompt steers everything that a model does, and a
workspace may only have been cloned. So a workspace's files count only where the user's own setting
`prompts` says so.
"""

from __future__ import annotations

import os
import re
from json import loads

from msgspec import Struct, structs

from sightline.answers.json_schema import FILE, PLAN_FILE, schema_text
from sightline.changes.session_context import SessionContext
from sightline.errors import PathError, PromptError
from sightline.model.json_text import compact_json

FOLDER = ".sightline/prompts"
"""The folder of a workspace's own prompts."""

NAMES = ("system", "planning", "batching", "continuation", "directories", "patterns", "registry", "subtasks")  # fmt: skip

SCHEMAS = {"answer_schema": FILE, "plan_schema": PLAN_FILE}
"""Placeholder -> the published schema that stands for it."""

CONSENT = 'Read it. To use it, set prompts = "workspace" in your own settings, or SIGHTLINE_PROMPTS=workspace.'

TEXTS = os.path.join(os.path.dirname(__file__), "prompt_texts")
END = ".md"
BYTES_MAX = 64 << 10
HEAD = re.compile(r"<!-- version ([1-9][0-9]{0,5})(?:: (.*\S))? -->")
PLACEHOLDER = re.compile(r"\{\{(.*?)(\}\}|$)")


class Prompt(Struct, frozen=True):
    """A prompt, or a part of one. version: of the prompt; for a workspace's own text, the version of the
    built-in prompt that it was written for. about: one line. file: of a workspace's own text, else "".
    built_in: the version of the built-in prompt of this name. text: without its first line, with
    placeholders such as {{patterns}}."""

    name: str
    version: int
    about: str
    text: str
    file: str = ""
    built_in: int = 1


class Prompts(Struct, frozen=True):
    """All prompts. used: those that count, in the order of NAMES; unused: files of the workspace that do
    not count, because the setting `prompts` is not "workspace"."""

    used: tuple[Prompt, ...]
    unused: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return a line for the user about each prompt of the workspace's own, whether it is used or not."""
        used = [prompt for prompt in self.used if prompt.file]
        return (
            *(f"This workspace's own prompt is used: {prompt.file}" for prompt in used),
            *(
                f"This workspace's own prompt is not used: {file}. {CONSENT}"
                for file in self.unused
            ),
        )

    def source(self, name: str) -> str:
        """Return the text of a prompt with its version and its placeholders, as in its file. PromptError for
        an unknown prompt."""
        prompt = self._named(name)
        about = f": {prompt.about}" if prompt.about else ""
        return f"<!-- version {prompt.version}{about} -->\n{prompt.text}"

    def render(self, name: str) -> str:
        """Return the text for the model, with every placeholder replaced. PromptError for an unknown
        prompt or placeholder, and for a prompt that holds itself."""
        return self._render(name, ())

    def _named(self, name: str) -> Prompt:
        for prompt in self.used:
            if prompt.name == name:
                return prompt
        raise PromptError(f"There is no prompt {name[:80]!r}.", f"There are: {', '.join(NAMES)}.")

    def _render(self, name: str, above: tuple[str, ...]) -> str:
        prompt = self._named(name)
        lines = []
        for number, line in enumerate(prompt.text.split("\n"), 2):  # the first line has the version
            parts, end = [], 0
            for found in PLACEHOLDER.finditer(line):
                where = f"{prompt.file or prompt.name + END}, line {number}"
                parts += [line[end : found.start()], self._value(found, where, (*above, name))]
                end = found.end()
            lines.append("".join([*parts, line[end:]]))
        return "\n".join(lines)

    def _value(self, found: re.Match[str], where: str, above: tuple[str, ...]) -> str:
        name = found[1].strip()
        if not found[2]:
            raise PromptError(f"{where}: {{{{ has no }}}} on its line.", "Close the placeholder.")
        if name in SCHEMAS:
            return compact_json(loads(schema_text(SCHEMAS[name])))
        if name in above:
            raise PromptError(f"{where}: the prompt {name!r} includes itself.", "Remove it there.")
        if name not in NAMES:
            known = ", ".join([*SCHEMAS, *NAMES])
            raise PromptError(
                f"{where}: unknown placeholder {name[:80]!r}.", f"There are: {known}."
            )
        return self._render(name, above)


def load_prompts(context: SessionContext) -> Prompts:
    """Return the prompts of a session. PromptError for a file that is missing, no UTF-8, too long, of
    another name, or without its version; it names the file."""
    used = {name: _parsed(name, _built_in(name), "") for name in NAMES}
    if context.settings.prompts != "workspace":
        return Prompts(tuple(used.values()), _unused_files(context))
    for path in _own_files(context):
        name = path.removeprefix(f"{FOLDER}/").removesuffix(END)
        if name not in NAMES or not path.endswith(END):
            known = ", ".join(each + END for each in NAMES)
            raise PromptError(
                f"{path} replaces no prompt.", f"Name the file after one of the prompts: {known}."
            )
        own_prompt = _parsed(name, _own_text(context, path), path)
        used[name] = structs.replace(own_prompt, built_in=used[name].version)
    return Prompts(tuple(used.values()))


def _built_in(name: str) -> bytes:
    try:
        with open(os.path.join(TEXTS, name + END), "rb") as file:
            return file.read()
    except OSError as error:
        message = f"The built-in prompt {name + END} cannot be read: {error.strerror}."
        raise PromptError(message, "Install Sightline again.") from error


def _own_files(context: SessionContext) -> tuple[str, ...]:
    """Return the paths in the workspace's folder of prompts."""
    workspace = context.workspace
    try:
        folder = workspace.locate(FOLDER).path
        names = workspace.names(f"{folder}/") if workspace.stat(folder) is not None else ()
    except (PathError, OSError) as error:
        raise PromptError(
            f"{FOLDER} cannot be read: {error}", "Make it a folder, or remove it."
        ) from error
    return tuple(f"{FOLDER}/{name}" for name in names)


def _unused_files(context: SessionContext) -> tuple[str, ...]:
    """Return the files of prompts that do not count; the folder itself where it cannot be read, so that
    a workspace cannot stop the agent with it."""
    try:
        return _own_files(context)
    except PromptError:
        return (FOLDER,)


def _own_text(context: SessionContext, path: str) -> bytes:
    try:
        state = context.look(context.workspace.locate(path).path)
    except PathError as error:
        raise PromptError(f"{path} cannot be read: {error.message}", error.next_step) from error
    if state.data is None:
        why = state.why or f"it is no file ({state.kind})"
        raise PromptError(f"{path} cannot be read: {why}.", "Put a plain text file there.")
    return state.data


def _parsed(name: str, data: bytes, file: str) -> Prompt:
    where = file or f"The built-in prompt {name + END}"
    if len(data) > BYTES_MAX:
        raise PromptError(f"{where} has more than {BYTES_MAX:,} bytes.", "Make the prompt shorter.")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"{where} is not UTF-8: line {line} has the byte 0x{data[error.start]:02x}."
        raise PromptError(message, "Save the file as UTF-8.") from None
    first, _, rest = text.partition("\n")
    head = HEAD.fullmatch(first.strip())
    if head is None:
        hint = (
            "Write there: <!-- version N -->, with the version of the built-in prompt it replaces."
        )
        raise PromptError(f"{where}, line 1: the version is missing.", hint)
    version = int(head[1])
    return Prompt(name, version, head[2] or "", rest.strip("\n"), file, version)
