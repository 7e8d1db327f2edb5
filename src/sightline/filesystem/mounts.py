"""The file systems of a machine, read from the text of its table of mounts."""

from __future__ import annotations

from collections.abc import Iterator

TABLE = "/proc/self/mounts"
"""The path of the table on Linux; other systems have none."""

NETWORK = frozenset(
    (
        *("9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fuse.ceph"),
        *("fuse.gcsfuse", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
        *("fuse.vmhgfs-fuse", "gfs2", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4"),
        *("ocfs2", "smb", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"),
    )
)
"""File systems behind which another machine (or the host of this one) may write as well."""


def file_system(real: str, table: str) -> str | None:
    """Return the type of the file system of a path without symlinks; None when no mount holds the path.
    table: the text of TABLE."""
    best, kind = "", None
    for point, named in mounted(table):
        holds = f"{real}/".startswith(f"{point.rstrip('/')}/")
        if holds and len(point) >= len(best):  # of equals, the last one mounted lies on top
            best, kind = point, named
    return kind


def mounted(table: str) -> Iterator[tuple[str, str]]:
    """Yield each mount's folder and file system type, in the order of mounting."""
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) > 2:
            point = fields[1]
            for code in ("040", "011", "012", "134"):  # octal escapes of blanks and the like
                point = point.replace(f"\\{code}", chr(int(code, 8)))
            yield point, fields[2]
