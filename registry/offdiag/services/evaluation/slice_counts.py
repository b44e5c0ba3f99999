"""The counts of all slices of a run: computed with its evaluation, and stored with it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.runs import Task
from offdiag.errors import InvalidInput
from offdiag.inputs.partial_labels import is_labelled
from offdiag.inputs.slice_columns import SliceColumns
from offdiag.metrics.counted import Counted, CountedSets, unweighted
from offdiag.metrics.multilabel.sets import unpack_sets
from offdiag.metrics.slices.counts import (
    CodedColumn,
    SliceCounts,
    count_slices,
    count_triples,
    outcomes_of_classes,
    outcomes_of_sets,
    random_halves,
)
from offdiag.metrics.slices.finder import SliceFindings, find_slices
from offdiag.metrics.slices.weighted import find_weighted_slices
from offdiag.metrics.weighted.counts import WeightedCounts, of_weights
from offdiag.services.evaluation.slices import require_column
from offdiag.services.lru_cache import LruCache
from offdiag.services.small_groups import suppressed_below
from offdiag.store import datasets, evaluations, logged_counts, predictions, runs, slices, truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.runs import RunRecord
from offdiag.store.truths import TruthRecord

HALVES = 2
N_CROSSED = 3
"""Number of columns that can be crossed on request."""
MOST_TESTED = 8
"""Runs whose slice tests are cached: with thousands of slices, testing takes seconds."""
_TESTED: LruCache[SliceFindings] = LruCache(most=MOST_TESTED)


@dataclass(frozen=True, eq=False)
class CountedSlices:
    """Counts of slices, with the digest of the columns from which they were counted."""

    counts: SliceCounts
    digest: str


def slice_counts_of(database: Database, run_id: str) -> SliceCounts | None:
    """The counts of all slices of a run, for its current evaluation.

    They are counted now if they are missing or columns have been added. None for a run without
    slice columns, and for one that is not yet evaluated. Raises `NotFound`.
    """
    with database.read() as session:
        kept = slices.kept_slice_counts(session, run_id)
        if kept is not None:
            return kept
        found = _counted_now(session, run_id)
    if found is None:
        return None
    run, current, counted = found
    with database.write() as session:
        runs.lock_run(session, run_id, alone=True)  # Others may be counting the same.
        is_current = evaluations.current_key(session, run_id) == current
        if is_current and slices.kept_slice_counts(session, run_id) is None:
            keep_counts(session, current[0], run, counted, with_flags=False)
    return counted.counts


def _counted_now(
    session: Session, run_id: str, only: Sequence[str] = ()
) -> tuple[RunRecord, tuple[int, int | None], CountedSlices] | None:
    """The run, its current evaluation with the truth version, and the counts of its slices."""
    run = runs.get_run(session, run_id)
    current = evaluations.current_key(session, run_id)
    if current is None:
        return None
    truth = None if current[1] is None else truths.get_truth(session, current[1])
    dataset = datasets.get_dataset(session, run.dataset_id)
    counted = count_run(session, run, dataset, truth, only=only)
    return None if counted is None else (run, current, counted)


def _triples_of(database: Database, run_id: str, columns: Sequence[str]) -> SliceCounts | None:
    """The counts of three columns and all their crosses; None for a run without columns."""
    if len(set(columns)) != N_CROSSED or len(columns) != N_CROSSED:
        raise InvalidInput(
            f"{', '.join(map(repr, columns))}: {N_CROSSED} different columns are crossed.",
            field="columns",
            hint="All slices of one column and crosses of two are listed without naming columns.",
        )
    with database.read() as session:
        found = _counted_now(session, run_id, columns)
    return None if found is None else found[2].counts


@dataclass(frozen=True, eq=False)
class RunFindings:
    """Tests of every slice of a run against the rest, and the names of the run's classes."""

    found: SliceFindings
    labels: tuple[str, ...]


def slice_findings(
    database: Database,
    run_id: str,
    counted: Counted | None = None,
    *,
    columns: Sequence[str] = (),
) -> RunFindings | None:
    """Test every slice of a run against the rest; None as in `slice_counts_of`.

    `counted` has the counts of its evaluation, which are read if not given. With three `columns`,
    only their slices are tested, including the crosses of all three, counted now. If small groups
    are suppressed, there are no tests: numbers of overlapping slices and of their rest would
    reveal small groups. Raises `NotFound`, and `InvalidInput` for other columns.
    """
    if suppressed_below():
        return None
    if counted is None:
        with database.read() as session:
            evaluation = evaluations.current_evaluation(session, run_id)
        counted = None if evaluation is None else evaluation.counted
    if isinstance(counted, WeightedCounts):
        if columns:
            raise of_weights("A cross of three columns")
        return _weighted_findings(database, run_id, counted)
    if columns:
        counts = _triples_of(database, run_id, columns)
    else:
        counts = slice_counts_of(database, run_id)
    if counts is None or counted is None:
        return None
    return RunFindings(tested_slices(counts, counted), counted.labels.names)


