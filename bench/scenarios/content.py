"""S9, S17, S18, S29 to S32, S38, S39, S50, S51: what others do to the text around and inside the target."""

from __future__ import annotations

from bench.scenarios.model import (
    FAR,
    FORMATTED,
    PATH,
    STALE,
    Attempt,
    Intent,
    Scenario,
    change,
    module,
    tries,
)
from bench.world import World

BOM = b"\xef\xbb\xbf"
BLOCK = Intent(
    "def step_06(value):\n    return value + 6\n\n\ndef step_07(value):\n    return value + 7\n",
    "def step_06(value):\n    return value * 6\n\n\ndef step_07(value):\n    return value * 7\n",
)
"""Six lines; in S31 somebody changes the second of them."""

ELSEWHERE = tries("notice", "notice", "merge")
"""Others changed the file, and neither of the lines the agent is after."""

REFORMATTED = module().replace("return value + 6\n", "return (value + 6)\n")
WRAPPED = module().replace("return value + 6\n", "return (\n        value + 6)\n")
LONGER = "import sys\nimport os\n\n" + module()
TWICE = module() + "\n\nclass Copy:\n    def step_06(value):\n    return value + 6\n"

PART = Intent("value + 6", "value - 6")
"""A part of a line; others make it the part of another line."""
DOUBLED = "# limits\nimport os\nimport sys\nimport sys\nimport re\nLIMIT = 80\n"
ONCE = DOUBLED.replace("import sys\n", "", 1)
HEADING = Intent("# limits\n", "# All limits\n")
"""The agent changes the first line and the user the last, and both remove the second import."""

SUMS = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b  # sub\n"
SUMS_REWRITTEN = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
BODY = Intent("    return a - b\n", "    return sum((a, b))\n")
PORTS = "[dev]\nport = 80\nhost = a\n\n[prod]\nport = 80  # prod\n"
PORTS_REWRITTEN = "[dev]\nport = 8080\nhost = a\n\n[test]\nport = 80\n\n[prod]\nport = 90\n"
PORT = Intent("port = 80\n", "port = 443\n")
"""The text that the agent means was rewritten; the same text stands once, in another place."""


def _meant(intent: Intent) -> tuple[Attempt, ...]:
    stale = frozenset({"stale"})
    write = frozenset({"conflict", "stale"})
    return (
        Attempt("replace", "replace", intent, stale),
        Attempt("by number", "lines", intent, stale),
        Attempt("write", "write", intent, write),
    )


def _by_lines(label: str, intent: Intent, wants: str) -> Attempt:
    return Attempt(label, "lines", intent, frozenset(wants.split()))


def _by_number(where: str, wants: str, saved: str, tells: str) -> Scenario:
    """A shell edit by line number after a save that added lines, above the target or below it."""
    return Scenario(
        51,
        "edit by number, lines moved",
        (_by_lines("by number", change(6), wants),),
        f"{where} it",
        between=lambda world: world.put(PATH, saved.encode()),
        flags=frozenset({"shell"}),
        tells=(tells,),
    )


def _logged(world: World) -> None:
    log = module().encode()
    for number in range(3):
        log += f"10:00:0{number} request served\n".encode()
        world.put(PATH, log)


CONTENT = (
    Scenario(
        9,
        "formatter",
        STALE,
        between=lambda world: world.put(PATH, REFORMATTED.encode()),
    ),
    Scenario(
        9,
        "formatter",
        (
            Attempt("write", "write", FAR, frozenset({"merge"})),
            _by_lines("by number", FAR, "notice"),
        ),
        "two calls made together",
        between=lambda world: world.put(PATH, WRAPPED.encode()),
        flags=frozenset({"sibling"}),
    ),
    Scenario(
        17,
        "line endings flipped",
        tries("allow notice", "allow notice", "allow notice merge"),
        between=lambda world: world.put(PATH, module().replace("\n", "\r\n").encode()),
        tells=("only line endings",),
    ),
    Scenario(
        18,
        "byte order mark added",
        tries("allow notice", "allow notice", "allow notice merge"),
        between=lambda world: world.put(PATH, BOM + module().encode()),
        tells=("byte order mark",),
    ),
    Scenario(
        29,
        "lines inserted above",
        (*ELSEWHERE, _by_lines("by number", change(6), "notice")),
        between=lambda world: world.put(PATH, LONGER.encode()),
        tells=("lines 1-48 stand at 4-51 now",),
    ),
    Scenario(
        30,
        "target occurs twice",
        tries("notice", "ambiguous", "merge"),
        between=lambda world: world.put(PATH, TWICE.encode()),
    ),
    Scenario(
        31,
        "range changed inside",
        (
            *tries("notice", "stale", "merge", "conflict stale", near=BLOCK),
            _by_lines("by number", BLOCK, "stale"),
        ),
        between=lambda world: world.put(PATH, FORMATTED.encode()),
    ),
    Scenario(
        32,
        "a logger appends",
        ELSEWHERE,
        between=_logged,
        tells=("10:00:00", "10:00:01", "10:00:02"),
    ),
    Scenario(
        38,
        "part of a line",
        tries("notice", "stale", "merge", "conflict stale", near=PART),
        between=lambda world: world.put(
            PATH, module().replace("value + 6", "value + 6000").encode()
        ),
    ),
    _by_number("above", "notice stale", LONGER, "lines 1-48 stand at 4-51 now"),
    _by_number("below", "notice allow", module() + "END = 1\n", r"\+END = 1"),
    Scenario(
        39,
        "both removed the same duplicate",
        (
            Attempt("outside", "replace", HEADING, frozenset({"notice"})),
            Attempt("write", "write", HEADING, frozenset({"merge"}), ONCE.replace(*HEADING)),
        ),
        files={PATH: DOUBLED},
        between=lambda world: world.put(PATH, ONCE.replace("LIMIT = 80", "LIMIT = 443").encode()),
    ),
    Scenario(
        50,
        "a twin elsewhere",
        _meant(BODY),
        "function",
        files={PATH: SUMS},
        between=lambda world: world.put(PATH, SUMS_REWRITTEN.encode()),
    ),
    Scenario(
        50,
        "a twin elsewhere",
        _meant(PORT),
        "section",
        files={PATH: PORTS},
        between=lambda world: world.put(PATH, PORTS_REWRITTEN.encode()),
    ),
)
