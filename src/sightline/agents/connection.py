"""Put Sightline into an agent product's settings, find it there, and take it out again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from msgspec import Struct

from sightline.agents.settings_file import Change, backup_of, read, text_of
from sightline.agents.settings_text import BadSettings
from sightline.errors import SettingsError
from sightline.model.findings import Finding

Kind = Literal["command", "http"]
Scope = Literal["user", "project", "local"]

BLANK = "\ufeff \t\r\n"


class Place(Struct, frozen=True):
    """The folders that may hold settings. root: of the workspace, "" for none. environ, home: of the user."""

    root: str
    environ: Mapping[str, str]
    home: str


class Program(Struct, frozen=True):
    """The program that a hook calls. python, script: the absolute paths of the interpreter and of its script. url, token: where
    a running `up` answers, for hooks of the http kind; "" for the command kind."""

    python: str
    script: str
    url: str = ""
    token: str = ""


EXAMPLE = Program("python", f"sightline{os.sep}hook_entry.py")
"""Stands for any installation, where only the places of its hooks matter."""


class RegisteredHook(Struct, frozen=True):
    """One of our hooks in a product's settings. command: the arguments of the process that the product starts for
    it; files: the interpreter and the script among them. url, headers: of the http kind."""

    event: str
    command: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, str] = {}


class Connection:
    """The connection of Sightline with one product, by entries in its settings. A product without scopes cannot be connected. scopes: those
    for most people first.

    A product names its files and says what its text is with and without our hooks. All else is the same for every
    product: other people's bytes stay, a copy of the file is kept, and a removal brings the file back byte for byte.
    """

    scopes: Sequence[Scope] = ()
    kinds: Sequence[Kind] = ("command",)

    def is_here(self, place: Place) -> bool:
        """Return whether the user has the product, or used it in this workspace."""
        return False

    def file(self, scope: Scope, place: Place) -> str:
        """Return the path of the settings of a scope."""
        raise NotImplementedError

    def with_hooks(self, text: str, scope: Scope, place: Place, program: Program) -> str:
        """Return a file's text with hooks that call a program as the only ones of ours. text: "" for no file.
        BadSettings."""
        raise NotImplementedError

    def without_hooks(self, text: str) -> str:
        """Return a file's text without our hooks, and without what held only them. BadSettings."""
        raise NotImplementedError

    def hooks_in(self, text: str) -> list[RegisteredHook]:
        """Return our hooks in a file's text. BadSettings."""
        raise NotImplementedError

    def is_empty(self, text: str) -> bool:
        """Return whether a file with this text holds nothing, so that it can go. BadSettings."""
        return not text.strip(BLANK)

    def health(self, place: Place, scopes: Sequence[Scope]) -> Iterator[Finding]:
        """Report what keeps the product from calling our hooks: no program, an old version, settings and options
        that leave hooks out. scopes: the settings that name our hooks."""
        yield from ()

    def transcript(self, place: Place) -> Iterator[Finding]:
        """Report whether the newest recording of a workspace can be read."""
        yield from ()

    def plan(self, scope: Scope, place: Place, program: Program | None) -> Change:
        """Plan the change of a settings file that connects the product, or disconnects it (None). SettingsError."""
        path = self.file(scope, place)
        return self._removal(path, place) if program is None else self._addition(
            path, scope, place, program
        )  # fmt: skip

    def registered(self, scope: Scope, place: Place) -> list[RegisteredHook]:
        """Return our hooks in the settings of a scope. SettingsError."""
        path = self.file(scope, place)
        data = read(path)
        if data is None or not data.strip():
            return []
        with named(path):
            return self.hooks_in(text_of(path, data))

    def registration(
        self, scope: Scope, place: Place, program: Program, name: str
    ) -> Finding | None:
        """Report our hooks of a scope beside those that this installation would write; None where the file has
        none of ours. name: of the product. SettingsError."""
        path = self.file(scope, place)
        text = text_of(path, read(path) or b"")
        if not text.strip():
            return None
        with named(path):
            found = self.hooks_in(text)
            is_current = self.with_hooks(text, scope, place, program) == text
            wanted = {
                each.event: each
                for each in self.hooks_in(self.with_hooks("", scope, place, program))
            }
        if not found:
            return None
        flag = "" if scope == "local" else f" --scope {scope}"
        facts: dict[str, Any] = {"scope": scope, "path": path, "agent": name, "flag": flag}
        missing = [file for file in files_of(found) if not os.path.isfile(file)]
        if missing:
            more = {**facts, "missing": missing[0]}
            return Finding("hooks", "problem", "gone", more, f"registration {scope}")
        if is_current:
            more = {**facts, "events": len(found), "kind": kind_of(found)}
            return Finding("hooks", "ok", "registered", more)
        is_elsewhere = any(
            each.event not in wanted or each.files != wanted[each.event].files for each in found
        )
        if is_elsewhere and {each.event for each in found} == set(wanted):
            return Finding("hooks", "warning", "elsewhere", {**facts, "script": found[0].files[-1]})
        return Finding("hooks", "problem", "outdated", facts, f"registration {scope}")

    def _addition(self, path: str, scope: Scope, place: Place, program: Program) -> Change:
        before = read(path)
        text = "" if before is None else text_of(path, before)
        with named(path):
            has_ours = bool(text.strip(BLANK)) and bool(self.hooks_in(text))
            after = self.with_hooks(text, scope, place, program).encode()
        return Change(path, before, after, keep=before is not None and not has_ours)

    def _removal(self, path: str, place: Place) -> Change:
        """Return the change to a file without our hooks: the same bytes as before them, unless the file
        was changed otherwise since; no file, if there was none. The copy beside the file goes in each
        case. SettingsError."""
        before = read(path)
        if before is None:
            return Change(path, None, None)
        text = text_of(path, before)
        backup = read(backup_of(path))
        with named(path):
            after = self.without_hooks(text)
            is_empty = self.is_empty(after)
        drop = backup is not None
        if after == text:
            return Change(path, before, before, drop=drop)
        if backup is not None and self._taken_out(backup, place) == after:
            return Change(path, before, backup, drop=True, restores=True)
        return Change(path, before, None if is_empty and not drop else after.encode(), drop=drop)

    def _taken_out(self, backup: bytes, place: Place) -> str | None:
        """Return the text of a copy after our hooks were added and removed: empty containers lose their
        white space that way. None for a copy that is not valid."""
        try:
            text = backup.decode()
            return self.without_hooks(self.with_hooks(text, self.scopes[0], place, EXAMPLE))
        except (BadSettings, UnicodeDecodeError):
            return None


def kind_of(found: Sequence[RegisteredHook]) -> Kind:
    """Return "http" where hooks ask a running `up`, and "command" where they start processes."""
    return "http" if any(each.url for each in found) else "command"


def files_of(found: Sequence[RegisteredHook]) -> list[str]:
    """Return the interpreters and scripts that hooks name."""
    return list(dict.fromkeys(file for each in found for file in each.files))


@contextmanager
def named(path: str) -> Iterator[None]:
    """Name the settings file in an error about its text. SettingsError."""
    try:
        yield
    except BadSettings as bad:
        raise SettingsError(
            f"{path} is not valid: {bad}. Nothing was changed.", "Correct it there and try again."
        ) from None
