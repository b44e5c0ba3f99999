"""Groups of classes in a browser: by keyboard, accessible and narrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from support.browser import (
    CLEAN,
    served,
    violations_in_both_themes,
    width_on_a_small_screen,
)
from support.grouped import GroupedRegistry, fill_grouped
from support.kinds import Files
from support.registries import dashboard

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def grouped(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GroupedRegistry]:
    """Classes in groups."""
    with files.new(tmp_path_factory.mktemp("grouped")) as database:
        yield fill_grouped(database)


@pytest.fixture(scope="module")
def grouped_url(grouped: GroupedRegistry) -> Iterator[str]:
    """Address of the dashboard over that registry."""
    with served(dashboard(grouped.database)) as address:
        yield address


def test_groups_collapse_by_keyboard_and_the_page_stays_accessible(
    open_at: Any, grouped: GroupedRegistry, grouped_url: str
) -> None:
    checked = open_at(grouped_url, f"/runs/{grouped.first}?norm=none")
    page = checked.page

    page.get_by_role("link", name=re.compile("animal.*collapse 2 classes")).first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=re.compile("animal.*expand 2 classes"))).to_have_count(2)
    first = page.locator("table.matrix td[data-cell]").first
    first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("table.matrix .is-crossed").first).to_be_visible()
    assert violations_in_both_themes(checked) == CLEAN
    assert width_on_a_small_screen(checked) <= 320

    page.locator("table.matrix td[data-cell] a").first.click()
    expect(page.locator("main")).to_contain_text("81 examples, actual “animal”")
    checked.expect_no_complaints()
