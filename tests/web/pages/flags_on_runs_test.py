"""Flags where their runs are shown: at the top of a run and in the list of runs."""

import numpy as np
import pytest
from sqlalchemy import update

from offdiag.domain.texts import CostName
from offdiag.flags.lifecycle import Action
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.datasets import pin_baseline
from offdiag.services.flags import triage
from offdiag.services.flags.page import raised_flags
from offdiag.store.database import Database
from offdiag.store.models import FlagRow
from support.dashboard import LESION_COUNTS, LESIONS, log_counts
from support.flagged import IN_SIGHT
from support.logging_runs import log, work_off
from support.pages import Element, PageClient


@pytest.fixture
def database(lesions_database: Database) -> Database:
    """A registry of its own for each test, with one run whose smallest class is never found."""
    return lesions_database


@pytest.fixture
def lesions(client: PageClient) -> str:
    """The id of that run."""
    run_id: str = client.json("/runs.json")["runs"][0]["id"]
    return run_id


def statement_of(client: PageClient, run_id: str) -> str:
    return client.page(f"/runs/{run_id}").one("p", "statement").text.replace("\u202f", " ")


def badge_flags(database: Database, run_id: str) -> list[int]:
    return [flag.id for flag in raised_flags(database, run_id) if flag.content.in_badge]


def test_a_run_names_its_most_severe_problem_and_leads_to_all(
    client: PageClient, lesions: str
) -> None:
    assert statement_of(client, lesions).startswith(
        "▲df is missed: 0 of 17 found (95 % CI 0.00 – 0.18)."
    )
    page = client.page(f"/runs/{lesions}")
    assert len(page.all("tr", "is-this")) == 1
    (link,) = page.one("p", "statement").inside("a")
    assert link["href"] == f"/problems?run={lesions}&show=all"
    assert link.text == "2 problems, 6 low"
    for tab in ["/classes", "/history", "/meta"]:
        page = client.page(f"/runs/{lesions}{tab}")

        assert not page.all("p", "statement"), tab
        assert page.one("nav", "tabs").inside("a")[0].text == "Matrix ▲has a problem", tab


def test_the_ranks_stand_in_the_statement_where_there_are_others(
    client: PageClient, database: Database, lesions: str
) -> None:
    always_nv = [[sum(line), *[0] * 6] for line in LESION_COUNTS]
    dummy = log_counts(database, always_nv, LESIONS, name="dummy", dataset="derm-7")
    balanced = sum(line[i] / sum(line) for i, line in enumerate(LESION_COUNTS)) / 7

    assert (
        f"0.18). Accuracy 0.864 is rank 1 of 2, balanced accuracy {balanced:.3f} is rank 1."
        in statement_of(client, lesions)
    )
    assert statement_of(client, dummy).startswith(
        "▲nv is predicted for every example. Accuracy 0.669 is rank 2 of 2, balanced accuracy "
        "0.143 is rank 2."
    )


def test_what_was_dismissed_takes_no_part(
    client: PageClient, database: Database, lesions: str
) -> None:
    triage.decide_flags(
        database, badge_flags(database, lesions), Action.DISMISS, reason="known", author="lee"
    )

    assert statement_of(client, lesions) == "Too few labels to judge df."


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([[500, 3], [2, 495]], "Every class is found clearly more often than by chance."),
        ([[400, 0], [0, 0]], "Too few labels to judge b."),
        ([[60, 60], [60, 60]], "◇a, b are not found clearly more often than by chance."),
    ],
)
def test_a_run_without_problems_says_what_its_labels_show(
    client: PageClient, database: Database, counts: list[list[int]], said: str
) -> None:
    run_id = log_counts(database, counts, ("a", "b"), name="other", dataset="easy")

    assert statement_of(client, run_id) == said


def badge_of(client: PageClient, run_id: str) -> list[str]:
    """What stands beside the name of a run in the list."""
    page = client.page("/runs")
    (row,) = [r for r in page.one("table", "data").inside("tr") if _leads_to(r, run_id)]
    return [a.text for a in row.inside("a") if a["href"].startswith("/problems?")]


def _leads_to(row: Element, run_id: str) -> bool:
    return any(a["href"] == f"/runs/{run_id}" for a in row.inside("a"))


def test_the_list_of_runs_names_the_classes_that_accuracy_hides_or_may_hide(
    client: PageClient, database: Database, lesions: str, in_sight: str
) -> None:
    always_nv = [[sum(line), *[0] * 6] for line in LESION_COUNTS]
    dummy = log_counts(database, always_nv, LESIONS, name="dummy", dataset="derm-7")
    good = log_counts(database, [[500, 3], [2, 495]], ("yes", "no"), name="good", dataset="easy")
    labels = [f"class {code}" for code in range(8)]
    counts = [[0] * 8 for _ in labels]
    counts[0][0] = 900
    for code in range(1, 8):
        counts[code][0], counts[code][code] = 20, 1
    eight = log_counts(database, counts, labels, dataset="eight")

    assert badge_of(client, lesions) == ["hides df +1"]
    assert badge_of(client, dummy) == ["hides all but one"]
    assert badge_of(client, good) == []
    assert badge_of(client, in_sight) == ["may hide mel"]
    assert badge_of(client, eight) == ["hides class 1 +6"]
    found = [run["id"] for run in client.json("/runs.json?sort=-flags")["runs"]]
    assert found[-3:] == [lesions, in_sight, good]


