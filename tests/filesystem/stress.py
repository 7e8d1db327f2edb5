"""Two writers that compare and replace, and an editor that saves in place, all on one file.

Run by test_stress.py with few rounds and by hand or from bench/ with many:
SIGHTLINE_TEST_STRESS=500 pytest tests/filesystem/test_stress.py
"""

import os
import time
import traceback

from tests.filesystem.doubles import replace_if

from sightline.errors import Unverifiable
from sightline.filesystem.disk import DiskWorkspace
from sightline.model.revision import revision_of

NAME = "file"


def stress(folder, rounds, calls=None):
    """The editor's saves that are lost: not on disk at the end, not returned to a writer as what
    it found or replaced, and not overwritten by a later save of the editor. Empty when all is
    well. Answers also how many replaces went through."""
    root = os.path.join(folder, "root")
    os.makedirs(root, exist_ok=True)
    with open(os.path.join(root, NAME), "wb") as file:
        file.write(b"start")
    children = [_child(_write, root, folder, f"w{n}", rounds, calls) for n in range(2)]
    children.append(_child(_edit, root, folder, "editor", rounds, calls))
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0, 0, 0], codes
    return _lost(root, folder)


def _child(work, *arguments):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(*arguments)
            code = 0
        except BaseException:  # noqa: BLE001 - the parent sees only an exit code
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def _write(root, folder, who, rounds, calls):
    """Append a line to whatever stands there; log each text that it found, and each it wrote."""
    workspace = DiskWorkspace(root, os.path.join(folder, "state"), calls=calls)
    with open(os.path.join(folder, f"{who}.log"), "w", buffering=1) as log:
        for number in range(rounds):
            with workspace.lock(NAME):
                found = workspace.read(NAME)
                while True:
                    if found.kind != "file":
                        found = workspace.read(NAME)
                        continue
                    _log(log, "found", found.data)
                    new = (found.data or b"")[-2000:] + f"\n{who} {number}".encode()
                    try:
                        answer = replace_if(workspace, NAME, found.revision, new, token=who)
                    except Unverifiable:
                        # The editor was faster in every round: the file is as it was.
                        found = workspace.read(NAME)
                        continue
                    if answer.revision == revision_of(new):
                        _log(log, "wrote", new)
                        break
                    found = answer


def _edit(root, folder, who, rounds, _calls):
    """Save in place, in three ways, each with a mark of its own; log what was overwritten."""
    path = os.path.join(root, NAME)
    with open(os.path.join(folder, f"{who}.log"), "w", buffering=1) as log:
        for number in range(rounds):
            mark = f"<{number:06}>".encode()
            (_append, _overwrite, _truncate)[number % 3](path, mark, log)
            log.write(f"saved {mark.hex()}\n")
            time.sleep(0.0007 * (number % 4))


def _append(path, mark, log):
    with open(path, "ab") as file:
        file.write(mark)


def _overwrite(path, mark, log):
    with open(path, "r+b") as file:
        _log(log, "overwrote", file.read())
        file.seek(0)
        file.truncate()
        file.write(mark)


def _truncate(path, mark, log):
    # What a writer replaces between these two opens is in that writer's log.
    with open(path, "rb") as file:
        _log(log, "overwrote", file.read())
    with open(path, "wb") as file:
        file.write(mark)


def _log(log, what, data):
    log.write(f"{what} {data.hex()}\n")


def _lost(root, folder):
    with open(os.path.join(root, NAME), "rb") as file:
        known = [file.read()]
    saved: list[bytes] = []
    replaced = 0
    for who in ("w0", "w1", "editor"):
        with open(os.path.join(folder, f"{who}.log")) as log:
            for line in log:
                what, _, data = line.rstrip("\n").partition(" ")
                (saved if what == "saved" else known).append(bytes.fromhex(data))
                replaced += what == "wrote"
    everything = b"\n".join(known)
    return [mark for mark in saved if mark not in everything], replaced
