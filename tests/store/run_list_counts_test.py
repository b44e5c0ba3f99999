"""How many runs a list says it has, and that no more of them are looked at than must be."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from offdiag.filters.conditions import (
    Attribute,
    AttributeField,
    Comparison,
    Condition,
    MetricField,
    Operator,
)
from offdiag.services.retention.deletion import delete_run
from offdiag.store import run_count, run_list
from offdiag.store.database import Database
from offdiag.store.run_filter import FilterField, FilterTerm
from offdiag.store.run_list import RunListPage
from offdiag.store.run_order import Cursor, RunOrder
from support.dashboard import log_counts
from support.kinds import Kind
from support.logging_runs import work_off
from support.plans import query_plans

TAGGED = FilterTerm(FilterField.TAG, "team")
OF_MODEL = Comparison(AttributeField(Attribute.MODEL), Operator.EQUAL, ("net",))


@pytest.fixture(scope="module")
def tagged(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Five runs, of which three have a tag, the newest none; all tests only read them."""
    with databases.new(tmp_path_factory.mktemp("tagged")) as database:
        for number in range(5):
            tags = {"team": "a"} if number < 3 else {}
            log_counts(
                *(database, ((2, 1), (1, 2)), ("a", "b")),
                name=f"run {number}",
                evaluated=False,
                model="net",
                tags=tags,
            )
        yield database


@pytest.fixture(scope="module")
def evaluated(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Five evaluated runs, each better than the one before, and the best of all deleted."""
    with databases.new(tmp_path_factory.mktemp("evaluated")) as database:
        ids = [
            log_counts(
                *(database, ((10, 10 - number), (10 - number, 10)), ("a", "b")),
                name=f"run {number}",
                evaluated=False,
            )
            for number in range(6)
        ]
        work_off(database)
        delete_run(database, ids[-1], by=None)
        yield database


def pages(
    database: Database,
    *terms: FilterTerm | Condition,
    most: int,
    most_by_index: int = 1_000,
    order: str = "logged",
    limit: int = 1,
) -> list[RunListPage]:
    """All pages of a list where no more runs than these are counted."""
    found: list[RunListPage] = []
    cursor: Cursor | None = None
    with (
        patch.object(run_count, "MOST_COUNTED", most),
        patch.object(run_count, "MOST_COUNTED_BY_INDEX", most_by_index),
        database.read() as session,
    ):
        while not found or cursor is not None:
            page = run_list.run_list(
                session,
                terms=terms,
                dataset_id=None,
                order=RunOrder(order),
                cursor=cursor,
                limit=limit,
            )
            found.append(page)
            cursor = page.following
    return found


def test_runs_are_counted_up_to_a_bound(tagged: Database) -> None:
    first = [pages(tagged, TAGGED, most=most)[0] for most in (4, 3, 2, 1)]

    assert [page.total for page in first] == [3, 3, 2, 1]
    assert [page.counts_all for page in first] == [True, True, False, False]


def test_pages_beyond_the_bound_know_of_more_and_the_last_of_all(tagged: Database) -> None:
    one_each = pages(tagged, TAGGED, most=1)
    (whole,) = pages(tagged, TAGGED, most=1, limit=3)

    assert [page.total for page in one_each] == [1, 2, 3]
    assert [page.counts_all for page in one_each] == [False, False, True]
    assert [page.position for page in one_each] == [1, 2, 3]
    assert (whole.total, whole.counts_all) == (3, True)


def test_a_bound_hides_no_run_in_any_order(evaluated: Database) -> None:
    state = FilterTerm(FilterField.STATE, "evaluated")

    for order in ("logged", "name", "mcc", "worst", "flags"):
        some = pages(evaluated, state, most=2, order=order, limit=2)
        whole = pages(evaluated, state, most=1_000, order=order, limit=2)

        assert [page.entries for page in some] == [page.entries for page in whole], order
        assert (some[-1].total, some[-1].counts_all) == (5, True), order
        assert all(page.counts_all for page in whole), order


def test_more_are_counted_where_an_index_has_them_together(tagged: Database) -> None:
    by_index: tuple[tuple[FilterTerm | Condition, ...], ...] = (
        (),
        (FilterTerm(FilterField.DATASET, "holdout"),),
        (FilterTerm(FilterField.PROJECT, "default"), FilterTerm(FilterField.MODEL, "net")),
        (OF_MODEL,),
    )
    one_by_one = (
        FilterTerm(FilterField.DATASET, "hold*", is_pattern=True),
        FilterTerm(FilterField.DATASET, "other", negated=True),
        FilterTerm(FilterField.DATASET, "holdout", truth_number=1),
        FilterTerm(FilterField.NAME, "run"),
    )

    for terms in by_index:
        few, many = (pages(tagged, *terms, most=2, most_by_index=most)[0] for most in (4, 5))
        assert (few.total, few.counts_all) == (4, False), terms
        assert (many.total, many.counts_all) == (5, True), terms
    for term in one_by_one:
        page = pages(tagged, term, most=2)[0]
        assert (page.total, page.counts_all) == (2, False), term


def test_a_page_among_the_undefined_knows_all_runs(tagged: Database) -> None:
    """What lies before it is counted as all but what lies after it."""
    found = pages(tagged, most=1, most_by_index=1, order="mcc", limit=2)

    assert [page.position for page in found] == [1, 3, 5]
    assert [page.counts_all for page in found] == [False, True, True]
    assert [page.total for page in found[1:]] == [5, 5]


@pytest.mark.parametrize("most_in_memory", [0, 1_000])
def test_runs_within_the_bound_of_a_metric_are_found_and_counted(
    evaluated: Database, most_in_memory: int
) -> None:
    expected: tuple[tuple[Operator, float, list[str]], ...] = (
        (Operator.GREATER, 0.1, ["run 2", "run 3", "run 4"]),
        (Operator.AT_MOST, 0.1, ["run 0", "run 1"]),
        (Operator.GREATER, 0.9, []),
        (Operator.UNEQUAL, 0.0, ["run 1", "run 2", "run 3", "run 4"]),
    )

    for operator, value, names in expected:
        bound = Comparison(MetricField("mcc"), operator, (value,))
        with patch.object(run_list, "SORTED_IN_MEMORY", most_in_memory):
            by_age = pages(evaluated, bound, most=1_000, limit=2)
            by_value = pages(evaluated, bound, most=1_000, order="mcc", limit=2)
        for found in (by_age, by_value):
            listed = [entry.name for page in found for entry in page.entries]
            assert listed == names[::-1], bound
            assert {page.total for page in found} == {len(names)}, bound


def test_a_list_looks_at_no_more_than_it_must(
    evaluated: Database,
) -> None:
    above = Comparison(MetricField("mcc"), Operator.GREATER, (0.3,))

    with query_plans(evaluated) as by_metric:
        pages(evaluated, above, most=1_000, limit=50)
    with query_plans(evaluated) as by_flag:
        pages(evaluated, FilterTerm(FilterField.FLAG, "any"), most=1_000)
    with query_plans(evaluated) as by_model:
        pages(evaluated, OF_MODEL, most=1_000)

    assert any("ix_metric_value_key_class_index_value" in step for step in by_metric), by_metric
    assert not any(step.startswith("SCAN run") for step in by_metric), by_metric
    # The covering index tells it alone; no row of a flag is looked at.
    assert any("flag USING COVERING INDEX ix_flag_run_id_state" in step for step in by_flag), (
        by_flag
    )
    assert any("ix_run_model_created_at_deleted_at (model=?" in step for step in by_model), (
        by_model
    )
    assert not any(step.startswith("SCAN run") for step in by_model), by_model
