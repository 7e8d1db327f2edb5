"""Completion in bash, zsh and fish: names that Sightline knows; else the shell's own completion.

The script of a shell asks `sightline` for each TAB. The first line of an answer is its kind:

    items    each further line is a value; for zsh and fish a tab and its description follow
    mixed    the same, and the shell's own files, too
    dirs     the shell's own folders
    command  the shell's own completion of a command; the number of words before that command, and the
             text of the command, follow
    files    nothing of ours: the shell's own files
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import ClassVar, NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from sightline.cli.output import Call

Item = CompletionItem[str]
Complete = Callable[[click.Context, click.Parameter, str], list[Item]]

HELP = 60
"""Characters of a description."""


def known(names: str) -> Complete:
    """Return a completion by names that a store keeps: checkpoints, sessions or claims."""
    return lambda context, _parameter, _incomplete: _stored(context.ensure_object(Call), names)


def _stored(call: Call, names: str) -> list[Item]:
    from sightline.cli.stored_names import stored  # a store, which only a completion opens

    return [
        CompletionItem(name, help=about) for name, about in stored(call, names) if is_plain(name)
    ]


checkpoints, sessions, claims = map(known, ("checkpoints", "sessions", "claims"))


def is_plain(name: str) -> bool:
    """Return whether a shell can show a name on a line."""
    return name.isprintable() and name != ""


def folders(_: click.Context, __: click.Parameter, incomplete: str) -> list[Item]:
    """Return that the shell completes folders."""
    return [CompletionItem(incomplete, type="dir")]


def command_line(context: click.Context, parameter: click.Parameter, _: str) -> list[Item]:
    """Leave the completion of another command to the shell, and say how many of its words are typed."""
    words = context.params.get(parameter.name or "") or ()
    return [CompletionItem(str(len(words)), type="command")]


def one_of(names: Iterable[str]) -> Complete:
    """Return a completion by fixed names."""
    items = [CompletionItem(name) for name in names]
    return lambda _context, _parameter, _incomplete: items


class Typed(NamedTuple):
    """A line up to the cursor. words: those before the last one; starts: where each word begins in
    the line, the last one, too; word: the last one, without quotes, maybe empty; quote: the quote
    that is open there; kept: letters of it that the shell leaves in place."""

    words: list[str]
    starts: list[int]
    word: str
    quote: str
    kept: int


def typed(line: str, breaks: str = "") -> Typed:
    """Split a line as a shell does. breaks: letters at which bash begins what it replaces."""
    words: list[str] = []
    starts: list[int] = []
    word: str | None = None
    quote, kept, is_escaped = "", 0, False
    for at, letter in enumerate(line):
        if word is None and letter not in " \t\n":
            starts.append(at)
            word, kept = "", 0
        if is_escaped:
            is_escaped = False
            word = f"{word}{'' if not quote or letter in ESCAPED else chr(92)}{letter}"
        elif letter == "\\" and quote != "'":
            is_escaped = True
        elif quote:
            if letter == quote:
                quote = ""
            else:
                word = f"{word}{letter}"
        elif word is None:
            continue
        elif letter in " \t\n":
            words.append(word)
            word = None
        elif letter in "\"'":
            quote, kept = letter, len(word)
        else:
            word += letter
            if letter in breaks:
                kept = len(word)
    if word is None:
        starts.append(len(line))
    return Typed(words, starts, word or "", quote, kept if word else 0)


ESCAPED = '$`"\\\n'
"""Letters that a backslash escapes between double quotes."""


class Completion(ShellComplete):
    """Completion in one shell: the words come as the text of the line up to the cursor."""

    breaks: str = ""

    def source(self) -> str:
        file = os.path.join(os.path.dirname(__file__), f"completion.{self.name}")
        with open(file, encoding="utf-8") as script:
            return script.read()

    def get_completion_args(self) -> tuple[list[str], str]:
        line = typed(os.environ.get("COMP_WORDS", ""), self.breaks)
        return line.words[1:], line.word

    def complete(self) -> str:
        line = typed(os.environ.get("COMP_WORDS", ""), self.breaks)
        try:
            found = self.get_completions(line.words[1:], line.word)
        except click.ClickException:  # no such command or option
            found = []
        kinds = {each.type for each in found}
        if "command" in kinds:
            before = len(line.words) - int(found[0].value)
            return f"command\n{before}\n{os.environ['COMP_WORDS'][line.starts[before] :]}"
        if "dir" in kinds:
            return "dirs"
        option, sign, _ = line.word.partition("=")
        prefix = f"{option}=" if sign and option.startswith("-") else ""
        plain = {f"{prefix}{each.value}": each for each in found if each.type == "plain"}
        items = [
            self.line_of(CompletionItem(value, help=each.help), line)
            for value, each in plain.items()
            if value.startswith(line.word)
        ]
        if not items:
            return "files"
        return "\n".join(["mixed" if "file" in kinds else "items", *items])

    def line_of(self, item: Item, line: Typed) -> str:
        """Return the line of an answer for a value."""
        about = " ".join((item.help or "").split())
        short = about if len(about) <= HELP else f"{about[: HELP - 1]}…"
        return f"{item.value}\t{short}" if short else item.value

    def format_completion(self, item: Item) -> str:
        return item.value


class Bash(Completion):
    """bash puts values into the line as they are, so they are quoted here."""

    name: ClassVar[str] = "bash"

    @property
    def breaks(self) -> str:  # type: ignore[override]
        return os.environ.get("COMP_BREAKS", "")

    def line_of(self, item: Item, line: Typed) -> str:
        rest = item.value[line.kept :]
        if line.quote == "'":
            return rest.replace("'", "'\\''")
        special = ESCAPED if line.quote else SPECIAL
        return "".join(f"\\{letter}" if letter in special else letter for letter in rest)


SPECIAL = " \t!\"#$&'()*;<>?[\\]^`{|}~"
"""Letters that bash does not take as they are."""


class Zsh(Completion):
    """zsh quotes values itself."""

    name: ClassVar[str] = "zsh"


class Fish(Completion):
    """fish quotes values itself."""

    name: ClassVar[str] = "fish"


for _shell in (Bash, Zsh, Fish):
    add_completion_class(_shell)
