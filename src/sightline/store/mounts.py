"""Whether a folder is on a network: SQLite's log needs memory shared by all who have it open."""

from __future__ import annotations

import os

from sightline.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

NETWORK = frozenset(
    (
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "drvfs",
        "fuse.ceph",
        "fuse.gcsfuse",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
        "gfs2",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
        "vmhgfs",
    )
)
"""File systems behind which another machine (or the host of this one) may write as well."""


def refuse_network(file: str, table: str | None = None) -> None:
    """StoreError when the store would stand on a network file system. table: the text of
    /proc/self/mounts, read when not given; systems without it are told by the path alone."""
    kind = file_system(file, _mounts() if table is None else table)
    if kind in NETWORK or file.startswith(("\\\\", "//")):
        raise StoreError(
            f"The store {file} would be on a network file system ({kind or 'a network share'}),"
            " where its log could be torn.",
            "Set SIGHTLINE_HOME to a folder on a local disk.",
        )


def file_system(path: str, table: str) -> str | None:
    """The file system type that a path stands on; None when no mount holds it."""
    real = os.path.realpath(path)
    best, kind = "", None
    for point, named in _parsed(table):
        holds = f"{real}/".startswith(f"{point.rstrip('/')}/")
        if holds and len(point) >= len(best):  # of equals, the last one mounted lies on top
            best, kind = point, named
    return kind


def _parsed(table: str) -> Iterable[tuple[str, str]]:
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) > 2:
            yield _unescaped(fields[1]), fields[2]


def _unescaped(point: str) -> str:
    """Blanks and the like stand in the table as octal escapes."""
    if "\\" in point:
        for code in ("040", "011", "012", "134"):
            point = point.replace(f"\\{code}", chr(int(code, 8)))
    return point


def _mounts() -> str:
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except FileNotFoundError:  # not Linux
        return ""
