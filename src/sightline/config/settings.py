"""Settings: a person's decisions, and the workspace's additions.

Defaults < the user's settings file < environment < flags. Then the workspace's own files tighten
the result and do nothing else. A workspace is a folder that somebody may only have cloned: it
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
    POLICIES,
    PROTECT,
    checked,
    from_environment,
    tightening,
)
from sightline.config.secret_names import NEVER_STORE
from sightline.errors import SettingsError
from sightline.filesystem.ignore.gitignore import PatternSet

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


class Settings(Struct, frozen=True):
    """All settings. sources: the user's, then those of the workspace's own files.

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
    prompts: str = "built-in"
    subtasks: str = "ask"
    tasks_database: str | None = None
    away_s: float = 1_800.0
    answerer: str = "auto"
    answerer_idle_s: float = 1_800.0

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
    """Return the settings for the workspace at `root`. SettingsError.

    environ, home, platform: os.environ, the user's home folder, sys.platform.
    flags: settings by name; None for a flag that was not set.
    """
    users = user_settings_file(environ, home, platform)
    by_flag = {key: value for key, value in (flags or {}).items() if value is not None}
    chosen = {
        **checked(_table(users) or {}, users),
        **from_environment(environ),
        **checked(by_flag, "the command line"),
    }
    own = [tightening(table, where, users) for where, table in _workspace_tables(root)]
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
    return Settings(sources=(user, *tighter), **chosen)


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
    return PatternSet(patterns)


@lru_cache(maxsize=256)
def _folded(patterns: tuple[str, ...]) -> PatternSet:
    """Compile patterns for paths in lower case."""
    return PatternSet([pattern.lower() for pattern in patterns])


def _workspace_tables(root: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the settings in the workspace's own files, each table with the name to blame."""
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
    """Return a parsed settings file; None when there is none, or when its bytes lack `naming`."""
    data = _bytes(path, within)
    if data is None or naming not in data:
        return None

    for number, line in enumerate(data.split(b"\n"), 1):
        if line.count(b".") > LINE_DOTS_MAX:
            words = f"{path}: line {number} has more than {LINE_DOTS_MAX} dots."
            raise SettingsError(words, "Break it into several lines.")
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as broken:  # ValueError: also what is not UTF-8
        raise SettingsError(f"{path}: not valid TOML: {broken}.", "Correct it there.") from None


def _bytes(path: str, within: str | None) -> bytes | None:
    """Return the bytes of a plain file of bounded size; None when there is none. within: a folder that
    no symlink may lead out of."""
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
    """Open without waiting for a pipe's other end, and without following a last-moment symlink."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
