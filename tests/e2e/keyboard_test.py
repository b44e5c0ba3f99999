"""Everything by keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.browser import CLEAN, violations_in_both_themes
from support.dashboard import LesionRegistry

pytestmark = pytest.mark.browser


def test_the_whole_matrix_is_one_tab_stop(open_page: Any, registry: LesionRegistry) -> None:
    page = open_page(f"/runs/{registry.plain}").page

    stops = _tab_through(page)

    in_matrix = [stop for stop in stops if stop.startswith("matrix:")]
    assert in_matrix == ["matrix:98798%"]
    assert stops[0] == "Skip to content"


def test_arrows_home_and_end_move_through_the_matrix_which_remembers_its_cell(
    open_page: Any, registry: LesionRegistry
) -> None:
    page = open_page(f"/runs/{registry.plain}?norm=none&order=label").page
    cells = page.locator("table.matrix td[data-cell]")
    cells.first.focus()

    for key, count in (
        *(("ArrowRight", "5"), ("ArrowDown", "96"), ("End", "0"), ("Home", "59")),
        *(("ArrowUp", "987"), ("ArrowUp", "987"), ("ArrowLeft", "987")),
    ):
        page.keyboard.press(key)
        assert _focused_text(page) == count, key
    expect(page.locator("table.matrix td[tabindex='0']")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert _focused_text(page) != "59"
    page.keyboard.press("Shift+Tab")
    assert _focused_text(page) == "59"
    # The heads of the focused cell stand out.
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(page.locator("table.matrix .is-crossed")).to_have_text(["mel", "nv"])


def test_j_and_k_move_through_runs_and_enter_opens(open_page: Any) -> None:
    page = open_page("/runs?q=dataset:derm-7&sort=name").page
    names = page.locator("a[data-row]").all_inner_texts()

    page.keyboard.press("j")
    assert _focused_text(page) == names[0]
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert _focused_text(page) == names[1]
    page.keyboard.press("Enter")

    expect(page.locator("h1")).to_contain_text(names[1])


def test_slash_goes_to_the_filter_where_letters_are_letters(open_page: Any) -> None:
    page = open_page("/runs?q=dataset:derm-7").page

    page.keyboard.press("/")
    page.keyboard.press("End")
    page.keyboard.type(" jkt")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(r"\?q=dataset:derm-7%20jkt$"))
    expect(page.locator("#q")).to_have_value("dataset:derm-7 jkt")


def test_keys_of_the_matrix_change_the_view_and_g_then_r_goes_to_the_runs(
    open_page: Any, registry: LesionRegistry
) -> None:
    page = open_page(f"/runs/{registry.plain}").page

    page.keyboard.press("t")
    expect(page.locator("th.axis").first).to_have_text("Actual →")
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile("norm=col&t=1"))
    page.keyboard.press("o")
    expect(page).to_have_url(re.compile("norm=col&order=label&t=1"))

    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile("/runs$"))


def test_the_sheet_of_keys_opens_and_closes_until_single_keys_are_turned_off(
    open_page: Any,
) -> None:
    page = open_page("/runs").page
    sheet = page.get_by_role("dialog", name="Keyboard")

    page.keyboard.press("?")
    expect(sheet).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("a[data-row]:focus")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

    page.get_by_role("button", name="Keys").click()
    page.get_by_role("button", name="Turn single keys off").click()
    page.wait_for_url("**/runs")
    page.keyboard.press("?")
    page.keyboard.press("j")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("a[data-row]:focus")).to_have_count(0)


def test_every_shortcut_belongs_to_a_visible_control(
    open_page: Any, registry: LesionRegistry
) -> None:
    for path in ("/runs", f"/runs/{registry.plain}"):
        page = open_page(path).page
        if path == "/runs":
            page.locator("input[name=runs]").first.check()

        for control in page.locator("[aria-keyshortcuts]").all():
            expect(control).to_be_visible()


def test_no_bar_covers_what_has_the_focus_on_a_small_screen(
    open_page: Any, registry: LesionRegistry
) -> None:
    page = open_page(f"/runs/{registry.plain}", reduced_motion="reduce").page
    page.set_viewport_size({"width": 320, "height": 400})

    covered = []
    for _ in range(60):
        page.keyboard.press("Tab")
        covered += page.evaluate(
            """() => {
                const at = document.activeElement;
                const box = at.getBoundingClientRect();
                const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
                const bar = document.elementFromPoint(x, y)?.closest(".top, .run-head .actions");
                return bar && !bar.contains(at) ? [at.innerText] : [];
            }"""
        )

    assert covered == []


def _focused_text(page: Page) -> str:
    return str(page.evaluate("document.activeElement.innerText"))


def _tab_through(page: Page) -> list[str]:
    """What has the focus at each stop, from the start of the page to its end."""
    stops: list[str] = []
    for _ in range(200):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
                const at = document.activeElement;
                if (at === document.body) return null;
                const text = at.textContent.replace(/\\s+/g, "");
                return at.closest("table.matrix") ? `matrix:${text}` : at.innerText.trim();
            }"""
        )
        if stop is None:
            return stops
        stops.append(stop)
    raise AssertionError("the focus never left the page")


