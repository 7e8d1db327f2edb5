"""Settings: a person's decisions, and the workspace's additions.

Defaults < the user's settings file < environment < flags. Then the workspace's own files tighten
the result and do nothing else. A workspace is a folder that somebody may only have cloned: it
cannot loosen a policy, move the store, choose what happens when a hook fails, or set a limit.

What is wrong in the workspace's own files is left out and named (Settings.left_out): an agent may edit
these files, and must not switch the guard off by a slip. What is wrong in the user's own settings is a
SettingsError: nobody else knows which store and which policies the user wants.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from msgspec import Struct, structs

from sightline.config.schema import (
    POLICIES,
    PROTECT,
    checked,
    from_environment,
    tightening,
)
from sightline.config.secret_names import NEVER_STORE
from sightline.errors import SettingsError
from sightline.filesystem.ignore.gitignore import PatternSet
from sightline.filesystem.ignore.wildmatch import with_literal_brackets

FILE_BYTES_MAX = 1 << 20
LINE_DOTS_MAX = 200
"""tomllib needs 17 seconds for one key of 32,000 parts, and a hook that is late guards nothing."""


class Source(Struct, frozen=True):
    """The settings for paths from one source. Of several globs that match, the last decides."""

    policy: str = "merge"
    policies: tuple[tuple[str, str], ...] = ()
    never_store: tuple[str, ...] = NEVER_STORE
    protect: tuple[str, ...] = PROTECT

    def policy_for(self, path: str) -> str:
        """Return the source's policy for one path; "ask" where it protects the path."""
        if self.protects(path):
            return "ask"
        for glob, policy in reversed(self.policies):
            if _set((glob,)).matches(path):
                return policy
        return self.policy

    def protects(self, path: str) -> bool:
        """Return whether the source protects a path: of several patterns that match the path or a
        folder above it, the last decides."""
        return _set(self.protect).last_matches(path)


class LeftOut(Struct, frozen=True):
    """A fault in a workspace's own settings. The setting, or the whole file, does not hold. message: names
    the file, the line where that is known, and the fault. hint: the next step."""

    message: str
    hint: str


class Settings(Struct, frozen=True):
    """All settings. sources: the user's, then those of the workspace's own files. left_out: what does not
    hold of the workspace's own files.

    store: a URL; None for the embedded store under state_home, an absolute folder. Sizes are in bytes.
    The names are those of config.schema.KEYS.
    """

    state_home: str
    sources: tuple[Source, ...] = (Source(),)
    store: str | None = None
    fail: str = "open"
    unseen: str = "notice"
    claims: str = "advise"
    ignore_files: str = "list"
    max_file_bytes: int = 10 << 20
    checkpoint_file_bytes: int = 10 << 20
    checkpoints: str = "turn"
    checkpoint_every: int = 1
    checkpoint_paths: tuple[str, ...] = ("*",)
    checkpoint_auto_ms: int = 2_000
    read_max_lines: int = 2_000
    read_max_bytes: int = 400_000
    deadline_s: float = 5.0
    keep_days: int = 30
    keep_bytes: int = 500 << 20
    checkpoint_bytes: int = 1 << 30
    bundle: str = "on"
    bundle_imports: str = "on"
    bundle_tests: str = "on"
    bundle_files: int = 5
    continue_phrases: tuple[str, ...] = ()
    prompts: str = "built-in"
    subtasks: str = "ask"
    tasks_database: str | None = None
    away_s: float = 1_800.0
    answerer: str = "auto"
    answerer_idle_s: float = 1_800.0
    left_out: tuple[LeftOut, ...] = ()

    def policy_for(self, path: str, *names: str | None) -> str:
        """Return the strictest policy of any source for a file under any of its canonical names: one
        of POLICIES. names: the further ones, None for none (ResolvedPath.name and links)."""
        known = [path, *filter(None, names)]
        policies = [source.policy_for(name) for source in self.sources for name in known]
        return max(policies, key=POLICIES.index)

    def asking_setting(self, path: str, *names: str | None) -> str:
        """Return the setting that makes policy_for answer "ask": "protect" or "policy"."""
        known = [path, *filter(None, names)]
        is_protected = any(source.protects(name) for source in self.sources for name in known)
        return "protect" if is_protected else "policy"

    def checkpoint_counts(self, path: str) -> bool:
        """Return whether an edit of this file counts towards the next checkpoint."""
        return _set(self.checkpoint_paths).matches(path)

    def may_store(self, path: str) -> bool:
        """Return whether the text of this file may be kept."""
        return not any(_folded(source.never_store).matches(path.lower()) for source in self.sources)

    def secrets(self, folder: str, names: Sequence[str]) -> set[str]:
        """Return the files of one folder ("" or ending in "/") whose text may not be kept: the same
        answer as may_store, for all names at once."""
        found: set[str] = set()
        folder, lower = folder.lower(), [name.lower() for name in names]
        for source in self.sources:
            patterns = _folded(source.never_store)
            if folder and patterns.covers(folder.removesuffix("/")):
                return set(names)
            concerned = patterns.concerned(folder, lower)
            found |= {name for name in concerned if patterns.matches(folder + name)}
        return {name for name in names if name.lower() in found} if found else found


