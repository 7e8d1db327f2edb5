"""The names, kinds and built-in lists of all settings. Where they come from is config's business."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from sightline.errors import SettingsError

POLICIES = ("warn", "merge", "refresh", "block", "ask")
"""What happens to a stale edit, loosest first. refresh and block both refuse; refresh answers with
the fresh text."""

UNSEEN = ("notice", "refuse")
"""What happens to a unique replace in lines that were never shown, loosest first."""

CLAIMS = ("advise", "enforce")
"""What happens to a write of what another session claims, loosest first: it is told, or refused."""

FAIL = ("open", "closed")
"""Whether a hook that failed itself lets the agent's call pass."""

ANSWERER = ("auto", "off")
"""Whether a conversation's first hook leaves a process behind that answers the later ones."""

CHECKPOINTS = ("turn", "edits", "off")
"""When a checkpoint is taken by itself: before a turn's first change, after edits, or never."""

SWITCH = ("on", "off")

NEVER_STORE = (
    *(".env", ".env.*", "!.env.example", "!.env.sample", "!.env.template"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "!id_*.pub"),
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials"),
    *("credentials*.json", "**/.aws/credentials", "**/.docker/config.json"),
)
"""Files that hold secrets, so their text is never kept; samples and public halves may be."""

PROTECT = (
    *("sightline.toml", ".sightlineignore", "**/.git/**"),
    *("**/.claude/**", "**/.codex/**", "**/.cursor/**", "**/.gemini/**", "**/.roo/**"),
    *(".mcp.json", ".clinerules", ".clineignore", ".rooignore", ".roomodes"),
    *("**/.vscode/**", "**/.idea/**", "*.code-workspace"),
)
"""Files that steer a guard, an agent or an editor, or that these run unasked: always asked for.

AGENTS.md and its like are left out: people have their agents keep them, and being asked for what
they just ordered would teach everybody to say yes.
"""

PATTERNS_MAX = 500
PATTERN_LENGTH_MAX = 500


class Key(Struct, frozen=True):
    """One setting. check: a value -> the value as kept, or ValueError saying what it must be.

    variable: its name in the environment, "" where a table has no one-line form.
    shared: whether a workspace's own files may hold it.
    """

    check: Callable[[Any], Any]
    variable: str = ""
    shared: bool = False


def checked(table: Mapping[str, object], where: str) -> dict[str, Any]:
    """A table of settings, each of the right kind. where: what to blame in a SettingsError."""
    return {key: _value(key, value, where) for key, value in table.items()}


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings that variables hold. An empty variable counts as not set."""
    found: dict[str, Any] = {}
    for key, spec in KEYS.items():
        text = environ.get(spec.variable, "") if spec.variable else ""
        if text:
            number = spec.check in (_count, _seconds)
            found[key] = _value(key, _number(text) if number else text, f"${spec.variable}")
    return found


def tightening(table: Mapping[str, object], where: str, users: str) -> dict[str, Any]:
    """A workspace's own settings, checked to tighten only. users: where the rest belongs."""
    own = checked(table, where)
    for key in own:
        if not KEYS[key].shared:
            raise SettingsError(
                f"{where}: {key} is not a workspace's to set: a folder that was only cloned "
                "could weaken the guard with it.",
                f"Move it to {users}, or set {KEYS[key].variable}.",
            )
    if "warn" in (own.get("policy"), *(policy for _, policy in own.get("policies", ()))):
        raise SettingsError(
            f'{where}: the policy "warn" is looser than the default "merge", and a workspace '
            "may only tighten.",
            f"Remove it there, or loosen the policy for yourself in {users}.",
        )
    return own


def _value(key: str, value: object, where: str) -> Any:
    if key not in KEYS:
        near = get_close_matches(key, KEYS, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(KEYS)}."
        raise SettingsError(f"{where}: there is no setting {key!r}.", hint)
    try:
        return KEYS[key].check(value)
    except ValueError as wrong:
        raise SettingsError(f"{where}: {key} {wrong}.", "Correct or remove it there.") from None


def _number(text: str) -> object:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text  # refused by the check, which says what was found


