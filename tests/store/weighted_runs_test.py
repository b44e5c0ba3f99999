"""Runs with sample weights among others: what is counted of them, and where they are sorted."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from offdiag.domain.runs import RunFacts
from offdiag.services.run_search import search_page
from offdiag.store import run_count
from offdiag.store import run_list as listing
from offdiag.store.database import Database
from offdiag.store.run_list import RunListPage
from offdiag.store.run_order import Cursor, RunOrder
from offdiag.store.run_search import SearchPlace
from support.kinds import Kind
from support.logging_runs import log, work_off

TRUTH = ["a"] * 6 + ["b"] * 4
WEIGHT = [1.0, 2.0] * 5
BEST_FIRST = ["right", "good", "poor"]
BEST_FIRST_OF_WEIGHTED = ["all right", "most right"]


@pytest.fixture(scope="module")
def runs(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Three runs without weights and two with, and one of each without a value of MCC.

    All tests only read them.
    """
    with databases.new(tmp_path_factory.mktemp("runs")) as database:
        for name, n_wrong, weight in (
            ("poor", 3, None),
            ("most right", 1, WEIGHT),
            ("constant", None, None),
            ("right", 0, None),
            ("all right", 0, WEIGHT),
            ("constant too", None, WEIGHT),
            ("good", 2, None),
        ):
            predicted = ["b"] * n_wrong + TRUTH[n_wrong:] if n_wrong is not None else ["a"] * 10
            log(
                database,
                y_true=TRUTH,
                y_pred=predicted,
                sample_weight=weight,
                facts=RunFacts(name=name, params={"lr": n_wrong or 0}),
            )
        work_off(database)
        yield database


def pages(database: Database, order: RunOrder, *, limit: int) -> list[RunListPage]:
    """All pages, forwards."""
    found: list[RunListPage] = []
    cursor: Cursor | None = None
    while not found or cursor is not None:
        found.append(page(database, order, cursor, limit=limit))
        cursor = found[-1].following
    return found


def page(database: Database, order: RunOrder, cursor: Cursor | None, *, limit: int) -> RunListPage:
    with database.read() as session:
        return listing.run_list(
            session, terms=(), dataset_id=None, order=order, cursor=cursor, limit=limit
        )


def names(*found: RunListPage) -> list[str]:
    return [entry.name for each in found for entry in each.entries]


@pytest.mark.parametrize("most_in_memory", [0, 1_000])
@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("name", ["mcc", "worst"])
def test_values_of_weighted_runs_come_after_the_others_on_every_page(
    runs: Database, name: str, limit: int, most_in_memory: int, *, descending: bool
) -> None:
    step = 1 if descending else -1
    undefined = ["constant too", "constant"]
    expected = [*BEST_FIRST[::step], *BEST_FIRST_OF_WEIGHTED[::step], *undefined]
    if name == "worst":  # Of a class that is never found it is 0.
        plain, weighted = ([*BEST_FIRST, "constant"], [*BEST_FIRST_OF_WEIGHTED, "constant too"])
        expected = [*plain[::step], *weighted[::step]]
    order = RunOrder(name, descending)

    with patch.object(listing, "SORTED_IN_MEMORY", most_in_memory):
        forward = pages(runs, order, limit=limit)
        backward = [forward[-1]]
        while (cursor := backward[0].previous) is not None:
            backward.insert(0, page(runs, order, cursor, limit=limit))

    assert names(*forward) == expected
    assert [each.position for each in forward] == list(range(1, 8, limit))
    assert names(*backward)[-7:] == expected
    assert {(each.total, each.n_weighted) for each in forward} == {(7, 3)}


@pytest.mark.parametrize("most_in_memory", [0, 2, 1_000])
def test_their_order_is_the_same_where_not_all_runs_are_counted(
    runs: Database, most_in_memory: int
) -> None:
    with (
        patch.object(listing, "SORTED_IN_MEMORY", most_in_memory),
        patch.object(run_count, "MOST_COUNTED_BY_INDEX", 1),
    ):
        found = pages(runs, RunOrder("mcc"), limit=2)

    assert names(*found)[:5] == [*BEST_FIRST, *BEST_FIRST_OF_WEIGHTED]
    assert len(names(*found)) == 7


def test_a_list_by_anything_else_mixes_them(runs: Database) -> None:
    for name in ("logged", "name", "flags", "param.lr"):
        (whole,) = pages(runs, RunOrder(name), limit=10)
        assert sorted(names(whole)) == sorted(names(*pages(runs, RunOrder("mcc"), limit=10)))
        assert whole.n_weighted == 0, name
    (by_age,) = pages(runs, RunOrder("logged", descending=False), limit=10)
    assert names(by_age)[:3] == ["poor", "most right", "constant"]


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("direction", ["desc", "asc"])
@pytest.mark.parametrize("key", ["metrics.mcc", "metrics.recall[a]", "attributes.lowest_recall"])
def test_a_search_sorts_them_likewise(
    runs: Database, key: str, direction: str, limit: int
) -> None:
    found: list[str] = []
    after: SearchPlace | None = None
    while not found or after is not None:
        some = search_page(
            runs,
            filter_text="attributes.name != 'constant' and attributes.name != 'constant too'",
            order_by=[f"{key} {direction}"],
            project=None,
            after=after,
            limit=limit,
        )
        assert some.n_weighted == 2
        found += [run.name for run in some.runs]
        after = some.following

    step = 1 if direction == "desc" else -1
    assert found == [*BEST_FIRST[::step], *BEST_FIRST_OF_WEIGHTED[::step]]


def test_a_search_by_several_fields_sorts_them_behind_where_a_metric_decides(
    runs: Database,
) -> None:
    def found(*order: str) -> list[str]:
        some = search_page(
            *(runs,), filter_text="", order_by=order, project=None, after=None, limit=10
        )
        return [run.name for run in some.runs]

    assert found("metrics.mcc desc")[-2:] == ["constant too", "constant"]
    assert found("params.lr asc", "metrics.mcc desc") == [
        *("right", "all right", "constant too", "constant"),
        *("most right", "good", "poor"),
    ]


def test_sums_of_weights_are_no_support_of_the_worst_class(runs: Database) -> None:
    (whole,) = pages(runs, RunOrder(), limit=10)

    worst = {entry.name: entry.worst_class for entry in whole.entries}
    good, weighted = worst["good"], worst["most right"]
    assert good is not None
    assert weighted is not None
    assert (good.label, good.hits, good.support) == ("a", 4, 6)
    assert (weighted.label, weighted.hits, weighted.support) == ("a", None, None)
