"""The names, kinds and built-in lists of all settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from sightline.errors import SettingsError

POLICIES = ("warn", "merge", "refresh", "block", "ask")
"""Policies for a stale edit, loosest first. refresh and block both refuse; refresh answers with the
fresh text."""

SWITCH = ("on", "off")

PROTECT = (
    *("sightline.toml", ".sightlineignore", ".git", ".hg"),
    *("**/.claude/settings*.json", "**/.claude/hooks/**"),
    *("**/.codex/**", "**/.cursor/**", "**/.gemini/**", "**/.roo/**"),
    *("**/.sightline/**", ".mcp.json", ".clinerules", ".clineignore", ".rooignore", ".roomodes"),
    *("**/.vscode/**", "**/.idea/**", "*.code-workspace"),
)
"""Files that steer a guard, an agent or an editor, or that these run unasked: an edit always asks
the user.

AGENTS.md and its like are not in the list: people have their agents keep them, and a question about
an edit they just ordered would teach everybody to say yes. Of .claude only the settings and the hooks
are: Claude Code keeps whole worktrees there, and people its commands, agents and skills.
"""

PATTERNS_MAX = 500
PATTERN_LENGTH_MAX = 500


class Key(Struct, frozen=True):
    """One setting. check: a value -> the value as kept, or a ValueError with the rule for values.

    variable: its name in the environment, "" where a table has no one-line form.
    shared: whether a workspace's own files may set it.
    """

    check: Callable[[Any], Any]
    variable: str = ""
    shared: bool = False


def checked(table: Mapping[str, object], where: str) -> dict[str, Any]:
    """Return a table of settings after checking each. where: the source to blame in a SettingsError."""
    try:
        return {key: checked_value(key, value) for key, value in table.items()}
    except SettingsError as fault:
        raise SettingsError(f"{where}: {fault.message}", fault.hint) from None


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings in environment variables. An empty variable counts as not set."""
    found: dict[str, Any] = {}
    for key, spec in KEYS.items():
        if spec.variable and (text := environ.get(spec.variable)):
            number = spec.check in (_count, _seconds)
            try:
                found[key] = checked_value(key, _number(text) if number else text)
            except SettingsError as fault:
                raise SettingsError(
                    f"The environment variable {spec.variable} is wrong: {fault.message}",
                    f"Correct it, or remove it: unset {spec.variable}",
                ) from None
    return found


def tightening(
    table: Mapping[str, object], place: Callable[[str], str], users: str
) -> tuple[dict[str, Any], list[SettingsError]]:
    """Return those of a workspace's own settings that are right and only tighten, and what is wrong with
    the others. place: a setting -> the place to blame. users: the file where other settings belong."""
    own: dict[str, Any] = {}
    wrong: list[SettingsError] = []
    for key, value in table.items():
        try:
            own[key] = checked_value(key, value)
            _refuse_loosening(key, own[key], users)
        except SettingsError as fault:
            own.pop(key, None)
            wrong.append(SettingsError(f"{place(key)}: {fault.message}", fault.hint))
    return own, wrong


def _refuse_loosening(key: str, value: Any, users: str) -> None:
    if not KEYS[key].shared:
        variable = KEYS[key].variable
        raise SettingsError(
            f"a workspace may not set {key}: a folder that you only cloned could weaken "
            "your guard with it.",
            f"Move it to your own settings, {users}{f', or set {variable}' if variable else ''}.",
        )
    if "warn" in ([policy for _, policy in value] if key == "policies" else [value]):
        raise SettingsError(
            'the policy "warn" is looser than the default "merge", and a workspace may only tighten.',
            f"Remove it there, or loosen the policy for yourself in {users}.",
        )


def known(key: str) -> None:
    """Raise SettingsError, whose message names no place, for a name that no setting has."""
    if key not in KEYS:
        near = get_close_matches(key, KEYS, n=1)
        hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(KEYS)}."
        raise SettingsError(f"there is no setting {key!r}.", hint)


