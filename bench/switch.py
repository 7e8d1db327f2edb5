"""A branch switch of 5,000 files, of which an agent was shown 14, while somebody watches.

    python bench/switch.py [--json] [--rounds N]

The watcher is a process of its own (`sightline watch --json`), the switch a real `git checkout`.
bench/README.md says how each figure is made.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import monotonic, sleep
from typing import NamedTuple

import sightline

FILES, SHOWN = 5_000, 14
STEP = FILES // SHOWN
QUIET = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "gc.auto=0")
WITHIN_S = 1.0
GROWTH = 2.0


class Switch(NamedTuple):
    """One round. right_s: from the end of the switch until all verdicts asked were right; fact_s:
    until the watcher had told of it; facts: on the timeline for it; notices: how many, and with
    how many files; memory_mb: of the watcher, idle and at its peak."""

    switch_s: float
    right_s: float
    fact_s: float
    facts: int
    notices: int
    files: int
    idle_mb: float
    peak_mb: float


def git(root: str, *args: str) -> None:
    """Run git for the user who switches."""
    subprocess.run(["git", *QUIET, "-C", root, *args], check=True, capture_output=True)


def tree(root: str) -> None:
    """A repository with two branches that differ in every file."""
    git(root, "init", "-q", "-b", "main")
    for branch, rate in (("main", 1), ("other", 2)):
        if branch == "other":
            git(root, "checkout", "-q", "-b", "other")
        for number in range(FILES):
            file = Path(root, f"d{number // 100}", f"{number}.py")
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"number = {number}\nrate = {rate}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", branch)
    git(root, "checkout", "-q", "main")


def memory_mb(pid: int, field: str) -> float:
    """VmRSS (now) or VmHWM (at its peak) of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def shown() -> list[str]:
    """The files that the agent knows."""
    return [f"d{number // 100}/{number}.py" for number in range(0, STEP * SHOWN, STEP)]


def run(root: str) -> Switch:
    """Watch, switch, and ask."""
    with (
        sightline.open_session(root, id=f"agent-{os.urandom(3).hex()}") as session,
        subprocess.Popen(
            [sys.executable, "-m", "sightline", "watch", "--json"],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as watcher,
    ):
        assert watcher.stdout is not None
        assert watcher.stderr is not None
        for path in shown():
            session.read(path)
        watcher.stderr.readline()
        sleep(1.0)  # let it come to rest: its idle memory is the measure
        idle = memory_mb(watcher.pid, "VmRSS")
        before = session.notice(10_000)
        assert before is None, before.text
        with sightline.open_workspace(root) as workspace:
            position = workspace.position
            began = monotonic()
            git(root, "checkout", "-q", "other" if branch_of(root) == "main" else "main")
            ended = monotonic()
            verdicts = {session.check(path).state for path in shown()}
            right = monotonic()
            assert verdicts == {"stale"}, verdicts
            told = 0
            while told < 1:
                told += json.loads(watcher.stdout.readline())["kind"] == "git"
            fact = monotonic()
            notice = session.notice(10_000)
            assert notice is not None
            changed = [
                e for e in workspace.timeline(since=position) if e.kind in ("git", "changed")
            ]
        peak = memory_mb(watcher.pid, "VmHWM")
        watcher.terminate()
        watcher.communicate()
        files = len(notice.changes)
        return Switch(
            ended - began, right - ended, fact - ended, len(changed), 1, files, idle, peak
        )


def branch_of(root: str) -> str:
    """The branch that is checked out."""
    return Path(root, ".git", "HEAD").read_text(encoding="ascii").strip().rpartition("/")[2]


def main() -> int:
    """Print the table. 1 when a limit is not kept."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--json", action="store_true")
    asked.add_argument("--rounds", type=int, default=5)
    options = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="sightline-switch-") as folder:
        os.environ["SIGHTLINE_HOME"] = f"{folder}/state"
        os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
        root = f"{folder}/tree"
        os.mkdir(root)
        tree(root)
        rounds = [run(root) for _ in range(options.rounds)]
    kept = all(
        each.right_s <= WITHIN_S
        and (each.facts, each.files) == (1, SHOWN)
        and each.peak_mb <= GROWTH * each.idle_mb
        for each in rounds
    )
    if options.json:
        rows = [each._asdict() for each in rounds]
        print(json.dumps({"schema": 1, "rows": rows, "kept": kept}))
    else:
        for name in Switch._fields:
            values = [getattr(each, name) for each in rounds]
            print(f"{name:10} {median(values):9.3f}   worst {max(values):9.3f}")
        print("kept" if kept else "MISSED")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
