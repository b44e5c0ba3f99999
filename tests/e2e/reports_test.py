"""From a form to a frozen page: what people do with reports, in a browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from support.browser import cut_regions, served, violations, width_on_a_small_screen
from support.dashboard import log_counts
from support.logging_runs import work_off
from support.reported import BINARY

pytestmark = pytest.mark.browser


@pytest.fixture
def own_registry(sqlite_database: Database) -> Database:
    """A registry with one run, which a test may change."""
    log_counts(sqlite_database, [[58, 5], [4, 104]], BINARY, name="lr", dataset="holdout")
    return sqlite_database


def test_from_a_plan_to_the_frozen_edition(open_at: Any, own_registry: Database) -> None:
    with served(create_app(Settings(), own_registry)) as address:
        seen = open_at(address, "about:blank", own_window=True)
        page: Page = seen.page
        page.context.clock.install()
        seen.goto("/")
        page.keyboard.press("g")
        page.keyboard.press("p")
        page.get_by_role("link", name="New report").click()
        page.get_by_label("Name (required)").fill("weekly <b>")

        page.get_by_label("Cron expression").fill("30 7 * * 2")
        page.get_by_label("Time zone").fill("Asia/Tokyo")
        page.get_by_label("Alerts").focus()
        expect(page.get_by_text("Tuesdays at 07:30, Asia/Tokyo.")).to_be_visible()
        expect(page.locator("ol.times li")).to_have_count(5)
        page.get_by_label("Alerts").fill("recall[no such class]<0.5")
        page.get_by_role("button", name="Save schedule").click()

        expect(page.get_by_role("alert")).to_contain_text("“no such class” is not a class")
        page.get_by_role("alert").get_by_role("link").click()
        expect(page.get_by_label("Alerts")).to_be_focused()
        page.get_by_label("Alerts").fill("recall[benign]<0.5")
        page.get_by_role("button", name="Save schedule").click()

        expect(page.get_by_role("heading", name="weekly <b>")).to_be_visible()
        page.get_by_role("button", name="Run now").click()
        expect(page.get_by_text("This edition is being created.")).to_be_visible()
        work_off(own_registry)
        page.clock.fast_forward(5_000)
        expect(page.get_by_text("This is the first edition")).to_be_visible()

        # Browsers note the refused form; nothing else was wrong.
        assert [each for each in seen.complaints if "422" not in each] == []
        seen.complaints.clear()

        # The clock of this test is a script, and the frozen page lets not even that one run.
        with page.expect_console_message(lambda said: "frame is sandboxed" in said.text):
            page.get_by_role("link", name=re.compile("^HTML")).click()
        expect(page.get_by_role("heading", name="weekly <b> #1")).to_be_visible()
        assert page.evaluate("getComputedStyle(document.body).maxWidth") == "1080px"
        assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
        assert [each for each in seen.complaints if "frame is sandboxed" not in each] == []
        assert len(seen.complaints) == 1


def test_the_form_with_everything_wrong_is_accessible(
    open_at: Any, own_registry: Database
) -> None:
    app = create_app(Settings(), own_registry)
    app.testing = True
    with served(app) as address:
        checked = open_at(address, "/reports/new", viewport={"width": 320, "height": 640})
        for label in ("Cron expression", "E-mail addresses", "Metrics", "Webhooks"):
            checked.page.get_by_label(label).fill("nothing like it")
        checked.page.get_by_role("button", name="Save schedule").click()
        expect(checked.page.get_by_role("alert")).to_be_focused()
        assert violations(checked) == []
        assert width_on_a_small_screen(checked) <= 320


def test_a_printed_edition_loses_no_column(open_reported: Any) -> None:
    page = open_reported("/reports/weekly/2", viewport={"width": 718, "height": 1000}).page
    page.emulate_media(media="print")

    widest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('table')].map((table) => table.scrollWidth))"
    )

    # A browser shrinks a page by a third at most, and cuts off what is beyond.
    assert widest <= 718 * 1.5
    # Paper has no links to files.
    expect(page.get_by_text("Frozen files")).to_be_hidden()
    expect(page.get_by_role("heading", name="of each edition")).to_be_visible()


def test_a_wide_screen_shows_every_column_of_an_edition(open_reported: Any) -> None:
    page = open_reported("/reports/weekly/2", viewport={"width": 1440, "height": 900}).page

    assert cut_regions(page) == []


@pytest.mark.parametrize(
    ("path", "shown"),
    [("/reports", "#3"), ("/reports/weekly", "#3"), ("/reports/weekly/2", "Previous edition")],
)
def test_reports_and_editions_fit_a_phone(open_reported: Any, path: str, shown: str) -> None:
    page = open_reported(path, viewport={"width": 390, "height": 844}).page

    assert cut_regions(page) == []
    expect(page.get_by_role("link", name=shown).first).to_be_visible()
