"""When no file descriptor is left, every verb says so; none ends with a raw OSError."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

VERBS = """
import json, os, resource, sys
import sightline
from sightline.config.settings import Settings

folder, free = sys.argv[1], int(sys.argv[2])
settings = Settings(state_home=f"{folder}/state")
session = sightline.open_session(f"{folder}/work", settings=settings)
session.read("a.py")
position = session._context.store.position()
verbs = {
    "edit": lambda: session.edit("a.py", "one", "uno"),
    "write": lambda: session.write("a.py", "x\\n"),
    "apply": lambda: session.apply([{"path": "c.py", "content": "x"}]),
    "move": lambda: session.move("a.py", "d.py"),
    "read": lambda: session.read("b.py"),
    "check": lambda: session.check("b.py"),
    "find": lambda: session.find("*.py"),
    "related": lambda: session.related("a.py"),
    "briefing": lambda: session.briefing(),
    "checkpoint": lambda: session.checkpoint("x"),
    "claim": lambda: session.claim("a.py", ttl=10),
    "fork": lambda: session.fork(),
    "open": lambda: sightline.open_session(f"{folder}/work", settings=settings),
    "workspace": lambda: sightline.open_workspace(f"{folder}/work", settings=settings),
}
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
for descriptor in held[:free]:
    os.close(descriptor)
ends = {}
for name, verb in verbs.items():
    try:
        verb()
        ends[name] = ""
    except sightline.SightlineError as error:
        ends[name] = ""
    except Exception as error:
        ends[name] = f"{type(error).__name__}: {error}"
for descriptor in held[free:]:
    os.close(descriptor)
session.check("a.py")
ends["afterwards"] = "; ".join(session._context.store.verify())
print(json.dumps(ends))
"""


@pytest.mark.wide
@pytest.mark.skipif(os.name == "nt", reason="no limit of descriptors to set")
@pytest.mark.parametrize(
    "free", [0, 3, *(pytest.param(free, marks=pytest.mark.wide) for free in (1, 2, 4, 5))]
)
def test_a_verb_without_descriptors_ends_with_an_error_of_sightline(tmp_path, free):
    (tmp_path / "work").mkdir()
    for name in ("a.py", "b.py"):
        (tmp_path / "work" / name).write_text("one\ntwo\n")
    done = subprocess.run(
        [sys.executable, "-c", VERBS, str(tmp_path), str(free)],
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
    )
    assert {name: end for name, end in json.loads(done.stdout).items() if end} == {}
