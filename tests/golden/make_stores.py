"""How the stores in stores/ were made: run once, with version 0.1.0, from the root of the repository.

    python -m tests.golden.make_stores

The stores are never made again. They show that today's code reads what 0.1.0 wrote, so a store
that today's code made would show nothing. This script uses insides of 0.1.0 (the clock, and where
a store lies), and need not run with any later version.

Each story runs in a process of its own, on a machine with a name of its own, in June 2025. So its
sessions are gone and its claims have run out, wherever and whenever somebody asks.
"""

from __future__ import annotations

import importlib
import io
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "stores"
VERSION = "0.1.0"
REWIND_DIES_AT = 110
"""At which of its calls to the disk the rewind is killed: when one of its two files is back."""

BEGAN_NS = 1_748_772_000_000_000_000  # 2025-06-01T10:00:00Z


def main() -> None:
    if len(sys.argv) == 3:
        _story(sys.argv[1], Path(sys.argv[2]))
        return
    FOLDER.mkdir(exist_ok=True)
    for name in ("small", "conversation", "history", "aborted"):
        with tempfile.TemporaryDirectory() as folder:
            words = [sys.executable, "-m", "tests.golden.make_stores", name, folder]
            subprocess.run(words, check=True)
            pack(Path(folder), FOLDER / f"{name}.tar.xz")


def pack(folder: Path, archive: Path) -> None:
    """The same bytes for the same files: no times, no owners, in order."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(folder.rglob("*")):
            if path.is_file() or path.is_symlink():
                info = tar.gettarinfo(path, str(path.relative_to(folder)))
                info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
                with path.open("rb") if info.isreg() else io.BytesIO() as file:
                    tar.addfile(info, file)
    archive.write_bytes(lzma.compress(held.getvalue(), preset=9))


def _die_in_a_rewind(root: Path) -> None:
    """A process that is killed in the middle of a rewind of the session "dying"."""
    from tests.workspace.doubles import dying

    import sightline

    child = os.fork()
    if not child:
        with sightline.open_session(root, id="dying") as session:
            workspace: Any = session._ground.workspace
            workspace._calls = dying(REWIND_DIES_AT)
            session.rewind("before")
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def _story(name: str, folder: Path) -> None:
    """Run a story, and leave its project and its store in a folder."""
    real_ns, start_ns = time.time_ns, time.time_ns()
    time.time_ns = lambda: BEGAN_NS + real_ns() - start_ns
    time.time = lambda: time.time_ns() / 1e9
    from tests.golden import told_stores
    from tests.golden.running import Place
    from tests.golden.telling import Story

    import sightline

    machine: Any = importlib.import_module("sightline.workspace.process")
    machine._machine = lambda: "a-machine-of-2025"
    assert sightline.__version__ == VERSION, "the stores are never made again"
    place = Place(git=name == "history")
    try:
        os.environ.clear()
        os.environ.update(place.environ)
        os.chdir(place.root)
        told_stores.MADE[name](Story(place))
        if name == "aborted":
            _die_in_a_rewind(place.root)
        (store,) = (place.home / ".local/state/sightline/workspaces").glob("*/store.db")
        shutil.rmtree(store.parent / "locks", ignore_errors=True)
        shutil.copytree(store.parent, folder / "store")
        shutil.rmtree(place.root / ".git")
        shutil.copytree(place.root, folder / "project", symlinks=True)
        for file in (folder / "store").rglob("*"):
            assert not file.is_file() or str(place.home).encode() not in file.read_bytes(), file
    finally:
        place.close()


if __name__ == "__main__":
    main()
