"""Settings: what a person decided, and what a workspace adds to it.

Defaults < the user's settings file < environment < flags; then the workspace's own files tighten
the outcome and do nothing else. A workspace is a folder that somebody may only have cloned: it
cannot loosen a policy, move the store, choose what happens when a hook fails, or set a limit.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct, structs

from sightline.config.schema import (
    NEVER_STORE,
    POLICIES,
    PROTECT,
    checked,
    from_environment,
    tightening,
)
from sightline.errors import SettingsError
from sightline.filesystem.ignore.gitignore import PatternSet

FILE_BYTES_MAX = 1 << 20
LINE_DOTS_MAX = 200
"""tomllib needs 17 seconds for one key of 32,000 parts, and a hook that is late guards nothing."""


class Source(Struct, frozen=True):
    """What one source says of paths; of several globs that match, the last decides."""

    policy: str = "merge"
    policies: tuple[tuple[str, str], ...] = ()
    never_store: tuple[str, ...] = NEVER_STORE
    protect: tuple[str, ...] = PROTECT

    def policy_for(self, path: str) -> str:
        """Its policy for one path; "ask" where it protects the path."""
        if _set(self.protect).matches(path):
            return "ask"
        for glob, policy in reversed(self.policies):
            if _set((glob,)).matches(path):
                return policy
        return self.policy


class Settings(Struct, frozen=True):
    """All that may be tuned. sources: the user's, then those of the workspace's own files.

    store: URL, None for the embedded one under state_home, an absolute folder. policies: see
    config.schema. Sizes in bytes.
    """

    state_home: str
    sources: tuple[Source, ...] = (Source(),)
    store: str | None = None
    fail: str = "open"
    unseen: str = "notice"
    claims: str = "advise"
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
    away_s: float = 1_800.0
    answerer: str = "auto"
    answerer_idle_s: float = 1_800.0

    def policy_for(self, path: str) -> str:
        """The strictest policy that any source has for a canonical path: one of POLICIES."""
        return max((source.policy_for(path) for source in self.sources), key=POLICIES.index)

    def checkpoint_counts(self, path: str) -> bool:
        """Whether an edit of this file counts towards the next checkpoint."""
        return _set(self.checkpoint_paths).matches(path)

    def may_store(self, path: str) -> bool:
        """Whether the text of this file may be kept."""
        for source in self.sources:
            if source.never_store and _set(source.never_store).matches(path):
                return False
        return True

    def secrets(self, folder: str, names: Sequence[str]) -> set[str]:
        """Of the files of one folder ("" or ending in "/"), those whose text may not be kept: what
        may_store says of each, for all of them at once."""
        found: set[str] = set()
        for source in self.sources:
            patterns = _set(source.never_store)
            if folder and patterns.covers(folder.removesuffix("/")):
                return set(names)
            found |= {
                each
                for each in patterns.concerned(folder, names)
                if patterns.matches(folder + each)
            }
        return found


def load_settings(
    root: str,
    *,
    environ: Mapping[str, str],
    home: str,
    platform: str,
    flags: Mapping[str, object] | None = None,
) -> Settings:
    """The settings that hold in the workspace at `root`. SettingsError.

    environ, home, platform: os.environ, the user's home folder, sys.platform.
    flags: settings by name; None says that a flag was not given.
    """
    users = user_settings_file(environ, home, platform)
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    chosen = {
        **checked(_table(users) or {}, users),
        **from_environment(environ),
        **checked(given, "the command line"),
    }
    own = [tightening(table, where, users) for where, table in _workspace_tables(root)]
    for key, tight in (("unseen", "refuse"), ("claims", "enforce")):
        said = [table.pop(key, None) for table in own]
        if tight in said:
            chosen[key] = tight
    user = Source(
        chosen.pop("policy", "merge"),
        chosen.pop("policies", ()),
        NEVER_STORE + chosen.pop("never_store", ()),
        PROTECT + chosen.pop("protect", ()),
    )
    chosen["state_home"] = _state_home(chosen.get("state_home"), environ, home, platform)
    # A workspace that says nothing adds nothing: its own source starts from the loosest.
    tighter = [structs.replace(Source("warn", (), (), ()), **table) for table in own]
    return Settings(sources=(user, *tighter), **chosen)


def user_settings_file(environ: Mapping[str, str], home: str, platform: str) -> str:
    """Where this user's own settings are read from, whether or not the file exists."""
    windows, linux = ("APPDATA", "AppData/Roaming"), ("XDG_CONFIG_HOME", ".config")
    return os.path.join(_base(environ, home, platform, windows, linux), "config.toml")


