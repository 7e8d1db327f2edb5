"""No store on a file system that another machine may write to."""

from __future__ import annotations

import pytest

from sightline.errors import StoreError
from sightline.filesystem.mounts import NETWORK, file_system
from sightline.store.network_folders import refuse_network

TABLE = r"""/dev/vda / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
server:/export /mnt/ada nfs4 rw,vers=4.2 0 0
/dev/vdb /mnt/ada/local ext4 rw 0 0
//nas/my\040share /mnt/my\040share cifs rw 0 0
C:\134 /mnt/c 9p rw,aname=drvfs 0 0
me@host: /mnt/ssh fuse.sshfs rw 0 0
/dev/vdc /over ext4 rw 0 0
server:/x /over nfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/store.db", "ext4"),
        ("/mnt/ada/me/store.db", "nfs4"),
        ("/mnt/ada", "nfs4"),
        ("/mnt/adawork/store.db", "ext4"),
        ("/mnt/ada/local/store.db", "ext4"),
        ("/mnt/my share/store.db", "cifs"),
        ("/mnt/c/Users/me/store.db", "9p"),
        ("/mnt/ssh/store.db", "fuse.sshfs"),
        ("/over/store.db", "nfs"),
    ],
)
def test_the_innermost_mount_says_what_a_path_stands_on(path, kind):
    assert file_system(path, TABLE) == kind
    if kind in NETWORK:
        with pytest.raises(StoreError, match=kind) as caught:
            refuse_network(path, TABLE)
        assert "SIGHTLINE_HOME" in caught.value.hint
    else:
        refuse_network(path, TABLE)


def test_a_network_share_is_told_by_its_name_where_there_is_no_table():
    refuse_network("/Users/me/store.db", "")
    with pytest.raises(StoreError, match="network"):
        refuse_network(r"\\server\share\store.db", "")


def test_a_symlink_to_a_network_folder_does_not_hide_it(tmp_path):
    (tmp_path / "link").symlink_to("/mnt/ada")
    with pytest.raises(StoreError, match="nfs4"):
        refuse_network(str(tmp_path / "link" / "store.db"), TABLE)


def test_the_machine_this_runs_on_has_a_table_or_none(tmp_path):
    refuse_network(str(tmp_path / "store.db"))
