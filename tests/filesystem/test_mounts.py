"""The table of mounts is text; what stands where is read from it."""

from __future__ import annotations

import pytest

from sightline.filesystem.mounts import file_system, mounted

TABLE = """/dev/a / ext4 rw 0 0
server:/x /mnt/far\\040away nfs rw 0 0
/dev/b /mnt/far\\040away/near xfs rw 0 0
tmpfs /over tmpfs rw 0 0
host /over 9p rw 0 0

torn
"""


def test_each_mount_is_read_with_its_blanks():
    assert list(mounted(TABLE)) == [
        ("/", "ext4"),
        ("/mnt/far away", "nfs"),
        ("/mnt/far away/near", "xfs"),
        ("/over", "tmpfs"),
        ("/over", "9p"),
    ]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/mnt", "ext4"),
        ("/mnt/far away", "nfs"),
        ("/mnt/far awayish", "ext4"),
        ("/mnt/far away/near/x", "xfs"),
        ("/over/x", "9p"),
    ],
)
def test_the_innermost_and_last_mount_counts(path, kind):
    assert file_system(path, TABLE) == kind
    assert file_system(path, "") is None
