"""A run may be logged before anybody knows the labels, and is scored on those that arrive."""

from __future__ import annotations

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput, LabelNote
from offdiag.store import truths
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from offdiag.store.truths import TruthRecord
from support.logging_runs import (
    ACTUAL,
    PREDICTED,
    correct_labels,
    evaluate,
    log,
    stream,
    upload_matrix,
    work_off,
)

IDS = [11, 12, 13, 14, 15, 16]
LABELS = ["a", "b", "c"]


def log_unlabelled(database: Database) -> RunRecord:
    return log(database, y_true=None, sample_ids=IDS, labels=LABELS)


def stream_unlabelled(database: Database) -> RunRecord:
    """The same run, in two chunks and another order."""
    halves = (slice(5, 2, -1), slice(2, None, -1))
    parts = [{"y_pred": PREDICTED[half], "ids": IDS[half]} for half in halves]
    return stream(database, parts, labels=LabelSet.declared(LABELS))


def label(database: Database, labels: dict[int, str | None]) -> TruthRecord:
    return correct_labels(database, labels).version


def truth_of(database: Database, run: RunRecord) -> TruthRecord:
    assert run.truth_version_id is not None
    with database.read() as session:
        return truths.get_truth(session, run.truth_version_id)


@pytest.mark.parametrize("log_it", [log_unlabelled, stream_unlabelled])
def test_labels_are_scored_as_they_arrive(database: Database, log_it: object) -> None:
    run = log_it(database)  # type: ignore[operator]
    nothing = evaluate(database, run.id)
    assert truth_of(database, run).n_labelled == 0
    assert truth_of(database, run).class_counts == (0, 0, 0)
    assert (nothing.n_cases, nothing.matrix.total) == (6, 0)
    assert nothing.aggregate["overall_accuracy"].reason == "no_cases"

    label(database, {11: "a", 12: "a", 16: "c"})
    partly = evaluate(database, run.id)
    label(database, {13: "b", 14: "b", 15: "c"})
    wholly = evaluate(database, run.id)

    assert partly.matrix.counts.tolist() == [[1, 1, 0], [0, 0, 0], [1, 0, 0]]
    assert (partly.n_cases, partly.matrix.total) == (6, 3)
    assert wholly.matrix.counts.tolist() == [[1, 1, 0], [0, 2, 0], [1, 0, 1]]
    assert (wholly.n_cases, wholly.matrix.total) == (6, 6)


def test_further_runs_share_the_truth_before_and_after_it_is_completed(
    database: Database,
) -> None:
    first = log_unlabelled(database)

    second = log(database, y_true=None, y_pred=PREDICTED[::-1], sample_ids=IDS[::-1])

    assert second.truth_version_id == first.truth_version_id
    label(database, {11: "a"})
    assert evaluate(database, second.id).matrix.counts.tolist()[0] == [1, 0, 0]
    completed = label(database, dict(zip(IDS[1:], ACTUAL[1:], strict=True)))
    assert log(database, sample_ids=IDS).truth_version_id == completed.id


def test_a_run_that_brings_the_missing_labels_completes_the_truth(database: Database) -> None:
    early = log_unlabelled(database)
    label(database, {11: "a"})
    work_off(database)

    late = log(database, y_pred=ACTUAL, sample_ids=IDS)

    truth = truth_of(database, late)
    assert truth.root_id == early.truth_version_id
    assert truth.reason == "Labels that were missing came with a run."
    assert evaluate(database, early.id).matrix.total == 6
    assert evaluate(database, early.id).truth_version_id == truth.id


def test_contradicting_labels_and_those_of_other_samples_are_other_truth(
    database: Database,
) -> None:
    early = log_unlabelled(database)
    label(database, {11: "b"})

    with pytest.warns(LabelNote, match="other labels than label version 2"):
        late = log(database, y_pred=ACTUAL, sample_ids=IDS)
    elsewhere = log(database, sample_ids=[21, 22, 23, 24, 25, 26])

    for run in (elsewhere, late):
        truth = truth_of(database, run)
        assert truth.parent_id is None
        assert truth.root_id != early.truth_version_id


def test_without_identifiers_labels_could_not_find_their_samples(database: Database) -> None:
    with pytest.raises(InvalidInput, match="sample_ids= if the labels come later"):
        log(database, y_true=None, labels=LABELS)


def test_a_partly_labelled_truth_says_nothing_about_the_orientation_of_a_matrix(
    database: Database,
) -> None:

    log_unlabelled(database)
    label(database, {11: "a"})

    run = upload_matrix(database, [[1, 0, 0], [0, 0, 0], [0, 0, 0]], None, dataset="holdout")

    assert run.orientation_evidence is not None
    assert run.orientation_evidence["verdict"] == "unverified"