def _weighted_findings(
    database: Database, run_id: str, counted: WeightedCounts
) -> RunFindings | None:
    """Tests of slices of weighted samples, which are read for this and not stored as counts."""
    with database.read() as session:
        run = runs.get_run(session, run_id)
        current = evaluations.current_key(session, run_id)
        if current is None or current[1] is None:
            return None
        truth = truths.get_truth(session, current[1])
        columns = slices.slice_columns(session, truth.root_id)
        if not columns:
            return None
        place = {"n_samples": truth.n_samples}
        n_classes = counted.n_classes
        actual = truths.truth_codes(session, truth.id)
        predicted = predictions.in_truth_order(
            session, [run.id], **place, n_classes=n_classes, with_weights=True
        )[run.id]
        weight = predictions.weights_in_truth_order(session, [run.id], **place)[run.id]
    places = np.flatnonzero(is_labelled(actual, n_classes) & is_labelled(predicted, n_classes))
    found = find_weighted_slices(
        _coded(columns, places),
        actual[places],
        predicted[places],
        weight[places],
        half=random_halves(places),
        matrix=counted.sums,
    )
    return RunFindings(found, counted.labels.names)


def kept_findings(
    session: Session, run_id: str, counted: Counted | None = None
) -> RunFindings | None:
    """The tests from the stored counts of a run, without counting anything; None without counts.

    `counted` has the counts of its evaluation, which are otherwise read if needed.
    """
    if suppressed_below():
        return None
    counts = slices.kept_slice_counts(session, run_id)
    if counts is None:
        return None
    if counted is None:
        evaluation = evaluations.current_evaluation(session, run_id)
        if evaluation is None:
            return None
        counted = evaluation.counted
    return RunFindings(tested_slices(counts, counted), counted.labels.names)


def tested_slices(counts: SliceCounts, counted: Counted) -> SliceFindings:
    """The tests of counted slices, cached."""
    found = unweighted(counted)
    matrix = None if isinstance(found, CountedSets) else found.counts
    return _TESTED.get(_content(counts, matrix), lambda: find_slices(counts, matrix))


def _content(counts: SliceCounts, matrix: NDArray[np.int64] | None) -> bytes:
    """A digest of everything on which the tests of slices depend."""
    content = hashlib.sha256(repr((counts.columns, counts.n_left_out)).encode())
    for each in (counts.members, counts.numbers, counts.total, matrix):
        if each is not None:
            content.update(repr((each.shape, each.dtype.str)).encode())
            content.update(np.ascontiguousarray(each).tobytes())
    return content.digest()


def are_same_counts(one: SliceCounts, other: SliceCounts) -> bool:
    """Whether two counts are of the same slices, and equal."""
    return (one.columns, one.n_left_out) == (other.columns, other.n_left_out) and all(
        map(
            np.array_equal,
            (one.members, one.numbers, one.total),
            (other.members, other.numbers, other.total),
        )
    )


def keep_counts(
    session: Session, evaluation_id: int, run: RunRecord, by: CountedSlices, *, with_flags: bool
) -> None:
    """Store the counts of an evaluation, unless columns were added since they were made."""
    truth = None
    if run.truth_version_id is not None:
        truth = truths.get_truth(session, run.truth_version_id)
    if _digest(session, run, truth) == by.digest:
        slices.keep_slice_counts(
            session, evaluation_id, by.digest, by.counts, with_flags=with_flags
        )


def count_run(
    session: Session,
    run: RunRecord,
    dataset: DatasetRecord,
    truth: TruthRecord | None,
    *,
    only: Sequence[str] = (),
) -> CountedSlices | None:
    """Count all slices of a run on a ground truth; None if it has no slice columns.

    With three columns in `only`, counts their slices, including the crosses of all three.
    """
    n_classes = len(dataset.labels)
    count = count_triples if only else count_slices
    if not run.has_predictions:
        cases = logged_counts.find_counted_samples(session, run.id)
        if cases is None:
            return None
        whole = np.zeros(len(cases), dtype=np.uint8)
        found = count(
            _coded(_chosen(cases.slices, only), np.arange(len(cases))),
            outcomes_of_classes(
                cases.actual, cases.predicted, n_classes=n_classes, part=whole, n_parts=1
            ),
            n_samples=len(cases),
            sizes=cases.sizes,
        )
        return CountedSlices(found, slices.digest_of_counted_columns())
    if truth is None:
        return None
    columns = slices.slice_columns(session, truth.root_id)
    if not columns:
        return None
    actual = truths.truth_codes(session, truth.id)
    predicted = predictions.in_truth_order(
        session, [run.id], n_samples=truth.n_samples, n_classes=n_classes
    )[run.id]
    places = np.flatnonzero(is_labelled(actual, n_classes) & is_labelled(predicted, n_classes))
    half = random_halves(places)
    if dataset.task is Task.MULTILABEL:
        outcomes = outcomes_of_sets(
            unpack_sets(actual[places], n_classes),
            unpack_sets(predicted[places], n_classes),
            part=half,
            n_parts=HALVES,
        )
    else:
        outcomes = outcomes_of_classes(
            actual[places], predicted[places], n_classes=n_classes, part=half, n_parts=HALVES
        )
    coded = _coded(_chosen(columns, only), places)
    found = count(coded, outcomes, n_samples=len(places), n_parts=HALVES)
    return CountedSlices(found, slices.columns_digest(session, truth.root_id))


def _chosen(columns: SliceColumns, only: Sequence[str]) -> SliceColumns:
    return {name: require_column(columns, name) for name in only} if only else columns


def _digest(session: Session, run: RunRecord, truth: TruthRecord | None) -> str:
    if not run.has_predictions or truth is None:
        return slices.digest_of_counted_columns()
    return slices.columns_digest(session, truth.root_id)


def _coded(columns: SliceColumns, places: NDArray[np.int64]) -> list[CodedColumn]:
    return [
        CodedColumn(name, each.choices, each.codes[places], each.membership)
        for name, each in sorted(columns.items())
    ]
