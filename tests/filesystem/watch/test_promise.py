"""Nothing is lost: whatever is done to a tree, in whatever order and however seldom anybody looks,
what changed is named, or a folder above it is, or everything is."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.filesystem.watch.seeing import all_of, watching
from tests.support.examples import examples

from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.watch.watcher import Hints

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)

STORM = "import sys\nfrom tests.filesystem.watch.test_promise import *\n"

NAMES = ["a", "b", "c", "x.log", "out"]
PLACES = [*NAMES, *(f"{one}/{two}" for one in NAMES for two in NAMES), "a/b/c", "a/b/a", "b/c/a/b"]
place = st.sampled_from(PLACES)
act = st.one_of(
    st.tuples(st.just("write"), place, place),
    st.tuples(st.just("folder"), place, place),
    st.tuples(st.just("remove"), place, place),
    st.tuples(st.just("rename"), place, place),
    st.tuples(st.just("link"), place, place),
    st.tuples(st.just("ignore"), st.sampled_from(["", "a/", "b/c/"]), st.sampled_from(NAMES)),
    st.tuples(st.just("nest"), st.sampled_from(["a", "b/c"]), place),
    st.tuples(st.just("look"), place, place),
)


def do(root: Path, what: str, one: str, two: str) -> None:
    """One act; those that cannot be done here change nothing."""
    here, there = root / one, root / two
    try:
        if what == "write":
            here.write_text(two)
        elif what == "folder":
            here.mkdir(parents=True)
        elif what == "remove":
            shutil.rmtree(here) if here.is_dir() and not here.is_symlink() else here.unlink()
        elif what == "rename":
            here.rename(there)
        elif what == "link":
            here.symlink_to(there)
        elif what == "ignore":
            (root / one / ".gitignore").write_text(f"{two}\n")
        elif what == "nest":
            (here / ".git").mkdir()
    except OSError:
        return


def files_on_disk(root: Path) -> dict[str, tuple[object, bytes]]:
    """The listed files, with their contents."""
    return {
        path: (signature, (root / path).read_bytes())
        for path, signature in DiskWorkspace(str(root), f"{root}-state").walk()
    }


@pytest.mark.wide
@given(st.lists(act, max_size=8), st.lists(act, max_size=12))
@settings(deadline=None, max_examples=examples(150))
def test_what_changed_is_named_or_stood_for(before, acts):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder))
        (root / ".gitignore").write_text("*.log\nout/\n")
        for step in before:
            do(root, *step)
        with watching(root) as watcher:
            known = files_on_disk(root)
            for what, one, two in [*acts, ("look", "", "")]:
                do(root, what, one, two)
                if what != "look":
                    continue
                hints, now = all_of(watcher), files_on_disk(root)
                changed = {p for p in known.keys() | now.keys() if known.get(p) != now.get(p)}
                assert hints.everything or all(stood_for(p, hints.paths) for p in changed)
                known = now


def stood_for(path: str, hints: frozenset[str]) -> bool:
    parts = path.split("/")
    return any("/".join(parts[:end]) in hints for end in range(1, len(parts) + 1))


def storm(root: Path, seed: int) -> None:
    """Folders and files made, written, renamed and removed as fast as it goes."""
    chance = random.Random(seed)
    for number in range(1500):
        one = f"d{chance.randrange(6)}/e{chance.randrange(4)}/{chance.choice('fgh')}"
        two = f"d{chance.randrange(6)}/{chance.choice('mno')}"
        (root / one).parent.mkdir(parents=True, exist_ok=True)
        kind = chance.choice(["write", "write", "write", "folder", "rename", "rename", "remove"])
        do(root, kind, two if kind == "remove" else one, f"{two}{number % 7}")


@pytest.mark.wide
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.wide) for seed in (1, 2))]
)
def test_a_view_kept_by_hints_while_a_storm_goes_on_ends_as_the_disk_is(tmp_path, seed):
    """Hints are about a tree that has gone on since: what counts is where one ends."""
    root = (tmp_path / "root").resolve()
    for folder in range(6):
        (root / f"d{folder}").mkdir(parents=True)
    with watching(root) as watcher:
        view: dict[str, object] = {}
        child = subprocess.Popen(
            [sys.executable, "-c", f"{STORM}storm(Path(sys.argv[1]), {seed})", str(root)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        while True:
            ended = child.poll() is not None
            hints = watcher.wait(0 if ended else 0.05)
            if hints is not None:
                look(root, view, hints)
            elif ended:
                break
        assert child.returncode == 0
        assert view
        assert view == dict(DiskWorkspace(str(root), f"{root}-state").walk())


def look(root: Path, view: dict[str, object], hints: Hints) -> None:
    """What a hint asks for: look at what it names and at all below."""
    named = [""] if hints.everything else sorted(hints.paths)
    for path in named:
        for known in [k for k in view if not path or k == path or k.startswith(f"{path}/")]:
            del view[known]
        listed = DiskWorkspace(str(root), f"{root}-state").walk()
        view |= {p: seen for p, seen in listed if not path or f"{p}/".startswith(f"{path}/")}