def test_e_opens_the_exports_and_escape_clears_what_is_ticked(open_page: Any) -> None:
    page = open_page("/runs?q=dataset:derm-7").page
    boxes = page.locator("input[name=runs]")
    boxes.nth(0).check()
    boxes.nth(1).check()
    expect(page.locator("#n-selected")).to_contain_text("2 selected")

    page.keyboard.press("Escape")
    expect(page.locator("#n-selected")).to_contain_text("0 selected")
    expect(page.locator("input[name=runs]:checked")).to_have_count(0)
    assert "sel=" not in page.url

    page.locator("h1").click()
    page.keyboard.press("e")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename.endswith(".csv")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="CSV")).to_be_hidden()


def test_a_click_elsewhere_closes_a_menu(open_page: Any, registry: LesionRegistry) -> None:
    page = open_page(f"/runs/{registry.plain}").page
    share, more = page.locator("main .menu > summary").all()

    share.click()
    expect(page.get_by_text("Copy link")).to_be_visible()
    more.click()
    expect(page.get_by_text("Copy link")).to_be_hidden()
    expect(page.get_by_text("Problems of this run")).to_be_visible()
    page.locator("h1").click()
    expect(page.get_by_text("Problems of this run")).to_be_hidden()


@pytest.mark.parametrize(
    "path", ["/glossary", "/runs", "/runs?q=dataset:derm-7", "/problems", "/compare", "/costs"]
)
def test_menus_open_within_a_small_screen(open_page: Any, path: str) -> None:
    page = open_page(path, viewport={"width": 360, "height": 640}).page
    menus = page.locator("main .menu > summary:visible")

    for menu in menus.all():
        menu.press("Enter")
        sheet = menu.locator("+ .menu-sheet").bounding_box()
        assert sheet is not None
        assert 0 <= sheet["x"] <= 360 - sheet["width"]


def test_no_name_of_a_dataset_covers_its_value_on_a_small_screen(open_page: Any) -> None:
    page = open_page("/", viewport={"width": 360, "height": 640}).page
    rows = page.locator(".home-row")

    assert rows.count() > 1
    for row in rows.all():
        name, value = row.locator("th").bounding_box(), row.locator(".home-value").bounding_box()
        assert name is not None
        assert value is not None
        assert name["x"] + name["width"] <= value["x"] + 1


def test_the_button_that_shows_columns_can_be_seen(open_page: Any) -> None:
    seen = open_page("/runs?q=dataset:derm-7")
    seen.page.locator(".chooser > summary").press("Enter")
    expect(seen.page.get_by_role("button", name="Show columns")).to_be_visible()

    assert violations_in_both_themes(seen) == CLEAN


def test_links_that_sort_are_seen_where_the_focus_reaches_them_on_a_phone(open_page: Any) -> None:
    page = open_page("/runs?q=dataset:derm-7", reduced_motion="reduce").page
    page.set_viewport_size({"width": 390, "height": 844})
    head = page.get_by_role("link", name="Accuracy", exact=True)
    width = "link => link.closest('thead').getBoundingClientRect().width"
    assert head.evaluate(width) == 1

    head.focus()

    assert head.evaluate(width) > 300
    assert page.locator("thead [role=separator]").locator("visible=true").count() == 0


def test_columns_of_runs_are_resized_by_keys_and_pointer_and_stay_so(
    open_page: Any, registry: LesionRegistry
) -> None:
    page = open_page("/runs?q=dataset:derm-7").page
    grip = page.get_by_role("separator").first
    head = page.locator("th:has(.resize)").first
    usual = _width(head)

    grip.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    wider = _width(head)
    box = grip.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 62, box["y"] + 5)
    page.mouse.up()
    dragged = _width(head)
    page.reload()

    assert usual < wider < dragged
    assert abs(_width(head) - dragged) < 2
    page.get_by_role("separator").first.focus()
    page.keyboard.press("Home")
    assert abs(_width(head) - usual) < 2


def _width(head: Any) -> float:
    return float(head.evaluate("(each) => each.getBoundingClientRect().width"))


def test_labels_of_fields_break_no_word(open_page: Any) -> None:
    label = open_page("/runs?q=dataset:derm-7").page.locator("label.list-group")

    lines = label.evaluate(
        """label => {
            const word = document.createRange();
            word.selectNodeContents(label.firstChild);
            return word.getClientRects().length;
        }"""
    )

    assert lines == 1


def test_names_of_metrics_break_no_word_on_a_half_screen(open_page: Any) -> None:
    page = open_page("/glossary", viewport={"width": 720, "height": 800}).page

    broken = page.evaluate(
        """() => [...document.querySelectorAll("th.main a")].filter((link) => {
            const word = document.createRange();
            word.setStart(link.firstChild, 0);
            word.setEnd(link.firstChild, link.textContent.split(/[^A-Za-z]/)[0].length);
            return word.getClientRects().length > 1;
        }).map((link) => link.textContent)"""
    )

    assert broken == []
