"""Examples in a browser: by keyboard, there and back again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.browser import served
from support.logging_runs import work_off
from support.registries import dashboard, shared_registry
from support.scored_runs import ScoredRegistry, log_scored, scored_cases

pytestmark = pytest.mark.browser


def test_from_a_cell_to_its_examples_to_the_next_cell_and_back(
    open_scored: Any, scored: ScoredRegistry
) -> None:
    seen = open_scored(f"/runs/{scored.several}?norm=none")
    page: Page = seen.page
    errors = page.get_by_role("region", name="Table of errors")

    errors.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=2).first).to_contain_text("examples, actual")
    first = page.url
    page.get_by_role("link", name="Next cell").click()
    expect(page.get_by_text(re.compile("error 2 of"))).to_be_visible()
    page.get_by_role("link", name="Previous cell").click()
    expect(page).to_have_url(first)
    for _ in range(3):
        page.go_back()

    expect(page.locator("table.matrix")).to_be_visible()
    seen.expect_no_complaints()


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


def test_the_links_of_a_matrix_are_no_stops_of_their_own(
    open_scored: Any, scored: ScoredRegistry
) -> None:
    page: Page = open_scored(f"/runs/{scored.several}").page

    expect(page.locator("table.matrix td[tabindex='0']")).to_have_count(1)
    expect(page.locator("table.matrix a:not([tabindex='-1'])")).to_have_count(0)


def test_slices_of_many_classes_are_not_cut_beside_the_map(
    open_at: Any, migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with shared_registry(migrated_file, tmp_path_factory, "many") as database:
        cases = scored_cases(800, labels=[f"species {code:02d}" for code in range(31)])
        run = log_scored(database, cases)
        work_off(database)
        with served(dashboard(database)) as address:
            page = open_at(address, f"/runs/{run}", viewport={"width": 1440, "height": 900}).page

            cut = page.get_by_role("region", name="Table of slices").evaluate(
                "region => region.scrollWidth - region.clientWidth"
            )
    assert cut == 0
