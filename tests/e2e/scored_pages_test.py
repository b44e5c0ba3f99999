"""Examples and curves in a browser: accessible, narrow, by keyboard, there and back again."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from offdiag.domain.texts import name_segment
from support.browser import expect_sound_page
from support.dashboard import HOSTILE_NAMES
from support.scored_runs import ScoredRegistry

pytestmark = pytest.mark.browser

PAGES = (
    *("several/examples?show=all", "event/examples?true=fraud&pred=fine"),
    *("hostile/examples", "several/examples?id=nothing"),
    *("event/curves?prevalence=0.2", "several/curves", "hostile/curves", "margins/curves"),
    *("several/", "several/slices", "hostile/", "hostile/slices"),
    *("event/decisions&set=fraud>fine:12", "several/decisions", "hostile/decisions"),
)
ONE_OF_EACH_KIND = {
    *("several/examples?show=all", "event/curves?prevalence=0.2", "several/slices"),
    "event/decisions&set=fraud>fine:12",
}
"""With other data, the themes have the same colours."""
ACCESSIBLE = {
    *ONE_OF_EACH_KIND,
    *("several/examples?id=nothing", "several/curves", "several/", "several/decisions"),
}
"""Templates of the others are those of these."""


@pytest.mark.parametrize("place", PAGES)
def test_a_page_is_accessible_narrow_and_breaks_no_policy(
    open_scored: Any, scored: ScoredRegistry, place: str
) -> None:
    which, _, tab = place.partition("/")
    path = f"/runs/{getattr(scored, which)}/{tab}".rstrip("/")
    if tab.startswith("decisions"):
        asked = tab.removeprefix("decisions")
        path = f"/whatif/decisions?run={getattr(scored, which)}&cost=@0-1{asked}"

    expect_sound_page(
        open_scored,
        path,
        also_without_scripts=False,
        also_dark=place in ONE_OF_EACH_KIND,
        also_accessible=place in ACCESSIBLE,
    )


@pytest.mark.parametrize("tab", ["suspects", "content"])
@pytest.mark.parametrize("dataset", ["scored", HOSTILE_NAMES[0]])
def test_a_page_of_samples_is_accessible_narrow_and_breaks_no_policy(
    open_scored: Any, dataset: str, tab: str
) -> None:
    path = f"/datasets/{name_segment(dataset)}/{tab}"

    is_one = dataset == "scored"
    expect_sound_page(
        open_scored, path, also_without_scripts=False, also_dark=is_one, also_accessible=is_one
    )


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
