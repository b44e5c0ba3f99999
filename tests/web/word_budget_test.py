"""How many words a page has before anything is unfolded: few enough to be read in one look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from offdiag.store.database import Database
from support.kinds import Kind
from support.months import DATASETS, Months, fill_months
from support.once_for_all import filled_for_all
from support.pages import Element, Page, PageClient, client_for
from support.registries import dashboard
from support.scored_runs import ScoredRegistry

RUN, COMPARE, PROBLEMS, ADVICE = 180, 250, 300, 150
DECISION, SCORES, OTHERS = 340, 260, 225
_NOT_READ = frozenset({"select", "script", "style", "svg", "template", "kbd"})
_WORD = re.compile(r"[^\W\d_]{2}")


def visible_words(page: Page) -> list[str]:
    """The words of the main part, without numbers, choices of a list and what is folded."""
    return [
        word for text in _shown(page.one("main")) for word in text.split() if _WORD.search(word)
    ]


def _shown(element: Element) -> Iterator[str]:
    if element.tag in _NOT_READ or "hidden" in element.attributes or "vh" in element.classes:
        return
    is_folded = element.tag == "details" and "open" not in element.attributes
    if not is_folded:
        yield from element.own
    for child in element.children:
        if not is_folded or child.tag == "summary":
            yield from _shown(child)


@dataclass(frozen=True)
class History:
    """Runs of four datasets as training leaves them: `newest` has the last two of each."""

    client: PageClient
    newest: dict[str, tuple[str, str]]


@pytest.fixture(scope="module")
def history(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    with databases.new(tmp_path_factory.mktemp("history")) as database:
        filled_for_all(tmp_path_factory, database, fill_months, Months)
        yield _history(database)


def _history(database: Database) -> History:
    client = client_for(dashboard(database))
    newest = {}
    for name in DATASETS:
        listed = client.json(f'/runs.json?q=dataset:"{name}"')["runs"]
        newest[name] = (listed[0]["id"], listed[1]["id"])
    return History(client, newest)


@pytest.mark.parametrize(
    ("dataset", "tab", "most"),
    [
        *((dataset, "", RUN) for dataset in DATASETS),
        *(("skin", "/advice", ADVICE), ("skin", "/history", OTHERS)),
    ],
)
def test_a_run_is_told_in_few_words(history: History, dataset: str, tab: str, most: int) -> None:
    page = history.client.page(f"/runs/{history.newest[dataset][0]}{tab}")

    _assert_within(page, most)


def test_a_comparison_is_told_in_few_words(history: History) -> None:
    page = history.client.page(f"/compare?runs={','.join(history.newest['skin'])}")

    _assert_within(page, COMPARE)


@pytest.mark.parametrize(
    ("path", "most"),
    [
        *(("/", OTHERS), ("/runs", OTHERS), ("/datasets/skin", DECISION)),
        *(("/datasets/skin/data", OTHERS), ("/problems", PROBLEMS), ("/costs", OTHERS)),
        *(("/whatif?dataset=skin", OTHERS), ("/whatif?dataset=payments", OTHERS)),
        *(("/reports", OTHERS), ("/jobs", OTHERS), ("/audit", OTHERS), ("/settings", OTHERS)),
    ],
)
def test_a_page_is_told_in_few_words(history: History, path: str, most: int) -> None:
    answer = history.client.get(path, follow_redirects=True)

    assert answer.status_code == 200
    _assert_within(Page(answer.text), most)


@pytest.mark.parametrize("which", ["event", "several"])
@pytest.mark.parametrize("path", ["/runs/{}/curves", "/whatif?runs={}"])
def test_scores_are_told_in_few_words(
    scored_reader: PageClient, scored: ScoredRegistry, which: str, path: str
) -> None:
    answer = scored_reader.get(path.format(getattr(scored, which)), follow_redirects=True)

    assert answer.status_code == 200
    _assert_within(Page(answer.text), SCORES)


def test_only_what_is_shown_counts() -> None:
    page = Page(
        "<main><h1>Two words</h1><p class='vh'>unseen</p> r_1 7 × <svg><text>drawn</text></svg>"
        "<details>folded<summary>How</summary><p>folded <b>too</b></p></details>"
        "<details open><summary>Open</summary>fold</details></main><p>outside</p>"
    )

    assert visible_words(page) == ["Two", "words", "How", "fold", "Open"]


def _assert_within(page: Page, most: int) -> None:
    words = visible_words(page)
    assert len(words) <= most, f"{len(words)} words: {' '.join(words)}"
