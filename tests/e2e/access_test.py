"""Signing in, the account, tokens, users and the log, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from offdiag.domain.access import Actor, Grant, Role
from support.access import PASSWORD, add_person, guarded, token_of
from support.browser import CLEAN, served, violations_in_both_themes, width_on_a_small_screen
from support.dashboard import HOSTILE_NAMES, log_lesions
from support.kinds import Files

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    hostile = Actor("cli", HOSTILE_NAMES[0], HOSTILE_NAMES[1], HOSTILE_NAMES[-1])
    with files.new(tmp_path_factory.mktemp("access")) as database:
        log_lesions(database)
        add_person(database, "ana", Grant(Role.ADMIN))
        add_person(database.seen_by(None, hostile), "bo", Grant(Role.EDITOR, "default"))
        token_of(database, "bo", Role.LOGGER, project="default")
        with served(guarded(database)) as server:
            yield server


def test_somebody_signs_in_makes_a_token_and_signs_out_by_keyboard(
    open_at: Any, address: str
) -> None:
    seen = open_at(address, "/settings/tokens")
    page = seen.page

    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{address}/settings/tokens")
    page.get_by_label("Name").fill("cluster")
    page.keyboard.press("Enter")
    expect(page.locator("code.secret")).to_contain_text("offdiag_")
    page.get_by_text("Signed in as ana").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out", exact=True).press("Enter")
    expect(page).to_have_url(f"{address}/sign-in")
    seen.goto("/settings/tokens")

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    # A browser notes every answer of 401; there is nothing else to complain of.
    assert [text for text in seen.complaints if "401" not in text] == []


def test_the_pages_are_accessible_in_both_themes_and_fit_a_small_screen(
    open_at: Any, address: str
) -> None:
    seen = open_at(address, "/runs")
    page = seen.page
    page.get_by_label("Name").fill("ana")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    assert violations_in_both_themes(seen) == CLEAN
    assert width_on_a_small_screen(seen) <= 320
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("header.top details.menu summary").click()
    assert violations_in_both_themes(seen) == CLEAN

    for path in ("account", "tokens", "users", "audit"):
        seen.goto(f"/settings/{path}")
        for closed in page.locator("details.more summary").all():
            closed.click()
        assert violations_in_both_themes(seen) == CLEAN, path
        assert width_on_a_small_screen(seen) <= 320, path