def test_a_badge_goes_with_the_flags_that_are_dismissed(
    client: PageClient, database: Database, lesions: str
) -> None:
    first, *others = badge_flags(database, lesions)
    triage.decide_flags(database, [first, *others], Action.ACKNOWLEDGE, author="lee")
    assert badge_of(client, lesions) == ["hides df +1"]

    triage.decide_flags(database, [first, *others], Action.DISMISS, reason="known", author="lee")

    assert badge_of(client, lesions) == []


def test_runs_are_sorted_by_the_number_of_classes_they_hide(
    client: PageClient, database: Database
) -> None:
    one_fails = [
        [sum(line) if row == column else 0 for column in range(7)]
        for row, line in enumerate(LESION_COUNTS[:6])
    ]
    one_fails.append(list(LESION_COUNTS[6]))
    log_counts(database, one_fails, LESIONS, name="other", dataset="derm-7")
    log_counts(database, [[50, 0], [0, 50]], ("a", "b"), name="good", dataset="easy")

    for sort, first, order in (("-flags", "plain", "descending"), ("flags", "other", "ascending")):
        runs = client.json(f"/runs.json?sort={sort}")["runs"]
        assert (runs[0]["name"], runs[-1]["name"]) == (first, "good")
        page = client.page(f"/runs?q=dataset:derm-7&sort={sort}")
        (head,) = [th for th in page.all("th") if th.text == "Problems"]
        assert head["aria-sort"] == order


@pytest.fixture
def in_sight(client: PageClient, database: Database) -> str:
    """The id of a run with a gap that may or may not be 20 points."""
    return log_counts(database, IN_SIGHT, ("nv", "mel"), name="in sight", dataset="few")


def test_what_accuracy_may_hide_is_said_in_amber_with_the_way_out(
    client: PageClient, in_sight: str
) -> None:
    page = client.page(f"/runs/{in_sight}")

    assert "callout-may-hide" in page.one("p", "statement").classes
    assert statement_of(client, in_sight).startswith(
        "◇mel may be missed: 18 of 30 found (95 % CI 0.42 – 0.75). About 150 more labels of it "
        "would decide."
    )


def test_the_page_of_a_flag_in_sight_says_so_in_words(client: PageClient, in_sight: str) -> None:
    numbers = client.json(f"/flags.json?run={in_sight}")["flags"]
    (flag,) = [each for each in numbers if each["rule"] == "F4"]
    page = client.page(f"/flags/{flag['id']}")

    assert (flag["certainty"], flag["in_badge"], flag["may_hide"]) == ("in_sight", False, True)
    assert page.one("h1").text == "Recall may be far below the other classes: “mel”"
    assert page.one("span", "chip-may-hide").text == "◇accuracy may hide a minority class"
    assert "rule F4 v3" in page.one("main").text


def test_the_page_of_a_flag_names_the_version_that_raised_it(
    client: PageClient, database: Database, lesions: str
) -> None:
    with database.write() as session:
        session.execute(update(FlagRow).where(FlagRow.rule == "F4").values(rule_version=1))
    (first, *_) = client.json("/flags.json?rule=F4")["flags"]

    page = client.page(f"/flags/{first['id']}")

    assert first["rule_version"] == 1
    assert "Version 1 of F4 raised this flag; version 3 is current." in page.one("main").text


def test_a_single_class_that_is_never_found_is_not_said_to_be_found(
    client: PageClient, database: Database
) -> None:
    run = log(database, y_true=["a"] * 60, y_pred=["b"] * 60, labels=["a", "b"])
    work_off(database)

    said = client.page(f"/runs/{run.id}").one("p", "statement").text

    assert "Every class is found" not in said
    assert not said.startswith("Too few labels to judge b")


@pytest.mark.parametrize(
    ("second", "said"),
    [
        # Recall of "b" falls by 19 points, by 4.5 points in the other.
        ([[190, 10], [48, 152]], "▲Recall of “b” fell from 95 % to 76 % against “one”"),
        ([[190, 10], [19, 181]], "Every class is found clearly more often than by chance."),
    ],
)
def test_what_is_severe_is_said_though_every_class_is_found(
    client: PageClient, database: Database, second: list[list[int]], said: str
) -> None:
    first = log_counts(database, [[190, 10], [10, 190]], ("a", "b"), name="one", dataset="falls")
    pin_baseline(database, first, author=None)
    run_id = log_counts(database, second, ("a", "b"), name="two", dataset="falls")

    assert statement_of(client, run_id).startswith(said)


def test_a_cost_above_that_of_a_constant_prediction_is_said_first(
    client: PageClient, database: Database
) -> None:
    run_id = log_counts(
        database, [[90, 10], [20, 80]], ("a", "b"), name="dear", dataset="costly", model="x"
    )
    add_costs(database, project="default", dataset="costly", name="visits",
              weights=np.array([[0.0, 1.0], [20.0, 0.0]]))  # fmt: skip
    set_default_costs(database, project="default", dataset="costly", wanted=CostName("visits"))
    work_off(database)

    assert statement_of(client, run_id).startswith(
        "▲Total cost is 410; always predicting “b” costs 100 (p < 0.001)."
    )
