"""Examples in a browser: by keyboard, there and back again."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from offdiag.store.database import Database
from support.browser import served
from support.logging_runs import work_off
from support.registries import dashboard
from support.scored_runs import ScoredRegistry, log_scored, scored_cases

pytestmark = pytest.mark.browser

PHONE = {"width": 320, "height": 844}


def test_enter_on_a_cell_opens_its_examples_and_keys_step_through_cells(
    open_scored: Any, scored: ScoredRegistry
) -> None:
    page: Page = open_scored(f"/runs/{scored.several}?norm=none&order=label").page
    cells = page.locator("table.matrix td[data-cell]")
    cells.first.focus()
    page.keyboard.press("ArrowDown")
    count = page.locator("td:focus").inner_text()

    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=2).first).to_contain_text(f"{count} example")
    expect(page).to_have_url(re.compile(r"pred=cat&true=dog$"))
    before = page.url
    page.keyboard.press("n")
    expect(page).not_to_have_url(before)
    page.keyboard.press("p")

    expect(page).to_have_url(before)


_DISTANCE_FROM_HEAD = """table => {
  const [head, value] = ["th[rowspan]:last-child", "td.quiet"].map(one => table.querySelector(one))
  return value.getBoundingClientRect().left - head.getBoundingClientRect().left
}"""


def test_slices_of_many_classes_are_not_cut_and_the_value_of_all_stays_below_its_head(
    open_at: Any, sqlite_database: Database
) -> None:
    cases = scored_cases(800, labels=[f"species {code:02d}" for code in range(31)])
    sites = [f"site {place % 12:02d}" for place in range(800)]
    run = log_scored(sqlite_database, cases, slices={"site": sites})
    work_off(sqlite_database)
    with served(dashboard(sqlite_database)) as address:
        page = open_at(address, f"/runs/{run}", viewport={"width": 1440, "height": 900}).page

        cut = page.get_by_role("region", name="Table of slices").evaluate(
            "region => region.scrollWidth - region.clientWidth"
        )
        page = open_at(address, f"/runs/{run}/slices", viewport=PHONE).page
        distance = page.locator("table.slice-heat").first.evaluate(_DISTANCE_FROM_HEAD)
    assert cut == 0
    assert abs(distance) < 1
