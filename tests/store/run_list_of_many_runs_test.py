"""Lists and searches of a registry that has more runs than are sorted in memory."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from sqlalchemy import text

from offdiag.domain.runs import RunFacts
from offdiag.services.run_search import search_page
from offdiag.store import run_list as listing
from offdiag.store.database import Database
from offdiag.store.run_order import RunOrder
from offdiag.store.run_search import SearchPlace
from support.kinds import Kind
from support.logging_runs import log, work_off
from support.plans import query_plans

TRUTH = ["a"] * 6 + ["b"] * 3 + ["c"] * 2
N_RUNS = 6


@pytest.fixture(scope="module")
def runs(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Runs that know fewer and fewer samples of the rarer classes; the last waits for its result.

    All tests only read them.
    """
    with databases.new(tmp_path_factory.mktemp("runs")) as database:
        for number in range(N_RUNS):
            answers = ["a" if at % N_RUNS < number else label for at, label in enumerate(TRUTH)]
            log(database, y_true=TRUTH, y_pred=answers, facts=RunFacts(name=f"run {number}"))
        work_off(database)
        log(database, y_true=TRUTH, y_pred=TRUTH[::-1], facts=RunFacts(name="waits"))
        yield database


def listed(database: Database, order: RunOrder, *, most_in_memory: int) -> list[str]:
    """Names of all runs, page by page of two, by the way that a registry of that size takes."""
    found: list[str] = []
    cursor = None
    with patch.object(listing, "SORTED_IN_MEMORY", most_in_memory), database.read() as session:
        while True:
            page = listing.run_list(
                session, terms=(), dataset_id=None, order=order, cursor=cursor, limit=2
            )
            assert page.position == len(found) + 1
            found += [entry.name for entry in page.entries]
            cursor = page.following
            if cursor is None:
                return found


@pytest.mark.parametrize("name", ["logged", "name", "mcc", "worst", "flags"])
@pytest.mark.parametrize("descending", [True, False])
def test_an_index_and_a_sort_give_the_same_list(
    runs: Database, name: str, descending: bool
) -> None:
    order = RunOrder(name, descending)

    by_index = listed(runs, order, most_in_memory=0)
    by_sorting = listed(runs, order, most_in_memory=1_000)

    assert len(set(by_index)) == N_RUNS + 1
    assert by_index == by_sorting


def test_an_evaluation_knows_the_recall_of_its_worst_class(runs: Database) -> None:
    with runs.read() as session:
        rows = session.execute(
            text(
                "SELECT lowest_recall, (SELECT min(value) FROM metric_value WHERE "
                "evaluation_id = evaluation.id AND key = 'recall' AND class_index >= 0) AS lowest "
                "FROM evaluation"
            )
        ).all()

    assert len({row.lowest_recall for row in rows}) > 1
    assert all(row.lowest_recall == row.lowest for row in rows)


@pytest.mark.parametrize("direction", ["desc", "asc"])
def test_a_search_by_a_metric_follows_itself_to_those_without_it(
    runs: Database, direction: str
) -> None:
    def page(after: SearchPlace | None, limit: int) -> tuple[list[str], SearchPlace | None]:
        found = search_page(
            runs,
            filter_text="",
            order_by=[f"metrics.mcc {direction}"],
            project=None,
            after=after,
            limit=limit,
        )
        return [run.name for run in found.runs], found.following

    whole, _ = page(None, 100)
    some, place = page(None, 2)
    while place is not None:
        more, place = page(place, 2)
        some += more

    assert some == whole
    assert whole[-2:] == ["waits", "run 5"], "one has no result yet, one predicts a single class"


@pytest.fixture
def plans(runs: Database) -> Iterator[list[str]]:
    """How SQLite reads each statement that is sent: the steps of all its plans."""
    with query_plans(runs) as steps:
        yield steps


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("logged", "ix_run_created_at_id_name_deleted_at"),
        ("name", "ix_run_name_id_deleted_at"),
        ("worst", "ix_evaluation_lowest_recall_run_id_current"),
        ("flags", "ix_flag_run_id_class_label_badge"),
        ("mcc", "ix_metric_value_key_class_index_value_evaluation_id"),
    ],
)
def test_a_large_list_goes_along_an_index(
    runs: Database, plans: list[str], name: str, index: str
) -> None:
    plans.clear()

    with patch.object(listing, "SORTED_IN_MEMORY", 0), runs.read() as session:
        listing.run_list(
            session,
            terms=(),
            dataset_id=None,
            order=RunOrder(name, descending=True),
            cursor=None,
            limit=3,
        )

    assert any(index in step for step in plans), plans
    assert any("run USING COVERING INDEX" in step for step in plans), "the count"


def test_a_search_by_a_metric_goes_along_its_index(runs: Database, plans: list[str]) -> None:
    plans.clear()

    search_page(
        runs, filter_text="", order_by=["metrics.mcc desc"], project=None, after=None, limit=2
    )

    assert any("ix_metric_value_key_class_index_value" in step for step in plans), plans
    assert not any(step.startswith("SCAN run") for step in plans), plans
