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
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import ClassVar, NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from sightline.api.opening import settings_of
from sightline.changes.session_context import now_us
from sightline.changes.session_names import names_of
from sightline.checkpoints.take import fact_of, recorded_checkpoints
from sightline.cli.output import Call, minute
from sightline.errors import SightlineError
from sightline.store.opening import open_to_look
from sightline.store.port import Store

Item = CompletionItem[str]
Complete = Callable[[click.Context, click.Parameter, str], list[Item]]

MOST = 200
"""Sessions, and facts about checkpoints, that are offered."""

HELP = 60
"""Characters of a description."""


def known(names: Callable[[Store], Iterable[tuple[str, str]]]) -> Complete:
    """Return a completion by the names and descriptions that a function finds in the store of the
    workspace; none where there is no store, or where it cannot be read at once."""

    def complete(context: click.Context, _: click.Parameter, __: str) -> list[Item]:
        call = context.ensure_object(Call)
        try:
            settings = settings_of(call.root, call.store)
            url = call.store if call.store is not None else settings.store
            store = open_to_look(url, workspace_root=call.root, state_home=settings.state_home)
            if store is None:
                return []
            with closing(store):
                found = [*names(store)]
        except (SightlineError, sqlite3.Error, OSError):
            return []  # a terminal in the middle of a line has no room for an error
        return [CompletionItem(name, help=about) for name, about in found if is_plain(name)]

    return complete


def is_plain(name: str) -> bool:
    """Return whether a shell can show a name on a line."""
    return name.isprintable() and name != ""


@known
def checkpoints(store: Store) -> Iterator[tuple[str, str]]:
    """Yield labels, then ids, the newest first."""
    taken = [(each, fact_of(each)) for each in recorded_checkpoints(store, MOST)][::-1]
    labels: dict[str, str] = {}
    for each, fact in taken:
        labels.setdefault(fact.label, f"checkpoint, {minute(each.happened_at)}")
    yield from labels.items()
    for each, fact in taken:
        when = minute(each.happened_at)
        yield fact.checkpoint, f"{fact.label}, {when}" if fact.label else when


@known
def sessions(store: Store) -> Iterator[tuple[str, str]]:
    """Yield ids, the newest session first."""
    name_of = names_of(store)
    for state in reversed(store.sessions(newest=MOST)):
        name = name_of(state.id)
        yield state.id, state.agent if name == state.id else f"{state.agent} {name}"


@known
def claims(store: Store) -> Iterator[tuple[str, str]]:
    """Yield the ids of claims that have not expired, the oldest first."""
    name_of = names_of(store)
    for claim in store.claims().values():
        if claim.expires_at > now_us():
            yield claim.id, f"{', '.join(claim.paths)} (session {name_of(claim.session)})"


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
