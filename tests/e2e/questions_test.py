"""Five questions about the runs of the demo, each answered two clicks from the home page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from offdiag.settings import Settings
from offdiag_web import create_app
from support.browser import Watched, served
from support.demo import registry_of

pytestmark = pytest.mark.browser

DIGITS = "digits, 3 and 8 rare"
MOST_CLICKS = 2


@pytest.fixture(scope="module")
def demo_url(demo: tuple[Path, str]) -> Iterator[str]:
    """Address of the dashboard over the registry of the demo."""
    with (
        registry_of(demo[0]) as database,
        served(create_app(Settings(), database)) as address,
    ):
        yield address


@pytest.fixture
def follow(open_at: Any, demo_url: str) -> Callable[..., Page]:
    """Opens the home page and clicks the links with these names, one after the other.

    Without scripts pages say the same and links lead where they lead, as `pages_test` and
    `journeys_test` ask.
    """

    def go(*names: str) -> Page:
        assert len(names) <= MOST_CLICKS
        seen: Watched = open_at(demo_url, "/")
        for name in names:
            # The menu comes first: of equal names the one on the page counts.
            seen.page.get_by_role("link", name=name, exact=True).last.click()
        seen.expect_no_complaints()
        return seen.page

    return go


def test_what_happened_since_the_last_visit(follow: Callable[..., Page]) -> None:
    page = follow()

    news = page.get_by_role("region", name=re.compile("^Since "))
    expect(news.get_by_role("link", name="random forest is champion")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile(f"^{DIGITS}"))).to_contain_text("best set of 2")


def test_which_run_to_use_and_why(follow: Callable[..., Page]) -> None:
    page = follow(DIGITS)

    expect(page.get_by_role("region", name="Verdict")).to_contain_text(
        "2 of 6 runs cannot be told apart on balanced accuracy."
    )
    best = page.get_by_role("region", name="Best set", exact=True).get_by_role("row")
    expect(best.nth(1)).to_contain_text("logistic regression")
    expect(best.nth(1)).to_contain_text("0.918")
    expect(best.nth(2)).to_contain_text("random forest champion")
    expect(page.get_by_role("region", name="Champion", exact=True)).to_contain_text(
        "+3.3 pp (−0.6 pp to +7.1 pp) balanced accuracy to the champion"
    )


def test_whether_the_newest_run_is_better_than_the_champion_and_where(
    follow: Callable[..., Page],
) -> None:
    page = follow("Compare", f"champion of {DIGITS}")

    expect(page.locator(".run-name").first).to_contain_text("random forest")
    expect(page.locator(".run-name").last).to_contain_text("25 nearest neighbours")
    expect(page.get_by_role("note").first).to_contain_text("B is worse than A on accuracy")
    worse = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="1", exact=True))
    expect(worse.first).to_contain_text("−15.1 pp")


@pytest.mark.parametrize("way", ["problems", "dataset"])
def test_which_model_hides_a_failing_class(follow: Callable[..., Page], way: str) -> None:
    if way == "problems":
        page = follow("Problems 11 new")

        missed = page.get_by_role("row", name=re.compile("“8” missed.*RandomForestClassifier"))
        expect(missed).to_contain_text("6 of 16")
        expect(missed).to_contain_text("champion")
        return
    page = follow(DIGITS, "random forest, shallow: balanced accuracy 0.765, 8 0/16")

    expect(page.get_by_text("“8” is missed: 0 of 16 found")).to_be_visible()


def test_what_changes_where_a_miss_costs_twenty_false_alarms(
    follow: Callable[..., Page],
) -> None:
    page = follow("breast cancer", "Costs")

    expect(page.get_by_text("logistic regression is lowest up to 12 : 1")).to_be_visible()
    ranking = page.get_by_role("region", name="Ranking", exact=True).get_by_role("row")
    expect(ranking.nth(1)).to_contain_text("random forest, cautious")
    expect(ranking.nth(1)).to_contain_text("↑")
