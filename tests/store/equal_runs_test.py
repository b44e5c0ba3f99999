"""Runs with equal values of a metric have one order in lists, groups and rankings."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from offdiag.store import run_list as listing
from offdiag.store import run_list_by_dataset
from offdiag.store.database import Database
from offdiag.store.dataset_page import dataset_list
from offdiag.store.ranked_runs import ranked_runs
from offdiag.store.run_order import Cursor, RunOrder
from support.dashboard import log_counts
from support.filled_once import filled_once

NEWEST_FIRST = ["run 4", "run 3", "run 2", "run 1", "run 0"]


@filled_once
def log_equal_runs(database: Database) -> None:
    for number in range(len(NEWEST_FIRST)):
        log_counts(database, [[8, 2], [1, 6]], ["a", "b"], name=f"run {number}")


@pytest.mark.parametrize("most_in_memory", [0, 1_000])
@pytest.mark.parametrize(("key", "descending"), [("mcc", True), ("error_rate", False)])
def test_the_newest_of_equal_runs_comes_first_in_rankings_lists_and_groups(
    database: Database, key: str, descending: bool, most_in_memory: int
) -> None:
    log_equal_runs(database)

    order = RunOrder(key, descending)
    with patch.object(listing, "SORTED_IN_MEMORY", most_in_memory), database.read() as session:
        (dataset,) = dataset_list(session)
        ranked = ranked_runs(session, dataset.id, key, lower_is_better=not descending, limit=9)
        groups = run_list_by_dataset.run_groups(
            session, [dataset], terms=(), orders={dataset.id: order}, metrics={dataset.id: [key]}
        )
        forwards: list[str] = []
        cursor = None
        while not forwards or cursor is not None:
            page = listing.run_list(
                session, terms=(), dataset_id=dataset.id, order=order, cursor=cursor, limit=2
            )
            assert page.position == len(forwards) + 1
            forwards += [entry.name for entry in page.entries]
            last, cursor = page.previous, page.following
        assert last is not None
        before = listing.run_list(
            session,
            terms=(),
            dataset_id=dataset.id,
            order=order,
            cursor=Cursor(last.place, backwards=True),
            limit=3,
        )

    assert [run.name for run in ranked.runs] == NEWEST_FIRST
    assert [run.name for run in groups.groups[0].entries] == NEWEST_FIRST[:3]
    assert forwards == NEWEST_FIRST
    assert [entry.name for entry in before.entries] == NEWEST_FIRST[1:4]
    assert before.position == 2
