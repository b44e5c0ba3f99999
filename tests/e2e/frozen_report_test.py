"""A frozen report in a browser: it needs nothing, runs nothing, reads well and prints."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from offdiag.reports.files import html_page
from offdiag.reports.report import Report
from offdiag.reports.scope import Condition, Side
from support.browser import Watched, violations, width_on_a_small_screen
from support.report_figures import SCOPE, class_figures, leader_of, report, revision, run, snapshot

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)></style><script>alert(2)</script>"


def many_runs(n: int) -> Report:
    """An edition with changes, alerts, revisions and `n` runs, among them hostile names."""
    scope = replace(
        SCOPE, baseline="r_run 1", alerts=(Condition("recall", Side.BELOW, 0.9, "mel"),)
    )
    names = [f"run {number}" for number in range(n)]
    before = report(snapshot([run(name, 0.5) for name in names]), scope=scope)
    runs = [run(name, 0.9 - 0.01 * place) for place, name in enumerate(names)]
    runs.append(run(HOSTILE, 0.3, classes=(class_figures(HOSTILE, 0.2),)))
    after = snapshot(runs, leader=leader_of("r_run 0", (HOSTILE, "nv")), revisions=(revision(),))
    return report(after, before, scope=scope)


@pytest.fixture
def open_report(open_at: Any, tmp_path: Path) -> Callable[..., Watched]:
    """Opens the file of a report of so many runs; options are those of a Playwright context."""

    def opened(n: int, **options: Any) -> Watched:
        file = tmp_path / "report.html"
        file.write_text(html_page(many_runs(n)), encoding="utf-8")
        seen: Watched = open_at(file.as_uri(), "", **options)
        return seen

    return opened


def n_pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_it_opens_without_request_or_script_light_in_the_dark_and_prints_whole_on_few_pages(
    open_report: Any,
) -> None:
    seen = open_report(12, color_scheme="dark")
    page = seen.page

    seen.expect_no_complaints()
    assert page.locator("script, img").count() == 0
    assert page.evaluate("getComputedStyle(document.body).maxWidth") == "1080px"
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    pdf = page.pdf(prefer_css_page_size=True)
    assert 1 <= n_pages(pdf) <= 9
    assert len(pdf) < 1_000_000
    # A4 less the margins of the print stylesheet, at 96 pixels an inch.
    page.set_viewport_size({"width": 703, "height": 1009})
    page.emulate_media(media="print")
    overflow = page.evaluate(
        "[...document.querySelectorAll('table, svg')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert overflow == 0


def test_it_is_accessible_and_a_narrow_screen_scrolls_tables_and_not_the_page(
    open_report: Any,
) -> None:
    # The policy of the file is bypassed only where a test has to run axe inside it.
    checked = open_report(12, bypass_csp=True)

    assert violations(checked) == []
    assert width_on_a_small_screen(checked) <= 320
    assert violations(checked) == []
