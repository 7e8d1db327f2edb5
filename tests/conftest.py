"""Settings of all tests: deterministic, and indifferent to the speed and the owner of the machine."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from itertools import groupby

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from tests.support.command_line import at, sl
from tests.support.examples import WIDE
from tests.support.places import place, s, ten, three
from tests.support.stores import share_schema

__all__ = ["at", "place", "s", "sl", "ten", "three"]  # fixtures for all tests

# The same examples on every run: a red test is red for everybody. SIGHTLINE_TEST_PROFILE=wide takes
# ten times as many, as .ci/run does; =search draws new ones, fifty times as many, for a person who
# looks for trouble.
settings.register_profile(
    "same",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=WIDE // 10,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("wide", settings.get_profile("same"), max_examples=WIDE)
settings.register_profile(
    "search", settings.get_profile("same"), derandomize=False, max_examples=10 * WIDE
)
PROFILE = os.environ.get("SIGHTLINE_TEST_PROFILE", "same")
settings.load_profile(PROFILE)
if PROFILE != "search":
    # Hypothesis also draws what stands as a constant in the modules that are loaded: other examples after
    # each change of the source, or of the order of tests. Reading them takes seconds in a fresh clone.
    providers._get_local_constants = lambda: providers._local_constants

gc.disable()  # a third of the time of collecting the tests, which leaves no garbage


def pytest_collection_finish(session: pytest.Session) -> None:
    """Collect garbage from here on, and never look at the collected tests again. Let the tests start
    programs, and speak to them, with the variables of a user: the workers have read the profile."""
    os.environ.pop("SIGHTLINE_TEST_PROFILE", None)
    gc.freeze()
    gc.enable()


CASES = 6
"""Cases of one test that the default run plays, spread evenly over them. The wide run plays the others."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the other cases as wide: most of the time went into thousands of cases like their neighbours."""
    for _, each in groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        cases = [item for item in each if not item.get_closest_marker("wide")]
        played = {len(cases) * n // CASES for n in range(CASES)}
        for number, case in enumerate(cases):
            if len(cases) > CASES and number not in played:
                case.add_marker("wide")


def sync_nothing(fd: object) -> None:
    """Tests kill processes, and no machine: what was written is there."""


MEMORY, ROOM = "/dev/shm", 4 << 30
"""Where files live in memory, and how many bytes have to be free there: the tests make 100,000 files."""


def pytest_configure(config: pytest.Config) -> None:
    """Give all tests an empty home: what they write stays there, what the machine has stays out. Keep
    their files in memory where nobody names a TMPDIR, and remove them at the end."""
    is_named = "TMPDIR" in os.environ  # a worker gets it from the process that started it
    if not is_named and os.path.isdir(MEMORY) and shutil.disk_usage(MEMORY).free >= ROOM:
        files = tempfile.TemporaryDirectory("", "sightline-", MEMORY, ignore_cleanup_errors=True)
        config.add_cleanup(files.cleanup)
        os.chmod(files.name, 0o711)  # some tests look at their own folder as another user
        os.environ["TMPDIR"] = tempfile.tempdir = files.name
    home = tempfile.TemporaryDirectory(prefix="sightline-home-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    for name in list(os.environ):
        if name.startswith(("SIGHTLINE_", "XDG_", "GIT_")) and not name.startswith(
            "SIGHTLINE_TEST_"
        ):
            del os.environ[name]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands start as they do for a user
    os.environ |= {"HOME": home.name, "USERPROFILE": home.name, "APPDATA": home.name}
    os.environ |= {"SIGHTLINE_ANSWERER": "off"}  # no process outlives the test that started it
    os.environ |= {"LOCALAPPDATA": home.name, "NO_COLOR": "1", "GIT_CONFIG_NOSYSTEM": "1"}
    os.fsync = sync_nothing
    share_schema()
    for role in ("AUTHOR", "COMMITTER"):
        os.environ |= {f"GIT_{role}_NAME": "Ada", f"GIT_{role}_EMAIL": "ada@example.org"}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures that tests recorded as their property `figures`."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, value in report.user_properties if report.when == "call" else ():
                if name == "figures":
                    terminalreporter.write_line(str(value))
