"""The counts of all slices are made with an evaluation, kept with it, and those of each slice."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import delete, select

from offdiag.domain.slices import Slice, SliceTerm
from offdiag.inputs.slice_columns import GivenSlices
from offdiag.metrics.counted import matrix_of
from offdiag.metrics.slices.counts import COUNTS_VERSION, SliceCounts
from offdiag.services.evaluation.slice_counts import slice_counts_of, slice_findings
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.truth.versions import add_slices
from offdiag.store.database import Database
from offdiag.store.models import SliceCountsRow
from offdiag.store.slices import kept_slice_counts
from support.filled_once import filled_once
from support.logging_runs import correct_labels, evaluate, log, work_off
from support.optional import present

N = 400


@pytest.fixture
@filled_once
def run_id(database: Database) -> str:
    rng = np.random.default_rng(1)
    actual = rng.choice(["a", "b", "c"], N)
    run = log(
        database,
        y_true=actual,
        y_pred=np.where(rng.random(N) < 0.7, actual, rng.choice(["a", "b", "c"], N)),
        sample_ids=rng.permutation(N),
        slices={"site": rng.choice(["x", "y"], N), "age": rng.normal(50, 9, N)},
    )
    evaluate(database, run.id)
    return run.id


def kept(database: Database) -> list[SliceCountsRow]:
    with database.read() as session:
        return list(session.scalars(select(SliceCountsRow)))


def counted(database: Database, run_id: str) -> SliceCounts:
    return present(slice_counts_of(database, run_id))


def require_equal_to_evaluations(
    database: Database, run_id: str, found: SliceCounts, *, every: int = 1
) -> None:
    for place in range(0, len(found), every):
        terms = tuple(SliceTerm(*term) for term in found.terms(place))
        matrix = matrix_of(evaluation_of_slice(database, run_id, str(Slice(terms))).counted)
        assert found.numbers[place].sum(axis=0).tolist() == [
            matrix.total,
            int(np.trace(matrix.counts)),
            *matrix.actual.tolist(),
            *matrix.predicted.tolist(),
            *np.diagonal(matrix.counts).tolist(),
        ]


def test_the_counts_of_every_slice_are_those_of_its_evaluation(
    database: Database, run_id: str
) -> None:
    assert len(kept(database)) == 1

    found = counted(database, run_id)

    assert found.n_singles == 6
    assert len(found) == 6 + 2 * 4
    require_equal_to_evaluations(database, run_id, found)
    assert len(found.total) == 2  # Two halves.


def test_columns_that_come_later_are_counted(database: Database, run_id: str) -> None:
    columns = {"tags": [["t"] if place % 3 else [] for place in range(N)]}
    given = GivenSlices(columns, ids=np.arange(N))
    assert add_slices(database, project="default", dataset="holdout", given=given).n_runs == 1

    before = counted(database, run_id)
    work_off(database)

    after = counted(database, run_id)
    assert ("tags", ("t",)) in before.columns
    np.testing.assert_array_equal(before.members, after.members)
    np.testing.assert_array_equal(before.numbers, after.numbers)
    require_equal_to_evaluations(database, run_id, after, every=3)


@pytest.mark.both_databases
def test_counts_that_an_older_program_did_not_keep_are_made(
    database: Database, run_id: str
) -> None:
    before = counted(database, run_id)
    with database.write() as session:
        session.execute(delete(SliceCountsRow))

    after = counted(database, run_id)

    assert len(kept(database)) == 1
    np.testing.assert_array_equal(before.members, after.members)
    np.testing.assert_array_equal(before.numbers, after.numbers)


def test_corrected_labels_are_counted(database: Database, run_id: str) -> None:
    correct_labels(database, {3: "a", 4: "b", 5: "c"})
    work_off(database)

    require_equal_to_evaluations(database, run_id, counted(database, run_id), every=3)


def test_counts_of_an_older_way_of_counting_are_made_again(
    database: Database, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = counted(database, run_id)
    (older,) = kept(database)
    monkeypatch.setattr("offdiag.store.slices.COUNTS_VERSION", COUNTS_VERSION + 1)
    with database.read() as session:
        assert kept_slice_counts(session, run_id) is None

    after = counted(database, run_id)

    np.testing.assert_array_equal(before.numbers, after.numbers)
    (newer,) = kept(database)
    assert newer.columns_digest != older.columns_digest


def test_the_slices_of_a_run_are_tested_once(
    database: Database, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = slice_findings(database, run_id)
    monkeypatch.setattr("offdiag.services.evaluation.slice_counts.find_slices", None)

    again = slice_findings(database, run_id)

    assert present(again).found is present(first).found


def test_a_run_without_columns_has_no_counts(database: Database) -> None:
    run = log(database)
    evaluate(database, run.id)

    assert slice_counts_of(database, run.id) is None
    assert kept(database) == []
