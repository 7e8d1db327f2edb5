"""What an error has to say, and what only root can set up."""

import errno
import os
import subprocess
import sys

import pytest

from sightline import PathRefused, SightlineError

root_only = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts and devices are root's"
)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux's own")


def speaks(error: SightlineError) -> None:
    """The message and the hint are whole sentences, and neither is a traceback's."""
    for said in (error.message, error.hint):
        assert said
        assert said.strip().endswith((".", "?", ")")), said
        assert "Traceback" not in said
        assert "[Errno" not in said


def refused(act, kind=PathRefused, reason=None):
    """The one error that `act` ends in, which speaks."""
    with pytest.raises(kind) as caught:
        act()
    speaks(caught.value)
    if reason is not None:
        assert caught.value.reason == reason
    return caught.value


def mounts(place):
    """A function that mounts a small disk of its own at a folder; for a fixture to yield from."""
    mounted = []

    def mount(path, options):
        os.makedirs(path, exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("mounting is not allowed here")
        mounted.append(path)

    yield mount
    for session in place.opened:
        session.close()
    for path in reversed(mounted):
        subprocess.run(["umount", str(path)], check=True)


def fill_up(path):
    """Write until the disk that holds `path` is full."""
    with path.open("wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 512):
                pass
        except OSError as full:
            if full.errno != errno.ENOSPC:
                raise