def checked_value(key: str, value: object) -> Any:
    """Return the value of a setting as it is kept. SettingsError, whose message names no place."""
    known(key)
    try:
        return KEYS[key].check(value)
    except ValueError as wrong:
        raise SettingsError(f"{key} {wrong}.", "Correct or remove the setting.") from None


def _number(text: str) -> object:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text  # the check refuses it, and quotes it


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
    """Return the name of an absolute folder of any system, or of one under the home folder."""
    text = _text(value)
    if text.startswith(("/", "~/", "\\\\")) or text[1:3] in (":\\", ":/"):
        return text
    raise ValueError(f"must be an absolute folder, not {value!r}")


def _patterns(value: object) -> tuple[str, ...]:
    # Bounded: otherwise a cloned folder could make each hook outlast its time limit, and pass.
    if isinstance(value, list | tuple) and len(value) <= PATTERNS_MAX:
        return tuple(_pattern(pattern) for pattern in value)
    raise ValueError(f"must be a list of at most {PATTERNS_MAX} patterns")


def _pattern(value: object) -> str:
    text = value if isinstance(value, str) and value.isprintable() else ""
    # A comment or an empty pattern would be ignored without a word.
    if text.strip(" /!") and not text.startswith("#") and len(text) <= PATTERN_LENGTH_MAX:
        return text
    raise ValueError(f"must hold patterns such as 'docs/**', not {value!r:.80}")


def _phrases(value: object) -> tuple[str, ...]:
    phrases = value if isinstance(value, list | tuple) else [None]
    if len(phrases) > PATTERNS_MAX:
        raise ValueError(f"must be a list of at most {PATTERNS_MAX} phrases")
    for each in phrases:
        if not (isinstance(each, str) and any(map(str.isalnum, each))):
            raise ValueError(f"must be a list of phrases, not {value!r:.80}")
    return tuple(phrases)


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
    "unseen": Key(_one_of("notice", "refuse"), "SIGHTLINE_UNSEEN", shared=True),
    "claims": Key(_one_of("advise", "enforce"), "SIGHTLINE_CLAIMS", shared=True),
    "ignore_files": Key(_one_of("list", "refuse"), "SIGHTLINE_IGNORE_FILES", shared=True),
    "never_store": Key(_patterns, shared=True),
    "protect": Key(_patterns, shared=True),
    "store": Key(_text, "SIGHTLINE_STORE"),
    "state_home": Key(_folder, "SIGHTLINE_HOME"),
    "fail": Key(_one_of("open", "closed"), "SIGHTLINE_FAIL"),
    "max_file_bytes": Key(_count, "SIGHTLINE_MAX_FILE_BYTES"),
    "checkpoint_file_bytes": Key(_count, "SIGHTLINE_CHECKPOINT_FILE_BYTES"),
    "read_max_lines": Key(_count, "SIGHTLINE_READ_MAX_LINES"),
    "read_max_bytes": Key(_count, "SIGHTLINE_READ_MAX_BYTES"),
    "checkpoints": Key(_one_of("turn", "edits", "off"), "SIGHTLINE_CHECKPOINTS"),
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
    "continue_phrases": Key(_phrases),
    "prompts": Key(_one_of("built-in", "workspace"), "SIGHTLINE_PROMPTS"),
    "subtasks": Key(_one_of("ask", "auto"), "SIGHTLINE_SUBTASKS"),
    "tasks_database": Key(_text, "SIGHTLINE_TASKS_DATABASE"),
    "away_s": Key(_seconds, "SIGHTLINE_AWAY_S"),
    "answerer": Key(_one_of("auto", "off"), "SIGHTLINE_ANSWERER"),
    "answerer_idle_s": Key(_seconds, "SIGHTLINE_ANSWERER_IDLE_S"),
}
"""Every setting. docs/reference/settings.md says what each does. The environment may have other
SIGHTLINE_ names, which are no settings."""
