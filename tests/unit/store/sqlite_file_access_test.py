"""On which file system a file lies, by the table of mounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag.errors import DatabaseUnavailable
from offdiag.store import sqlite
from offdiag.store.sqlite import file_system_of, require_local

MOUNTS = r"""/dev/vda1 / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
/dev/vdb /home/ada/scratch xfs rw 0 0
//nas/share /mnt/my\040data cifs rw 0 0
tmpfs /mnt/twice tmpfs rw 0 0
server:/twice /mnt/twice nfs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/data/registry.db", "ext4"),
        ("/home/ada/registry.db", "nfs4"),
        ("/home/ada/scratch/registry.db", "xfs"),
        ("/home/ada/scratchy/registry.db", "nfs4"),
        ("/homework/registry.db", "ext4"),
        ("/mnt/my data/registry.db", "cifs"),
        ("/mnt/twice/registry.db", "nfs"),
    ],
)
def test_the_innermost_and_latest_mount_counts(path: str, kind: str) -> None:
    assert file_system_of(Path(path), MOUNTS) == kind


def test_without_mounts_the_kind_is_unknown() -> None:
    assert file_system_of(Path("/data/registry.db"), "") is None


@pytest.mark.parametrize(
    ("path", "kind"), [("/home/ada/registry.db", "nfs4"), ("/mnt/my data/registry.db", "cifs")]
)
def test_a_network_share_is_refused_with_the_way_out(
    path: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mounts"
    table.write_text(MOUNTS)
    monkeypatch.setattr(sqlite, "_MOUNTS", table)

    with pytest.raises(DatabaseUnavailable, match=rf"network share \({kind}\)") as refusal:
        require_local(Path(path))

    assert "PostgreSQL" in str(refusal.value.hint)


def test_where_mounts_cannot_be_told_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_MOUNTS", tmp_path / "missing")

    require_local(tmp_path / "registry.db")
