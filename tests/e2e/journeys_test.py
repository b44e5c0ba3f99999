"""What people do: look, filter, switch the theme, wait for metrics, print.

What needs no script, links and forms, is followed by the tests of pages without a browser.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from offdiag.services.retention.deletion import delete_run
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from support.browser import served
from support.dashboard import LesionRegistry, log_lesions
from support.logging_runs import evaluate

pytestmark = pytest.mark.browser


def test_the_theme_can_be_switched_and_stays(open_page: Any) -> None:
    seen = open_page("/runs", color_scheme="light")
    page: Page = seen.page
    assert _background(page) == WHITE

    page.get_by_role("button", name="Theme: auto").click()
    expect(page.get_by_role("button", name="Theme: light")).to_be_visible()
    with page.expect_response(lambda answer: "dark" in (answer.request.post_data or "")):
        page.get_by_role("button", name="Theme: light").click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert _background(page) == NEAR_BLACK
    seen.goto("/runs?sort=-acc")

    assert _background(page) == NEAR_BLACK
    seen.expect_no_complaints()


@contextmanager
def waiting_page(open_at: Any, registry: Database) -> Iterator[tuple[Any, str]]:
    """The page of a run that is not evaluated yet, with a clock that the test moves on."""
    run_id = log_lesions(registry, evaluated=False)
    with served(create_app(Settings(), registry)) as address:
        seen = open_at(address, "about:blank", own_window=True)
        seen.page.context.clock.install()
        seen.goto(f"/runs/{run_id}")
        expect(seen.page.get_by_role("status").first).to_contain_text("metrics queued")
        yield seen, run_id


def test_a_waiting_page_fills_in_by_itself(open_at: Any, sqlite_database: Database) -> None:
    with waiting_page(open_at, sqlite_database) as (seen, run_id):
        evaluate(sqlite_database, run_id)
        seen.page.clock.fast_forward(5_000)

        expect(seen.page.get_by_role("heading", name="Confusion matrix")).to_be_visible()
        expect(seen.page.locator("table.matrix td[tabindex='0']")).to_have_count(1)
        seen.page.clock.fast_forward(60_000)
        seen.expect_no_complaints()


def test_a_waiting_page_says_that_its_run_was_deleted(
    open_at: Any, sqlite_database: Database
) -> None:
    with waiting_page(open_at, sqlite_database) as (seen, run_id):
        delete_run(sqlite_database, run_id, by=None)
        seen.page.clock.fast_forward(5_000)

        expect(seen.page.locator("main")).to_contain_text("was deleted")


def test_the_focus_stays_in_results_that_are_waited_for(
    open_at: Any, sqlite_database: Database
) -> None:
    with waiting_page(open_at, sqlite_database) as (seen, run_id):
        page: Page = seen.page
        results, refresh = page.locator("#results"), page.get_by_role("link", name="refresh")

        refresh.focus()
        results.evaluate("(each) => { each.dataset.is = 'old'; }")
        page.clock.fast_forward(5_000)
        expect(page.locator("#results:not([data-is])")).to_be_attached()
        expect(refresh).to_be_focused()

        evaluate(sqlite_database, run_id)
        page.clock.fast_forward(5_000)
        expect(page.get_by_role("heading", name="Confusion matrix")).to_be_visible()
        expect(results).to_be_focused()


def test_a_form_that_is_on_its_way_is_not_sent_again(
    open_page: Any, registry: LesionRegistry
) -> None:
    page: Page = open_page(f"/runs/{registry.plain}").page

    is_sent = page.evaluate(
        """() => [0, 1].map(() => document.querySelector("#discussion form").dispatchEvent(
            new SubmitEvent("submit", { bubbles: true, cancelable: true })))"""
    )

    assert is_sent == [True, False]


def test_a_form_can_be_sent_again_by_whoever_comes_back_to_its_page(
    open_page: Any, registry: LesionRegistry
) -> None:
    page: Page = open_page(f"/runs/{registry.plain}").page

    is_sent = page.evaluate(
        """() => [0, 1].map(() => {
            const submit = new SubmitEvent("submit", { bubbles: true, cancelable: true });
            const isSent = document.querySelector("#discussion form").dispatchEvent(submit);
            window.dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
            return isSent;
        })"""
    )

    assert is_sent == [True, True]


def test_high_contrast_keeps_what_is_chosen_and_the_diagonal_apart(
    open_page: Any, registry: LesionRegistry
) -> None:
    page: Page = open_page(f"/runs/{registry.plain}", forced_colors="active").page

    widths = page.evaluate(
        """() => ["td.diagonal", "td[data-cell]:not(.diagonal)"].map((cell) =>
            getComputedStyle(document.querySelector(`table.matrix ${cell}`)).borderTopWidth)"""
    )
    chosen, other = (
        page.get_by_role("link", name=name).evaluate("a => getComputedStyle(a).backgroundColor")
        for name in ("% actual", "% predicted")
    )
    assert widths == ["3px", "1px"]
    assert chosen != other


def test_paper_is_light_without_controls_and_with_what_a_narrow_or_folded_page_leaves_out(
    open_page: Any, registry: LesionRegistry
) -> None:
    page: Page = open_page(f"/runs/{registry.plain}", color_scheme="dark").page
    page.set_viewport_size({"width": 703, "height": 1009})  # A4 less the margins
    folded = page.get_by_text("Dashed: accuracy")
    expect(folded).to_be_hidden()
    assert _background(page) == NEAR_BLACK

    page.emulate_media(media="print")

    assert _background(page) == WHITE
    expect(page.locator("header.top")).to_be_hidden()
    expect(page.locator(".seg").first).to_be_hidden()
    expect(page.locator("table.matrix")).to_be_visible()
    expect(page.get_by_text(f"/runs/{registry.plain}").last).to_be_visible()
    expect(page.get_by_role("link", name="Settings")).to_be_hidden()
    assert page.locator(".button:visible, [type=checkbox]:visible").count() == 0
    expect(folded).to_be_visible()
    expect(page.get_by_text("1,503 examples, 7 classes")).to_be_visible()
    expect(page.get_by_role("columnheader", name="95 % CI").last).to_be_visible()
    page.goto(page.url.rpartition("/runs/")[0] + "/runs?q=dataset:derm-7")
    expect(page.get_by_role("columnheader", name="Worst class")).to_be_visible()
    assert page.locator("[type=checkbox]:visible").count() == 0


def test_a_map_is_light_on_paper_as_its_legend_is(
    open_page: Any, registry: LesionRegistry
) -> None:
    page: Page = open_page(f"/runs/{registry.many_classes}", color_scheme="dark").page
    shown = page.locator(".map img:visible")
    assert "dark" in str(shown.evaluate("image => image.currentSrc"))

    page.emulate_media(media="print")

    assert "dark" not in str(shown.evaluate("image => image.currentSrc"))


def test_the_focus_ring_has_two_tones(open_page: Any, registry: LesionRegistry) -> None:
    page: Page = open_page(f"/runs/{registry.plain}").page

    page.locator("table.matrix td[data-cell]").first.focus()
    page.keyboard.press("ArrowDown")

    ring = page.evaluate(
        """() => {
            const style = getComputedStyle(document.activeElement);
            return [style.outlineStyle, style.outlineColor, style.boxShadow];
        }"""
    )
    assert ring[0] == "solid"
    assert ring[1] == "rgb(22, 32, 44)"
    assert ring[2].startswith("rgb(255, 255, 255)")


WHITE = "rgb(255, 255, 255)"
NEAR_BLACK = "rgb(18, 22, 28)"


def _background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
