"""What is said of several agents, and what the live view shows of them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.cli.live.test_view import Scene

from sightline.filesystem.process import owner_of
from sightline.model.active_claims import Claim
from sightline.model.events import Cause, ClaimTaken
from sightline.model.results import Affected
from sightline.sessions import words
from sightline.sessions.presence import environment
from sightline.text.causes import cause

B, C, D = (f"agent session {name} stale on {name}.py lines 2-4" for name in "bcd")

HOUR = 3_600 * 1_000_000


def name_of(session):
    """The name of a session for the agent of session s."""
    return cause(Cause("agent", session), "s")


def claim(id, session, *paths, exclusive=True):
    return Claim(id, session, paths, 13 * HOUR, exclusive, 0, 1)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ([claim("c-1", "b", "a.py")], "a.py is claimed by agent session b until 13:00 UTC."),
        (
            [claim("c-1", "s/helper", "*.py"), claim("c-2", "b", "a.py")],
            "a.py is claimed by your sub-agent helper until 13:00 UTC as part of *.py, and by 1 more.",
        ),
        (
            [claim("c-1", "b", "a", "b", "c", "d", exclusive=False)],
            "a.py is claimed (shared) by agent session b until 13:00 UTC as part of a, b, c and 1 more.",
        ),
    ],
)
def test_a_claim_in_words(claims, said):
    assert words.claimed("a.py", claims, name_of) == said


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("b", f"Your write made {B}."),
        (
            "bc",
            f"Your write made {B} and {C}.",
        ),
        (
            "bcdef",
            f"Your write made {B}, {C}, {D} and 2 more sessions.",
        ),
    ],
)
def test_whom_a_write_concerns_in_words(names, said):
    found = [Affected(name, "agent", f"{name}.py", ((2, 4),)) for name in names]
    assert words.affected(found, name_of) == said


def test_what_is_claimed_stands_below_its_session_until_its_time_is_up():
    scene = Scene({"a.py": "a\n"})
    scene.first.read("a.py")
    scene.first.claim(["src/**", "a.py"], ttl=90)
    (line,) = [line for line in scene.lines() if "claims" in line]
    assert line.strip() == "claims     until 00:01: a.py, src/**"
    scene.clock.advance(seconds=90)
    assert not [line for line in scene.lines() if "claims" in line]


def test_a_session_whose_process_has_gone_is_said_to_be():
    scene = Scene({"a.py": "a\n"})
    scene.first.read("a.py")
    assert "gone" not in "\n".join(scene.lines())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        scene.first._context.append([environment(owner_of(child.pid))])
        assert "gone" not in "\n".join(scene.lines())
        child.communicate(b"\n")
    assert "gone, last heard of 00:00" in "\n".join(scene.lines())


def test_a_claim_of_long_names_fits_the_line():
    scene = Scene({"a.py": "a\n"})
    scene.first.read("a.py")
    scene.first._context.append([ClaimTaken("c-1", ("x" * 300,), scene.clock() + HOUR)])
    assert all(len(line) <= 40 for line in scene.lines(width=40))