def load_settings(
    root: str,
    *,
    environ: Mapping[str, str],
    home: str,
    platform: str,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """Return the settings for the workspace at `root`. SettingsError for a fault in the user's settings, the
    environment or the flags; a fault in the workspace's own files is in `left_out`.

    environ, home, platform: os.environ, the user's home folder, sys.platform.
    flags: settings by name; None for a flag that was not set.
    """
    users = user_settings_file(environ, home, platform)
    by_flag = {key: value for key, value in (flags or {}).items() if value is not None}
    chosen = {
        **checked(parsed_file(users), users),
        **from_environment(environ),
        **checked(by_flag, "the command line"),
    }
    tables, left_out = workspace_tables(root, users)
    own = [table for _, table in tables]
    tightened = {"unseen": "refuse", "claims": "enforce", "ignore_files": "refuse"}
    asked = {key: [table.pop(key, None) for table in own] for key in tightened}
    chosen |= {key: tight for key, tight in tightened.items() if tight in asked[key]}
    user = Source(
        chosen.pop("policy", "merge"),
        chosen.pop("policies", ()),
        NEVER_STORE + chosen.pop("never_store", ()),
        PROTECT + chosen.pop("protect", ()),
    )
    state = chosen.get("state_home") or _own_folder("state", environ, home, platform)
    chosen["state_home"] = os.path.join(home, state[2:]) if state.startswith("~/") else state
    # A workspace without settings adds nothing: its own source starts from the loosest values.
    tighter = [structs.replace(Source("warn", (), (), ()), **table) for table in own]
    return Settings(sources=(user, *tighter), left_out=left_out, **chosen)


def user_settings_file(environ: Mapping[str, str], home: str, platform: str) -> str:
    """Return the path of this user's settings file, whether or not it exists."""
    return os.path.join(_own_folder("config", environ, home, platform), "config.toml")


FOLDERS = {
    ("config", "win32"): ("APPDATA", "AppData/Roaming"),
    ("config", "linux"): ("XDG_CONFIG_HOME", ".config"),
    ("state", "win32"): ("LOCALAPPDATA", "AppData/Local"),
    ("state", "linux"): ("XDG_STATE_HOME", ".local/state"),
}
"""Purpose and system -> the variable that names the folder, and the folder below the home folder."""


def _own_folder(purpose: str, environ: Mapping[str, str], home: str, platform: str) -> str:
    """Return our folder for a purpose. A relative folder in $XDG_… is ignored, as XDG demands."""
    system = platform if platform == "win32" else "linux"
    variable, fallback = FOLDERS[purpose, system]
    if platform == "darwin":
        variable, fallback = "", "Library/Application Support"
    named = environ.get(variable, "")
    folder = named if os.path.isabs(named) else os.path.join(home, fallback)
    return os.path.join(folder, "sightline")


@lru_cache(maxsize=2048)
def _set(patterns: tuple[str, ...]) -> PatternSet:
    """Compile patterns once per process: a session asks for every path it touches."""
    return PatternSet([each for pattern in patterns for each in with_literal_brackets(pattern)])


@lru_cache(maxsize=256)
def _folded(patterns: tuple[str, ...]) -> PatternSet:
    """Compile patterns for paths in lower case."""
    return _set(tuple([pattern.lower() for pattern in patterns]))


PROJECT = "[tool.sightline]"
"""The heading of our settings in pyproject.toml."""


def workspace_tables(
    root: str, users: str
) -> tuple[list[tuple[str, dict[str, Any]]], tuple[LeftOut, ...]]:
    """Return the workspace's own files with the settings in each, and the files' faults. users: the file
    where other settings belong."""
    real = os.path.realpath(root)
    tables: list[tuple[str, dict[str, Any]]] = []
    faults: list[SettingsError] = []
    for name, heading in (("sightline.toml", ""), ("pyproject.toml", PROJECT)):
        try:
            data = _bytes(os.path.join(real, name), name, within=real) or b""
            # Most pyproject.toml files do not name us, and an agent's edits break them for a while.
            table = _parsed(data, name) if not heading or b"sightline" in data else {}
            own = _own_table(table) if heading else table
        except SettingsError as fault:
            faults.append(fault)
            continue
        tightened, wrong = tightening(own, partial(_place, name, heading, data), users)
        faults += wrong
        tables += [(name, tightened)] if tightened else []
    return tables, tuple([LeftOut(fault.message, fault.hint) for fault in faults])


def parsed_file(path: str) -> dict[str, Any]:
    """Return the table of a settings file of this user's; {} where there is none. SettingsError."""
    return _parsed(_bytes(path, path), path)


def _own_table(project: dict[str, Any]) -> dict[str, Any]:
    """Return our table in a project's file; {} where there is none. SettingsError."""
    tool = project.get("tool")
    own = tool.get("sightline", {}) if isinstance(tool, dict) else {}
    if isinstance(own, dict):
        return own
    where = f"pyproject.toml {PROJECT}"
    raise SettingsError(f"{where}: must be a table.", "Put the settings below that heading.")


def _place(name: str, heading: str, data: bytes, key: str) -> str:
    """Return the words for the place of a setting: the file, the heading, and the line where it is known."""
    line = _line_of(key, data, heading)
    return f"{name} {heading}".strip() + (f", line {line}" if line else "")


def _line_of(key: str, data: bytes, heading: str) -> int:
    """Return the number of the line where a setting begins: `key = …`, or a heading that names it; 0 where
    no line looks so. heading: that of the table which holds the setting, "" for the whole file."""
    above = heading.strip("[]").replace(".", r"\s*\.\s*")
    word = rf"[\"']?{re.escape(key)}\b"
    dotted = rf"(?:{above}\s*\.\s*)?" if above else ""
    begins = re.compile(rf"\s*(?:\[\s*)?{dotted}{word}")
    is_inside = not above
    for number, line in enumerate(data.decode(errors="replace").split("\n"), 1):
        is_inside = is_inside or re.search(rf"{above}\b", line) is not None
        if is_inside and begins.match(line):
            return number
    return 0


def _parsed(data: bytes | None, name: str) -> dict[str, Any]:
    """Return the table of a settings file; {} for None. name: of the file, for a SettingsError."""
    if not data:
        return {}
    import tomllib  # most workspaces have no settings file

    for number, line in enumerate(data.split(b"\n"), 1):
        if line.count(b".") > LINE_DOTS_MAX:
            words = f"{name}: line {number} has more than {LINE_DOTS_MAX} dots."
            raise SettingsError(words, "Break it into several lines.")
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError as wrong:
        line_number = wrong.object[: wrong.start].count(b"\n") + 1
        words = f"{name}: line {line_number} is not valid UTF-8."
        raise SettingsError(words, "Save the file as UTF-8.") from None
    except (ValueError, RecursionError) as broken:
        raise SettingsError(f"{name}: not valid TOML: {broken}.", "Correct it there.") from None


def _bytes(path: str, name: str, within: str | None = None) -> bytes | None:
    """Return the bytes of a plain file of bounded size; None when there is none. name: of the file, for a
    SettingsError. within: a folder that no symlink may lead out of."""
    hint = "Put a plain file of settings there, or remove it."
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{name}: {error.strerror}.", hint) from error
    real = os.path.realpath(path)
    if within is not None and not real.startswith(os.path.join(within, "")):
        raise SettingsError(f"{name}: leads out of the workspace, to {real}.", hint)
    try:
        with open(real, "rb", opener=_open) as file:
            plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(FILE_BYTES_MAX + 1) if plain else b""
    except OSError as error:
        raise SettingsError(f"{name}: cannot be read: {error.strerror}.", hint) from error
    if not plain or len(data) > FILE_BYTES_MAX:
        raise SettingsError(f"{name}: not a plain file of up to {FILE_BYTES_MAX} bytes.", hint)
    return data


def _open(path: str, flags: int) -> int:
    """Open without waiting for a pipe's other end, and without following a last-moment symlink."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
