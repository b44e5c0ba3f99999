"""A frozen report in a browser: it needs nothing, runs nothing, reads well and prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from offdiag.reports.files import html_page
from offdiag.reports.report import Report
from offdiag.reports.scope import Condition, Side
from support.browser import Watched, violations, watched
from support.report_figures import (
    SCOPE,
    class_figures,
    leader_of,
    report,
    revision,
    run,
    snapshot,
)

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)></style><script>alert(2)</script>"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    # The policy of the file is bypassed only where a test has to run axe inside it.
    opened = browser.new_context()
    yield opened
    opened.close()


def many_runs(n: int) -> Report:
    """An issue with changes, alerts, revisions and `n` runs, among them hostile names."""
    scope = replace(
        SCOPE, baseline="r_run 1", alerts=(Condition("recall", Side.BELOW, 0.9, "mel"),)
    )
    names = [f"run {number}" for number in range(n)]
    before = report(snapshot([run(name, 0.5) for name in names]), scope=scope)
    runs = [run(name, 0.9 - 0.01 * place) for place, name in enumerate(names)]
    runs.append(run(HOSTILE, 0.3, classes=(class_figures(HOSTILE, 0.2),)))
    after = snapshot(runs, leader=leader_of("r_run 0", (HOSTILE, "nv")), revisions=(revision(),))
    return report(after, before, scope=scope)


def opened(context: BrowserContext, folder: Path, shown: Report) -> Watched:
    file = folder / "report.html"
    file.write_text(html_page(shown), encoding="utf-8")
    seen = watched(context, file.as_uri())
    seen.page.goto(file.as_uri())
    return seen


def n_pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_it_opens_without_a_complaint_and_without_any_request(
    context: BrowserContext, tmp_path: Path
) -> None:
    seen = opened(context, tmp_path, many_runs(12))

    seen.expect_no_complaints()
    assert seen.page.locator("script, img").count() == 0
    assert (
        seen.page.locator("body").evaluate("body => getComputedStyle(body).maxWidth") == "1080px"
    )


@pytest.mark.parametrize("width", [1280, 320])
def test_it_is_accessible(browser: Browser, tmp_path: Path, width: int) -> None:
    context = browser.new_context(bypass_csp=True, viewport={"width": width, "height": 640})

    found = violations(opened(context, tmp_path, many_runs(12)))

    context.close()
    assert not found


def test_a_narrow_screen_scrolls_tables_and_not_the_page(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640})

    page = opened(context, tmp_path, many_runs(12)).page

    widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    context.close()
    assert widths[0] <= widths[1]


@pytest.mark.parametrize(("n", "at_most"), [(2, 4), (12, 9)])
def test_it_prints_on_few_pages(
    context: BrowserContext, tmp_path: Path, n: int, at_most: int
) -> None:
    page = opened(context, tmp_path, many_runs(n)).page

    pdf = page.pdf(prefer_css_page_size=True)

    assert 1 <= n_pages(pdf) <= at_most
    assert len(pdf) < 1_000_000


def test_in_print_no_table_is_cut_off_at_the_right(
    context: BrowserContext, tmp_path: Path
) -> None:
    page = opened(context, tmp_path, many_runs(12)).page
    # A4 less the margins of the print stylesheet, at 96 pixels an inch.
    page.set_viewport_size({"width": 703, "height": 1009})
    page.emulate_media(media="print")

    overflow = page.evaluate(
        "[...document.querySelectorAll('table, svg')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
    )

    assert overflow == 0


def test_it_is_light_and_legible_in_the_dark_too(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(color_scheme="dark")

    page = opened(context, tmp_path, many_runs(2)).page

    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    context.close()
    assert background == "rgb(255, 255, 255)"
