"""A file has its name once it is whole, and what was begun and not ended goes away."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from offdiag.errors import Conflict, InvalidInput, StorageFull
from offdiag.store.archive.whole_file import remove_abandoned, whole_file


def refuse(*_: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_until_the_end_the_name_is_free(tmp_path: Path) -> None:
    with whole_file(tmp_path / "x.zip", private=False) as stream:
        stream.write(b"half")
        during = names(tmp_path)
        stream.write(b" and half")

    assert len(during) == 1
    assert during[0].startswith(".x.zip.")
    assert names(tmp_path) == ["x.zip"]
    assert (tmp_path / "x.zip").read_bytes() == b"half and half"


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with whole_file(tmp_path / "x.zip", private=False) as stream:
            stream.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageFull, match="cannot be written: the disk is full"):
        fail()

    assert names(tmp_path) == []


def test_a_file_that_is_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("precious")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")

    for name in ("x.zip", "dangling"):
        with pytest.raises(Conflict, match="exists"), whole_file(tmp_path / name, private=False):
            pass

    assert (tmp_path / "x.zip").read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    if not has_links:
        monkeypatch.setattr(os, "link", refuse)

    def write_beside_another() -> None:
        with whole_file(tmp_path / "x.zip", private=False) as stream:
            stream.write(b"ours")
            (tmp_path / "x.zip").write_text("theirs")

    with pytest.raises(Conflict, match="exists"):
        write_beside_another()

    assert names(tmp_path) == ["x.zip"]
    assert (tmp_path / "x.zip").read_text() == "theirs"


def test_a_disk_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", refuse)

    with whole_file(tmp_path / "x.zip", private=True) as stream:
        stream.write(b"whole")

    assert (tmp_path / "x.zip").read_bytes() == b"whole"


def test_a_folder_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with (
        pytest.raises(InvalidInput, match="No such file or directory"),
        whole_file(tmp_path / "nowhere" / "x.zip", private=False),
    ):
        pass


def test_what_killed_processes_left_goes_after_an_hour(tmp_path: Path) -> None:
    abandoned = [".x.zip.0a.part", ".x[1].zip.0a.part"]
    kept = [".x.zip.0b.part", ".other.zip.0a.part", "x.zip.0a.part"]
    for name in abandoned + kept:
        (tmp_path / name).touch()
    for name in [*abandoned, ".other.zip.0a.part", "x.zip.0a.part"]:
        os.utime(tmp_path / name, (0, 0))

    for name in ("x.zip", "x[1].zip"):
        with whole_file(tmp_path / name, private=False):
            pass

    assert names(tmp_path) == sorted([*kept, "x.zip", "x[1].zip"])


def test_a_pattern_may_say_which_names(tmp_path: Path) -> None:
    for name in (".a-1.zip.0a.part", ".b-1.zip.0a.part"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))

    remove_abandoned(tmp_path, "a-*.zip")

    assert names(tmp_path) == [".b-1.zip.0a.part"]