def _state_home(asked: str | None, environ: Mapping[str, str], home: str, platform: str) -> str:
    if asked is not None:
        return os.path.join(home, asked[2:]) if asked.startswith("~/") else asked
    windows, linux = ("LOCALAPPDATA", "AppData/Local"), ("XDG_STATE_HOME", ".local/state")
    return _base(environ, home, platform, windows, linux)


def _base(
    environ: Mapping[str, str],
    home: str,
    platform: str,
    windows: tuple[str, str],
    linux: tuple[str, str],
) -> str:
    """Our folder where the system keeps such things. A relative $XDG_… is ignored, as XDG asks."""
    if platform == "darwin":
        variable, fallback = "", "Library/Application Support"
    else:
        variable, fallback = windows if platform == "win32" else linux
    named = environ.get(variable, "")
    folder = named if os.path.isabs(named) else os.path.join(home, fallback)
    return os.path.join(folder, "sightline")


@lru_cache(maxsize=2048)
def _set(patterns: tuple[str, ...]) -> PatternSet:
    """Compiled once per process: a session asks for every path it touches."""
    return PatternSet(patterns)


def _workspace_tables(root: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The settings in the workspace's own files, with the name to blame."""
    real = os.path.realpath(root)
    table = _table(os.path.join(real, "sightline.toml"), within=real)
    if table:
        yield "sightline.toml", table
    # Most pyproject.toml files do not name us, and an agent's edits break them for a while.
    project = _table(os.path.join(real, "pyproject.toml"), within=real, naming=b"sightline")
    tool = (project or {}).get("tool", {})
    own = tool.get("sightline", {}) if isinstance(tool, dict) else {}
    where = "pyproject.toml [tool.sightline]"
    if not isinstance(own, dict):
        raise SettingsError(f"{where}: must be a table.", "Put the settings below that heading.")
    if own:
        yield where, own


def _table(path: str, *, within: str | None = None, naming: bytes = b"") -> dict[str, Any] | None:
    """A settings file parsed; None when it is not there, or when its bytes lack `naming`."""
    data = _bytes(path, within)
    if data is None or naming not in data:
        return None

    for number, line in enumerate(data.split(b"\n"), 1):
        if line.count(b".") > LINE_DOTS_MAX:
            said = f"{path}: line {number} has more than {LINE_DOTS_MAX} dots."
            raise SettingsError(said, "Break it into several lines.")
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as broken:  # ValueError: also what is not UTF-8
        raise SettingsError(f"{path}: not valid TOML: {broken}.", "Correct it there.") from None


def _bytes(path: str, within: str | None) -> bytes | None:
    """The bytes of a plain file of bounded size. within: no symlink may lead out of there."""
    hint = "Put a plain file of settings there, or remove it."
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}.", hint) from error
    real = os.path.realpath(path)
    if within is not None and not real.startswith(os.path.join(within, "")):
        raise SettingsError(f"{path}: leads out of the workspace, to {real}.", hint)
    try:
        with open(real, "rb", opener=_open) as file:
            plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(FILE_BYTES_MAX + 1) if plain else b""
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}.", hint) from error
    if not plain or len(data) > FILE_BYTES_MAX:
        raise SettingsError(f"{path}: not a plain file of up to {FILE_BYTES_MAX} bytes.", hint)
    return data


def _open(path: str, flags: int) -> int:
    """Never waits for a pipe's other end, and never follows a link that was just put there."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
