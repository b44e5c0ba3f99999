"""Going to things by a few letters."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from support.browser import violations

pytestmark = pytest.mark.browser


def _hold_answers(page: Any, address: str) -> list[Any]:
    """Requests to ``address`` wait in the list that is returned until a test lets them go on."""
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route(address, hold)
    return held


def test_ctrl_k_and_a_few_letters_lead_to_a_metric(open_page: Any) -> None:
    watched = open_page("/runs?q=dataset:derm-7")
    page = watched.page

    page.keyboard.press("Control+k")
    page.keyboard.type("cohen")
    expect(page.locator("#palette a").first).to_have_text("Cohen's kappa")
    assert violations(watched) == []
    page.keyboard.press("ArrowDown")
    expect(page.locator("#palette a").first).to_be_focused()
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(r"/glossary/cohen_kappa$"))
    watched.expect_no_complaints()


def test_an_answer_that_comes_late_leaves_the_focus_where_it_is(open_page: Any) -> None:
    page = open_page("/runs?q=dataset:derm-7", own_window=True).page
    held = _hold_answers(page, "**/search?q=cohen")

    page.keyboard.press("Control+k")
    page.keyboard.type("cohe")
    expect(page.locator("#palette a").first).to_have_text("Cohen's kappa")
    with page.expect_request("**/search?q=cohen"):
        page.keyboard.type("n")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#palette a").first).to_be_focused()
    page.evaluate("document.querySelector('#palette a').dataset.earlier = 'yes'")
    held.pop().continue_()

    expect(page.locator("#palette a[data-earlier]")).to_have_count(0)
    expect(page.locator("#palette a").first).to_be_focused()


def test_enter_waits_for_the_answer_to_what_was_typed(open_page: Any) -> None:
    page = open_page("/runs?q=dataset:derm-7", own_window=True).page
    held = _hold_answers(page, "**/search?q=cohen")

    page.keyboard.press("Control+k")
    page.keyboard.type("c")
    expect(page.locator("#palette a").nth(1)).to_be_visible()
    with page.expect_request("**/search?q=cohen"):
        page.keyboard.type("ohen")
    page.keyboard.press("Enter")
    held.pop().continue_()

    expect(page).to_have_url(re.compile(r"/glossary/cohen_kappa$"))


def test_enter_takes_the_first_and_escape_closes(open_page: Any) -> None:
    page = open_page("/runs?q=dataset:derm-7").page

    page.get_by_role("link", name="Go to").click()
    expect(page.locator("#palette")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    page.keyboard.press("Control+k")
    page.keyboard.type("job 1")
    expect(page.locator("#palette a")).to_have_count(1)
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(r"/jobs/1$"))


def test_escape_closes_at_once_with_words_and_from_a_result(open_page: Any) -> None:
    page = open_page("/runs?q=dataset:derm-7").page

    for steps in (0, 1):
        page.keyboard.press("Control+k")
        page.locator("#palette input").fill("cohen")
        expect(page.locator("#palette a").first).to_have_text("Cohen's kappa")
        for _ in range(steps):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        expect(page.locator("#palette")).to_be_hidden()


def test_a_server_that_fails_is_said(open_page: Any) -> None:
    page = open_page("/runs?q=dataset:derm-7", own_window=True).page
    page.route("**/search?*", lambda route: route.abort())

    page.keyboard.press("Control+k")

    expect(page.locator("#palette [data-results]")).to_have_text("The server does not answer.")
