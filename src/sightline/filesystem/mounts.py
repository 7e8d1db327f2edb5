"""What file systems a machine has where, from the text of its table of mounts."""

from __future__ import annotations

from collections.abc import Iterator

TABLE = "/proc/self/mounts"
"""Where Linux keeps the table; other systems have none."""

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


def file_system(real: str, table: str) -> str | None:
    """The file system type that a path without symlinks stands on; None when no mount holds it.
    table: the text of TABLE."""
    best, kind = "", None
    for point, named in mounted(table):
        holds = f"{real}/".startswith(f"{point.rstrip('/')}/")
        if holds and len(point) >= len(best):  # of equals, the last one mounted lies on top
            best, kind = point, named
    return kind


def mounted(table: str) -> Iterator[tuple[str, str]]:
    """Each mount's folder and file system type, in the order they were mounted."""
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
