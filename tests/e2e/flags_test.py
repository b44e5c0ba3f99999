"""Working through flags: by keyboard alone, beside somebody else, on a narrow screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from offdiag.domain.runs import RunFacts
from offdiag.flags.problem_words import problem_title
from offdiag.flags.problems import Problem, ProblemState
from offdiag.records.problem import chosen_problems
from offdiag.services.flags.page import browse_flags
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.flag_conditions import FlagFilter
from offdiag.store.problems import find_problem, find_problems
from offdiag_web import create_app
from support.browser import CLEAN, Watched, served, violations_in_both_themes
from support.dashboard import log_lesions
from support.kinds import Files
from support.logging_runs import evaluate, log

pytestmark = pytest.mark.browser

WIDE = {"width": 1500, "height": 900}
NARROW = {"width": 320, "height": 640}
READER = "ana"

Open = Callable[..., Watched]


@pytest.fixture(scope="module")
def lesions(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A registry with one run whose smallest class is never found, to be copied."""
    with files.new(tmp_path_factory.mktemp("lesions")) as database:
        log_lesions(database)
        yield database


@pytest.fixture
def database(files: Files, lesions: Database, tmp_path: Path) -> Iterator[Database]:
    """A copy of that registry, to be changed."""
    with files.copy(lesions, tmp_path) as opened:
        yield opened


@pytest.fixture
def go(open_at: Open, database: Database) -> Iterator[Open]:
    """Opens a path as somebody whose name is known, unless `reader` is empty."""
    with served(create_app(Settings(), database)) as address:

        def visit(path: str, *, reader: str = READER, **options: Any) -> Watched:
            seen = open_at(address, "about:blank", **options)
            if reader:
                seen.page.context.add_cookies(
                    [{"name": "reader", "value": reader, "url": address}]
                )
            seen.goto(path)
            return seen

        yield visit


def in_order(database: Database) -> list[int]:
    return [entry.flag.id for entry in browse_flags(database, FlagFilter()).entries]


def _beside(page: Page) -> Any:
    return page.locator("#flag-pane .page-head h2")


def listed(database: Database) -> list[int]:
    """Numbers of the open problems in the order of the list."""
    with database.read() as session:
        found = find_problems(session, now=database.clock())
    return [each.number for each in chosen_problems(found, state=ProblemState.OPEN, low=False)]


def problem_of(database: Database, number: int) -> Problem:
    with database.read() as session:
        problem, _ = find_problem(session, number, now=database.clock())
    assert problem is not None
    return problem


def test_problems_are_worked_through_by_keyboard_alone(go: Open, database: Database) -> None:
    seen = go("/problems", viewport=WIDE)
    page, press = seen.page, seen.page.keyboard.press
    first, second, *_ = listed(database)

    # The most severe one stands beside the list.
    expect(_beside(page)).to_contain_text(problem_title(problem_of(database, first).key))
    press("d")
    page.keyboard.type("too few examples, a known gap")
    press("Tab")
    press("Enter")
    expect(page.get_by_role("status").first).to_contain_text(f"P-{first} dismissed.")
    assert problem_of(database, first).state is ProblemState.DISMISSED

    press("u")
    expect(page.get_by_role("status").first).to_contain_text(f"P-{first} reopened.")
    assert problem_of(database, first).state is ProblemState.OPEN

    for key in ("j", "x", "j", "x"):
        press(key)
    expect(page.get_by_text("2 selected")).to_be_visible()
    press("a")
    expect(page.get_by_role("status").first).to_contain_text("accepted")
    states = {problem_of(database, number).state for number in (first, second)}
    assert states == {ProblemState.ACCEPTED}
    seen.expect_no_complaints()