def _one_of(*words: str) -> Callable[[Any], str]:
    def check(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        raise ValueError(f"must be one of {', '.join(words)}, not {value!r}")

    return check


def _count(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise ValueError(f"must be a whole number from 1 on, not {value!r}")


def _seconds(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 3600:
        return float(value)
    raise ValueError(f"must be a number of seconds up to 3600, not {value!r}")


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"must be a text, not {value!r}")


def _folder(value: object) -> str:
    """An absolute folder of any system, or one under the home folder."""
    text = _text(value)
    if text.startswith(("/", "~/", "\\\\")) or text[1:3] in (":\\", ":/"):
        return text
    raise ValueError(f"must be an absolute folder, not {value!r}")


def _patterns(value: object) -> tuple[str, ...]:
    # Bounded, or a cloned folder could make each hook outlast its product's time limit, and pass.
    if isinstance(value, list | tuple) and len(value) <= PATTERNS_MAX:
        return tuple(_pattern(pattern) for pattern in value)
    raise ValueError(f"must be a list of at most {PATTERNS_MAX} patterns")


def _pattern(value: object) -> str:
    text = value if isinstance(value, str) and value.isprintable() else ""
    # A comment or an empty pattern would be passed over without a word.
    if text.strip(" /!") and not text.startswith("#") and len(text) <= PATTERN_LENGTH_MAX:
        return text
    raise ValueError(f"must hold patterns such as 'docs/**', not {value!r:.80}")


def _policies(value: object) -> tuple[tuple[str, str], ...]:
    if isinstance(value, dict):
        policy = _one_of(*POLICIES)
        globs = _patterns(list(value))
        if any(glob.startswith("!") for glob in globs):
            raise ValueError('takes no pattern with "!": give the path a policy of its own')
        return tuple((glob, policy(value[glob])) for glob in globs)
    raise ValueError(f"must be a table of pattern = policy, not {value!r}")


KEYS = {
    "policy": Key(_one_of(*POLICIES), "SIGHTLINE_POLICY", shared=True),
    "policies": Key(_policies, shared=True),
    "unseen": Key(_one_of(*UNSEEN), "SIGHTLINE_UNSEEN", shared=True),
    "claims": Key(_one_of(*CLAIMS), "SIGHTLINE_CLAIMS", shared=True),
    "never_store": Key(_patterns, shared=True),
    "protect": Key(_patterns, shared=True),
    "store": Key(_text, "SIGHTLINE_STORE"),
    "state_home": Key(_folder, "SIGHTLINE_HOME"),
    "fail": Key(_one_of(*FAIL), "SIGHTLINE_FAIL"),
    "max_file_bytes": Key(_count, "SIGHTLINE_MAX_FILE_BYTES"),
    "checkpoint_file_bytes": Key(_count, "SIGHTLINE_CHECKPOINT_FILE_BYTES"),
    "read_max_lines": Key(_count, "SIGHTLINE_READ_MAX_LINES"),
    "read_max_bytes": Key(_count, "SIGHTLINE_READ_MAX_BYTES"),
    "checkpoints": Key(_one_of(*CHECKPOINTS), "SIGHTLINE_CHECKPOINTS"),
    "checkpoint_every": Key(_count, "SIGHTLINE_CHECKPOINT_EVERY"),
    "checkpoint_paths": Key(_patterns),
    "checkpoint_auto_ms": Key(_count, "SIGHTLINE_CHECKPOINT_AUTO_MS"),
    "deadline_s": Key(_seconds, "SIGHTLINE_DEADLINE_S"),
    "keep_days": Key(_count, "SIGHTLINE_KEEP_DAYS"),
    "keep_bytes": Key(_count, "SIGHTLINE_KEEP_BYTES"),
    "checkpoint_bytes": Key(_count, "SIGHTLINE_CHECKPOINT_BYTES"),
    "bundle": Key(_one_of(*SWITCH), "SIGHTLINE_BUNDLE"),
    "bundle_imports": Key(_one_of(*SWITCH), "SIGHTLINE_BUNDLE_IMPORTS"),
    "bundle_tests": Key(_one_of(*SWITCH), "SIGHTLINE_BUNDLE_TESTS"),
    "bundle_files": Key(_count, "SIGHTLINE_BUNDLE_FILES"),
    "away_s": Key(_seconds, "SIGHTLINE_AWAY_S"),
    "answerer": Key(_one_of(*ANSWERER), "SIGHTLINE_ANSWERER"),
    "answerer_idle_s": Key(_seconds, "SIGHTLINE_ANSWERER_IDLE_S"),
}
"""Every setting. The environment may hold other SIGHTLINE_ names, which are no settings."""
