"""The gallery looks as it did when somebody last looked at it, pixel by pixel."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from offdiag.store.database import Database
from support.browser import served
from support.gallery.addresses import PAGES
from support.registries import dashboard
from support.snapshots import (
    COMMAND,
    FOLDER,
    LOOKS,
    difference_picture,
    picture_of,
    recorded,
    recorded_machine,
    share_of_different_pixels,
    taken,
    this_machine,
)

pytestmark = pytest.mark.browser
TOLERANCE = 0.001


@pytest.fixture
def gallery(sqlite_database: Database) -> Iterator[str]:
    """Address of a dashboard over an empty registry."""
    with served(dashboard(sqlite_database)) as address:
        yield address


def test_every_component_looks_as_it_did(browser: Browser, gallery: str) -> None:
    here, there = this_machine(browser, gallery), recorded_machine()
    if here != there:
        pytest.skip(
            f"pixels were recorded with {there.said()} and this is {here.said()}; "
            f"`{COMMAND}` records them anew"
        )
    changed = []

    for picture in taken(browser, gallery):
        before = recorded(picture.name)
        share = share_of_different_pixels(before, picture.pixels)
        if share > TOLERANCE:
            folder = Path(tempfile.mkdtemp(prefix="offdiag-snapshots-"))
            difference_picture(before, picture.pixels).save(folder / picture.name)
            changed.append(f"{picture.name}: {share:.2%} of its pixels, see {folder}")

    assert changed == [], f"if they are meant: `{COMMAND}`, and look at them"


def test_there_is_a_picture_of_every_page_in_every_look_and_no_other() -> None:
    expected = {f"{name}-{look}.png" for name in PAGES for look in LOOKS}

    assert {file.name for file in FOLDER.glob("*.png")} == expected
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 500_000


def test_one_cell_of_another_colour_is_noticed() -> None:
    before = recorded("matrices-light.png")
    now = before.copy()
    now[1000:1025, 100:170] = 0  # About one cell of the largest matrix in the middle of it.

    share = share_of_different_pixels(before, now)

    assert share > TOLERANCE
    assert share_of_different_pixels(before, before) == 0
    assert share_of_different_pixels(before, before[1:]) == 1
    shown = np.asarray(difference_picture(before, now))
    assert (shown[1010, 2 * before.shape[1] + 120] == (255, 0, 0)).all()


def test_a_picture_keeps_every_pixel_and_its_palette(tmp_path: Path) -> None:
    pixels = recorded("charts-dark.png")

    picture_of(pixels).save(tmp_path / "again.png")

    assert (tmp_path / "again.png").stat().st_size < 100_000
    assert pixels.max() < 252