def test_keys_are_about_the_problem_that_has_the_focus(go: Open, database: Database) -> None:
    seen = go("/problems", viewport=WIDE)
    page, press = seen.page, seen.page.keyboard.press
    first, second, *_ = listed(database)
    expect(_beside(page)).to_contain_text(problem_title(problem_of(database, first).key))

    press("j")
    press("j")
    expect(_beside(page)).to_contain_text(problem_title(problem_of(database, second).key))
    press("i")
    page.keyboard.type("lee")
    press("Enter")
    expect(page.get_by_role("status").first).to_contain_text(f"P-{second} assigned to")
    assert "lee" in (problem_of(database, second).assignee or "")

    expect(_beside(page)).to_contain_text(problem_title(problem_of(database, second).key))
    press("z")
    expect(page.locator("#until")).to_be_focused()
    press("Enter")
    expect(page.get_by_role("status").first).to_contain_text(f"P-{second} snoozed until")
    states = {number: problem_of(database, number).state for number in (first, second)}
    assert states == {first: ProblemState.OPEN, second: ProblemState.SNOOZED}

    press("k")
    press("Enter")
    expect(page).to_have_url(re.compile(rf"/problems/{first}$"))
    seen.expect_no_complaints()


def test_a_narrow_screen_shows_the_list_and_then_the_page(go: Open, database: Database) -> None:
    seen = go("/problems", viewport=NARROW)
    page = seen.page
    first, *_ = listed(database)
    expect(page.locator("#flag-pane")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]

    page.keyboard.press("j")
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(rf"/problems/{first}$"))
    page.keyboard.press("d")
    expect(page.get_by_label("Reason for dismissing")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.keyboard.press("Escape")
    expect(page.get_by_label("Reason for dismissing")).to_be_hidden()
    seen.expect_no_complaints()


TOO_HIGH = """[...document.querySelectorAll(".slice-table tbody :is(th, td)")]
    .filter(cell => cell.scrollHeight > cell.clientHeight + 1).length"""
"""Cells of slices whose text goes on below them, over other text."""


def test_long_names_widen_no_page_and_cover_nothing(go: Open, database: Database) -> None:
    dataset = "d" * 150
    rare = "rare_" + "r" * 100
    run = log(
        database,
        y_true=["cat"] * 100 + [rare] * 12,
        y_pred=["cat"] * 90 + [rare] * 10 + ["cat"] * 12,
        slices={"s" * 80: ["v" * 90] * 56 + ["w"] * 56},
        dataset=dataset,
        facts=RunFacts(name="n" * 150, model="m" * 120),
    ).id
    evaluate(database, run)
    problem = max(listed(database))
    seen = go("/problems", viewport=WIDE)

    wrong = []
    flag = max(in_order(database))
    for path in (
        "/problems",
        f"/problems/{problem}",
        f"/flags/{flag}",
        f"/runs/{run}",
        f"/runs/{run}/advice",
        f"/runs/{run}/meta",
        f"/runs/tag?sel={run}",
        f"/datasets/{dataset}",
        f"/costs/new?dataset={dataset}",
    ):
        seen.goto(path)
        for width in (1440, 390):
            seen.page.set_viewport_size({"width": width, "height": 900})
            found = seen.page.evaluate("document.documentElement.scrollWidth")
            if (found, seen.page.evaluate(TOO_HIGH)) != (width, 0):
                wrong.append((path, width, found))

    assert wrong == []
    seen.goto(f"/runs/{run}")
    seen.page.get_by_text("More", exact=True).click()
    box = seen.page.get_by_role("link", name="Model m").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    seen.expect_no_complaints()
    seen.goto(f"/costs/new?dataset={'x' * 200}")
    assert seen.page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_name_from_right_to_left_changes_no_order_around_it(
    go: Open, database: Database
) -> None:
    names = ["אב", "גד"]
    run = log(database, y_true=names * 50, y_pred=["אב"] * 100, labels=names, dataset="ימין")
    evaluate(database, run.id)

    page = go("/runs?q=dataset:ימין", viewport=WIDE).page

    assert page.evaluate(
        """() => {
            const name = document.querySelector(".worst .of");
            const value = document.createRange();
            value.selectNode(name.nextSibling);
            return value.getBoundingClientRect().x >= name.getBoundingClientRect().right;
        }"""
    )


def test_everything_to_settle_problems_with_is_accessible(go: Open, database: Database) -> None:
    checked = go("/problems", viewport=WIDE)
    page = checked.page
    expect(_beside(page)).to_be_visible()

    page.get_by_role("checkbox", name="Select").first.check()
    for summary in page.locator("summary").all():
        summary.click()

    assert violations_in_both_themes(checked) == CLEAN
