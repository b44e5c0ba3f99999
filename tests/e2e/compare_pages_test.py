"""Comparisons in a browser: a way through, by keyboard too, and what is copied."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.browser import cut_regions, width_on_a_small_screen
from support.compared import ComparedRegistry

pytestmark = pytest.mark.browser

CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture
def pair(compared: ComparedRegistry) -> str:
    """The page of two runs."""
    return f"/compare?{compared.pair}"


def test_what_is_ticked_survives_another_filter(open_compared: Any) -> None:
    seen = open_compared("/runs?q=dataset:derm plain")
    page: Page = seen.page
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_text("1 selected")).to_be_visible()

    page.get_by_role("searchbox", name="Filter").fill("dataset:derm almost")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.get_by_role("checkbox", name="Select almost focal").check()
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("button", name="Compare").click()

    expect(page.locator(".run-name").first).to_contain_text("plain CE")
    expect(page.locator(".run-name").last).to_contain_text("almost focal")
    seen.expect_no_complaints()


def test_the_difference_matrix_is_one_tab_stop_s_swaps_and_g_m_leads_here(
    open_compared: Any, pair: str
) -> None:
    page: Page = open_compared(pair).page
    before = page.get_by_role("note").first.inner_text()
    cells = page.locator("table.matrix-difference td[data-cell]")

    expect(page.locator("table.matrix-difference td[tabindex='0']")).to_have_count(1)
    cells.first.focus()
    page.keyboard.press("End")
    expect(cells.nth(2)).to_be_focused()

    page.keyboard.press("s")
    expect(page.get_by_role("note").first).not_to_have_text(before)
    page.wait_for_load_state()  # Keys work once its script has run.
    page.keyboard.press("g")
    page.keyboard.press("m")

    expect(page).to_have_url(re.compile("/compare$"))


def test_markdown_link_and_card_are_copied_or_the_card_is_saved(
    open_compared: Any, compared_url: str, pair: str
) -> None:
    page: Page = open_compared(pair, permissions=CLIPBOARD).page
    copy = page.get_by_role("link", name="Copy picture")

    page.keyboard.press("e")
    page.get_by_role("link", name="Copy link").click()
    expect(page.locator("#announcement")).to_have_text("link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("link", name="Copy as Markdown").click()
    expect(page.locator("#announcement")).to_have_text("as Markdown copied")
    text = page.evaluate("navigator.clipboard.readText()")
    copy.click()
    expect(page.locator("#announcement")).to_have_text("picture copied")
    width = page.evaluate(
        """async () => {
            const [item] = await navigator.clipboard.read();
            return (await createImageBitmap(await item.getType("image/png"))).width;
        }"""
    )
    page.evaluate("() => { delete window.ClipboardItem; }")
    with page.expect_download() as saved:
        copy.click()

    assert link == f"{compared_url}{pair}"
    assert "| Accuracy |" in text
    assert f"<{link}>" in text
    assert width == 2400
    assert saved.value.suggested_filename == "offdiag-card.png"


def test_a_copied_table_has_a_line_for_each_row_and_one_cell_for_two_numbers(
    open_compared: Any, pair: str
) -> None:
    page: Page = open_compared(pair, permissions=CLIPBOARD).page

    page.evaluate(
        """() => {
            const body = document.querySelector("table.data:has(td .sub)").tBodies[0];
            const [first, last] = [body.rows[0].cells[0], body.rows[1].cells[4]];
            getSelection().setBaseAndExtent(first, 0, last, last.childNodes.length);
        }"""
    )
    page.keyboard.press("Control+c")
    text = page.evaluate("navigator.clipboard.readText()")
    in_html = page.evaluate(
        """async () => {
            const [item] = await navigator.clipboard.read();
            const text = await (await item.getType("text/html")).text();
            const rows = new DOMParser().parseFromString(text, "text/html").querySelectorAll("tr");
            return [...rows].map((row) => [...row.cells].map((cell) => cell.textContent));
        }"""
    )

    rows = [line.split("\t") for line in text.split("\n")]
    assert rows == in_html
    assert [len(row) for row in rows][1:] == [5]
    assert rows[0][0] == "Accuracy"
    assert re.fullmatch(r"\S+ to \S+ \S+ to \S+", rows[0][4])


def test_a_long_class_name_in_the_choice_of_curves_fits_a_phone(
    open_compared: Any, pair: str
) -> None:
    seen = open_compared(pair)
    seen.page.locator("#curves").evaluate(
        "select => select.add(new Option('a class whose name is longer than a phone is wide'))"
    )

    assert width_on_a_small_screen(seen) <= 320


def test_high_contrast_keeps_worse_and_certain_apart(open_compared: Any, pair: str) -> None:
    page: Page = open_compared(pair, forced_colors="active").page
    swatches = page.evaluate(
        """() => [...document.querySelectorAll(".churn-legend .swatch")].map((swatch) =>
            getComputedStyle(swatch).backgroundColor)"""
    )
    assert len(set(swatches)) == 4

    widths = page.evaluate(
        """() => ["td.certain", "td[data-cell]:not(.certain)"].map((cell) =>
            getComputedStyle(
                document.querySelector(`table.matrix-difference ${cell}`)
            ).borderTopWidth)"""
    )
    notch = page.evaluate(
        """() => getComputedStyle(
            document.querySelector("td.worse"), "::after").borderTopWidth"""
    )

    assert widths == ["3px", "1px"]
    assert notch == "7px"


def test_the_number_of_examples_stays_beside_a_wide_difference_matrix(
    open_compared: Any, compared: ComparedRegistry
) -> None:
    """Cut at the edge of its card, 120 would be read as 12."""
    both = f"/compare?runs={compared.large},{compared.larger}"
    page: Page = open_compared(both, viewport={"width": 390, "height": 844}).page

    # What a phone draws at the right end of each line is the number itself.
    hidden = page.eval_on_selector_all(
        "table.matrix-difference td.total",
        """cells => {
            const region = cells[0].closest(".scrollx");
            const end = region.getBoundingClientRect().right;
            return [region.scrollWidth > region.clientWidth,
                    cells.filter(cell => cell.getBoundingClientRect().right > end + 1).length];
        }""",
    )

    assert hidden == [True, 0]


def test_tables_of_three_runs_fit_a_phone(open_compared: Any, compared: ComparedRegistry) -> None:
    three = f"/compare?{compared.runs('plain', 'focal', 'almost')}"
    page: Page = open_compared(three, viewport={"width": 390, "height": 844}).page

    expect(page.get_by_role("cell", name="Accuracy").first).to_be_visible()
    assert cut_regions(page) == []


def test_a_comparison_of_three_runs_is_as_wide_as_its_paper(
    open_compared: Any, compared: ComparedRegistry
) -> None:
    runs = f"{compared.plain},{compared.focal},{compared.almost}"
    page = open_compared(f"/compare?runs={runs}").page
    page.set_viewport_size({"width": 703, "height": 1009})  # A4 less the margins

    page.emulate_media(media="print")

    assert page.evaluate("document.documentElement.scrollWidth") == 703
