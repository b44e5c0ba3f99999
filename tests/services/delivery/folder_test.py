"""Files of an edition in a folder: whole or not at all, and never outside of where they belong."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from offdiag.services.delivery.message import DeliveryFailed, DeliveryRefused
from offdiag.services.delivery.targets import deliver_to_folder
from offdiag.settings import ReportsSettings
from offdiag.store.reports import stored_file
from support.messages import parcel
from support.processes import started


@pytest.fixture
def settings(tmp_path: Path) -> ReportsSettings:
    return ReportsSettings(folder=str(tmp_path / "reports"))


def names(settings: ReportsSettings, folder: str = "weekly") -> list[str]:
    return sorted(path.name for path in (Path(settings.folder) / folder).iterdir())


def test_all_forms_of_an_edition_are_written(settings: ReportsSettings) -> None:
    sent = parcel()

    deliver_to_folder(sent, "weekly", settings)

    assert names(settings) == [
        f"derm-7-weekly-0041{suffix}" for suffix in (".csv", ".html", ".json", ".md")
    ]
    page = Path(settings.folder) / "weekly" / "derm-7-weekly-0041.html"
    assert page.read_bytes() == sent.file("html").content
    assert page.stat().st_mode & 0o777 == 0o644


def test_a_second_arrival_leaves_the_same_files(settings: ReportsSettings) -> None:
    deliver_to_folder(parcel(), "a/b", settings)
    deliver_to_folder(parcel(), "a/b", settings)

    assert len(names(settings, "a/b")) == 4


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("../../etc/passwd", "etc-passwd-0041.html"),
        ("/abs", "abs-0041.html"),
        ("nul\u202e\U0001f600", "nul-0041.html"),
        ("...", "report-0041.html"),
        (".hidden", "hidden-0041.html"),
        ("x" * 400, f"{'x' * 80}-0041.html"),
    ],
)
def test_hostile_names_become_harmless_files(
    settings: ReportsSettings, name: str, file: str
) -> None:
    deliver_to_folder(parcel(name=name), "weekly", settings)

    assert file in names(settings)


def test_a_link_that_leads_out_is_not_followed(settings: ReportsSettings, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    Path(settings.folder).mkdir()
    (Path(settings.folder) / "link").symlink_to(outside)

    with pytest.raises(DeliveryRefused, match="leads out of"):
        deliver_to_folder(parcel(), "link/deeper", settings)

    assert not list(outside.iterdir())


def test_a_link_as_the_folder_of_reports_itself_is_fine(
    settings: ReportsSettings, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path(settings.folder).symlink_to(tmp_path / "elsewhere")

    deliver_to_folder(parcel(), "weekly", settings)

    assert len(names(settings)) == 4


def test_a_file_where_a_folder_should_be_fails(settings: ReportsSettings) -> None:
    Path(settings.folder).write_text("in the way", encoding="utf-8")

    with pytest.raises(DeliveryFailed, match="reports"):
        deliver_to_folder(parcel(), "weekly", settings)


def test_a_failure_in_between_keeps_the_file_that_was_there(
    settings: ReportsSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver_to_folder(parcel(), "weekly", settings)
    other = stored_file(b"another", kind="html", content_type="text/html")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DeliveryFailed, match="No space left on device"):
        deliver_to_folder(parcel(files=(other,)), "weekly", settings)

    page = Path(settings.folder) / "weekly" / "derm-7-weekly-0041.html"
    assert page.read_bytes() == parcel().file("html").content
    assert len(names(settings)) == 4


@pytest.mark.processes
def test_what_a_killed_delivery_left_is_gone_after_the_next_try(tmp_path: Path) -> None:
    with started("support.faults", "deliver_and_hang", str(tmp_path)) as process:
        process.wait_for_line()
        process.end()
    settings = ReportsSettings(folder=str(tmp_path))
    left = names(settings)

    deliver_to_folder(parcel(), "weekly", settings)

    assert [name for name in left if name.endswith(".part")]
    assert not [name for name in names(settings) if name.endswith(".part")]
    assert len(names(settings)) == 4


def test_unfinished_files_of_others_stay_for_an_hour(settings: ReportsSettings) -> None:
    place = Path(settings.folder) / "weekly"
    place.mkdir(parents=True)
    young, old, foreign = (
        place / name
        for name in (".other-0007.md.a1b2.part", ".other-0008.md.c3d4.part", ".download.part")
    )
    for path in (young, old, foreign):
        path.write_bytes(b"half")
    long_ago = time.time() - 2 * 3_600
    for path in (old, foreign):
        os.utime(path, (long_ago, long_ago))

    deliver_to_folder(parcel(), "weekly", settings)

    assert [young.exists(), old.exists(), foreign.exists()] == [True, False, True]
