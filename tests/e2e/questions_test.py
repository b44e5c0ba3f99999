"""Five questions about the runs of the demo, each answered two clicks from the home page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from offdiag.settings import Settings
from offdiag_web import create_app
from support.demo import registry_of
from support.pages import Page, PageClient, client_for

DIGITS = "digits, 3 and 8 rare"
MOST_CLICKS = 2

Follow = Callable[..., Page]


@pytest.fixture(scope="module")
def client(demo: tuple[Path, str]) -> Iterator[PageClient]:
    """A client of the dashboard over the registry of the demo."""
    with registry_of(demo[0]) as database:
        yield client_for(create_app(Settings(), database))


@pytest.fixture
def follow(client: PageClient) -> Follow:
    """Opens the home page and follows the links with these names, one after the other."""

    def go(*names: str) -> Page:
        assert len(names) <= MOST_CLICKS
        page = client.page("/")
        for name in names:
            page = client.page(_named(page, name), follow_redirects=True)
        return page

    return go


def _named(page: Page, name: str) -> str:
    """Where a link leads; the menu comes first, and of equal names the one on the page counts."""
    found = [a for a in page.all("a") if name in (a.text, a.attributes.get("aria-label"))]
    return found[-1]["href"]


def test_what_happened_since_the_last_visit(follow: Follow) -> None:
    page = follow()

    news = " ".join(each.text for each in page.all("ul", "news"))
    assert "random forest is champion" in news
    (row,) = [row for row in page.table("data") if row[0].startswith(DIGITS)]
    assert "2 runs share the lead" in row


def test_which_run_to_use_and_why(follow: Follow) -> None:
    page = follow(DIGITS)

    said = page.one("p", "verdict-text").text
    assert said == "2 of 6 runs may be the best by balanced accuracy."
    first, second = (" ".join(row) for row in page.table("best-set"))
    assert first.startswith("logistic regression")
    assert "0.918" in first
    assert re.match("random forest ?champion", second)
    assert "+3.3 pp (−2.2 pp to +8.7 pp)" in page.one("div", "chosen").text


def test_whether_the_newest_run_is_better_than_the_champion_and_where(follow: Follow) -> None:
    page = follow("Compare", f"champion of {DIGITS}")

    names = [each.text for each in page.elements if "run-name" in each.classes]
    assert names[0].startswith("random forest")
    assert names[-1].startswith("25 nearest neighbours")
    assert "B is worse than A on accuracy" in page.one("div", "verdict").text
    heads = [row for row in page.all("tr") if [th.text for th in row.inside("th")] == ["1"]]
    assert "−15.1 pp" in heads[0].text


def test_which_model_hides_a_failing_class(follow: Follow) -> None:
    problems = follow("Problems 11 new").all("tr", "problem-line")
    run = follow(
        DIGITS, "random forest, shallow: balanced accuracy 0.765 (0.747 – 0.785), “8” 0/16"
    )

    (missed,) = [
        line.text
        for line in problems
        if re.search("“8” missed.*RandomForestClassifier", line.text) and "6 of 16" in line.text
    ]
    assert "champion" in missed
    assert "“8” is missed: 0 of 16 found" in run.one("p", "statement").text


def test_what_changes_where_a_miss_costs_twenty_false_alarms(follow: Follow) -> None:
    page = follow("breast cancer", "Costs")

    assert "“logistic regression” is lowest up to 12×" in page.one("main").text
    first, *_ = [row.text for row in page.all("tr") if "data-letter" in row.attributes]
    assert "random forest, cautious" in first
    assert "↑" in first
