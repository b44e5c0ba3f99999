"""A verification finds what was lost, damaged, left undone or is not what predictions give."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, select, update

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts, RunState
from offdiag.errors import InvalidInput
from offdiag.metrics import custom
from offdiag.services.evaluation.recompute import recompute_stale
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.verification import verify as verify_module
from offdiag.services.verification.checks import FindingKind
from offdiag.services.verification.verify import LedgerEntry, read_ledger, verify
from offdiag.store import codec
from offdiag.store.database import Database, Session
from offdiag.store.models import (
    ConfusionMatrixRow,
    EvaluationRow,
    LabelSetRow,
    MetricValueRow,
    PredictionChunkRow,
    ReportFileRow,
    RunRow,
    ScoreChunkRow,
    ScoreCurveRow,
    SliceCountsRow,
    TruthChunkRow,
    TruthSliceRow,
    TruthVersionRow,
    UploadedMatrixRow,
    WorkRow,
)
from offdiag.store.runs import RunRecord
from support.filled_once import filled_once
from support.logging_runs import (
    ACTUAL,
    PREDICTED,
    correct_labels,
    log,
    stream,
    upload_matrix,
    work_off,
)
from support.reporting import edition, log_plain_run

IDS = [1, 2, 3, 4, 5, 6]
SCORED: dict[str, Any] = {
    "dataset": "scored",
    "y_true": ["n", "y", "n", "y"],
    "y_pred": ["n", "y", "y", "y"],
    "y_score": [0.1, 0.9, 0.8, 0.7],
    "positive_label": "y",
}


def log_parts(
    database: Database, *, ids: list[list[Any]] | None, with_truth: bool = True
) -> RunRecord:
    parts = [
        {
            "y_pred": PREDICTED[part],
            "y_true": ACTUAL[part] if with_truth else None,
            "y_score": np.eye(3)[[0, 1, 2]],
            "ids": None if ids is None else ids[seq],
        }
        for seq, part in enumerate((slice(3, 6), slice(0, 3)))
    ]
    labels = LabelSet.declared(["a", "b", "c"])
    return stream(database, parts, "streamed" if with_truth else "positions", labels)


def log_matrix_run(database: Database) -> RunRecord:
    return upload_matrix(database, [[3, 1], [0, 2]], ["a", "b"], orientation="actual_columns")


def sentences(database: Database) -> list[str]:
    return [finding.sentence for finding in verify(database).findings]


def test_whatever_was_logged_is_clean(database: Database) -> None:
    log(database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    log(database, y_true=None, sample_ids=IDS[::-1])
    log(database, dataset="positions")
    sliced = log(database, **SCORED, slices={"site": ["A", "B"] * 2})
    log_parts(database, ids=[[4, 5, 6], ["x", "y", "z"]])
    log_parts(database, ids=None, with_truth=False)
    log(database, dataset="late", y_true=None, labels=["a", "b", "c"], sample_ids=IDS)
    # More classes than a byte can tell apart.
    many = np.arange(257)
    log(database, dataset="wide", y_true=many, y_pred=np.roll(many, 1))
    log_matrix_run(database)
    correct_labels(database, {1: None, 6: "b"}, version=1)
    work_off(database)
    evaluation_of_slice(database, sliced.id, "site=A")

    found = verify(database)

    assert found.findings == ()
    assert found.n_runs == found.n_recomputed == 9


def test_runs_that_wait_for_their_evaluation_are_not_wrong(database: Database) -> None:
    log(database)

    found = verify(database)

    assert found.is_clean
    assert found.n_waiting == 1


def test_results_of_another_version_of_a_metric_are_outdated_and_no_drift(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custom, "custom_versions", lambda: {"f2_ill": 1})
    sliced = log(database, **SCORED, slices={"site": ["A", "B"] * 2})
    work_off(database)
    evaluation_of_slice(database, sliced.id, "site=A")
    assert verify(database).is_clean

    monkeypatch.setattr(custom, "custom_versions", lambda: {"f2_ill": 2})
    assert sentences(database) == ["its results are outdated and no re-evaluation is queued."]
    found = verify(database)
    assert found.is_clean, "they were right for their version"
    assert found.n_outdated == 1
    recompute_stale(database)
    found = verify(database)
    assert found.findings == ()
    assert found.n_waiting == 1

    work_off(database)
    found = verify(database)
    assert found.findings == ()
    assert found.n_waiting == 0


def test_a_run_that_nobody_was_asked_for_is_found(database: Database) -> None:
    log(database)
    with database.write() as session:
        session.execute(delete(WorkRow))

    assert sentences(database) == ["its results are outdated and no re-evaluation is queued."]
    assert not verify(database).is_clean


def test_results_of_an_earlier_version_are_no_problem_but_those_on_other_labels_are(
    database: Database,
) -> None:
    log_scored(database)
    with database.write() as session:
        session.execute(update(EvaluationRow).values(suite_version=1))

    assert verify(database).is_clean
    correct_labels(database, {0: "y"}, dataset="scored")
    with database.write() as session:
        session.execute(delete(WorkRow))
    found = verify(database)
    assert found.n_outdated == 0
    assert [each.kind for each in found.findings] == [FindingKind.STUCK]


@filled_once
def log_scored(database: Database) -> None:
    """A run whose results are as they should be."""
    log(database, **SCORED)
    work_off(database)
    assert verify(database).is_clean


def first(session: Session, table: type[Any]) -> Any:
    return session.scalars(select(table).limit(1)).one()


def drop_a_chunk(session: Session) -> None:
    session.execute(delete(PredictionChunkRow))


def change_a_prediction(session: Session) -> None:
    chunk = first(session, PredictionChunkRow)
    chunk.codes = bytes([chunk.codes[0] ^ 1]) + chunk.codes[1:]


def change_a_score(session: Session) -> None:
    chunk = first(session, ScoreChunkRow)
    chunk.scores = bytes(4) + chunk.scores[4:]


def drop_the_scores(session: Session) -> None:
    session.execute(delete(ScoreChunkRow))


def change_the_counts(session: Session) -> None:
    first(session, PredictionChunkRow).counts = codec.encode_counts(np.array([[2, 0], [0, 2]]))


def break_the_counts(session: Session) -> None:
    first(session, PredictionChunkRow).counts = b"nonsense"


def change_the_truth(session: Session) -> None:
    chunk = first(session, TruthChunkRow)
    chunk.codes = bytes([1 - chunk.codes[0]]) + chunk.codes[1:]


def drop_the_truth(session: Session) -> None:
    session.execute(delete(TruthChunkRow))


def change_the_class_counts(session: Session) -> None:
    first(session, TruthVersionRow).class_counts = [1, 3]


def change_the_matrix(session: Session) -> None:
    first(session, ConfusionMatrixRow).cells = codec.encode_counts(np.array([[1, 1], [1, 1]]))


def count_otherwise(session: Session) -> None:
    """A matrix that is intact, but not the one that the predictions give."""
    row, labels = first(session, ConfusionMatrixRow), first(session, LabelSetRow)
    names = LabelSet(tuple(labels.names), labels.ordinal)
    row.cells = codec.encode_counts(np.array([[1, 1], [1, 1]]))
    row.digest = codec.decode_counted(row.cells, names).digest


def change_a_value(session: Session) -> None:
    session.execute(
        update(MetricValueRow)
        .where(MetricValueRow.key == "mcc")
        .values(value=np.nextafter(1 / np.sqrt(3), 1).item())
    )


def change_a_curve(session: Session) -> None:
    session.execute(update(ScoreCurveRow).values(n_thresholds=ScoreCurveRow.n_thresholds + 1))


def drop_a_value(session: Session) -> None:
    session.execute(delete(MetricValueRow).where(MetricValueRow.key == "mcc"))


def change_the_lowest_recall(session: Session) -> None:
    session.execute(update(EvaluationRow).values(lowest_recall=0.75))


def change_an_indexed_value(session: Session) -> None:
    is_of_class = MetricValueRow.class_index == 0
    session.execute(update(MetricValueRow).where(is_of_class).values(ci_method="other"))


def change_the_input_digest(session: Session) -> None:
    session.execute(update(EvaluationRow).values(input_digest="d"))


def change_the_number_of_cases(session: Session) -> None:
    session.execute(update(EvaluationRow).values(n_cases=5))


def call_it_weighted(session: Session) -> None:
    session.execute(update(RunRow).values(is_weighted=True))


def drop_the_evaluation(session: Session) -> None:
    session.execute(delete(EvaluationRow))


def give_up(session: Session) -> None:
    session.execute(update(RunRow).values(state=RunState.FAILED))


@pytest.mark.parametrize(
    ("damage", "kind", "sentence"),
    [
        (drop_a_chunk, FindingKind.INCOMPLETE, "its chunks hold 0 predictions, it says 4."),
        (change_a_prediction, FindingKind.DAMAGED, "its predictions are not those that were"),
        (change_a_score, FindingKind.DAMAGED, "its predictions are not those that were"),
        (drop_the_scores, FindingKind.INCOMPLETE, "0 of its 1 chunks have scores."),
        (change_the_counts, FindingKind.DRIFT, "the counts of chunk 0 are not its own."),
        (break_the_counts, FindingKind.DAMAGED, "it cannot be read"),
        (change_the_truth, FindingKind.DAMAGED, "its samples are not those that were logged."),
        (drop_the_truth, FindingKind.DAMAGED, "rows that belong to it are missing."),
        (change_the_class_counts, FindingKind.DAMAGED, "its class counts are not those of its"),
        (count_otherwise, FindingKind.DRIFT, "the matrix is not what the predictions give."),
        (change_the_matrix, FindingKind.DRIFT, "are not those of its digest."),
        (change_a_value, FindingKind.DRIFT, "mcc is 0.57735026918962"),
        (change_a_curve, FindingKind.DRIFT, "the curves are not what the scores give."),
        (drop_a_value, FindingKind.DRIFT, "stored is nothing."),
        (change_the_lowest_recall, FindingKind.DRIFT, "are not those of its classes."),
        (change_an_indexed_value, FindingKind.DRIFT, "are not those of its classes."),
        (change_the_input_digest, FindingKind.DRIFT, "the digest of the inputs is not that of"),
        (
            change_the_number_of_cases,
            FindingKind.DRIFT,
            "the number of samples is 4, stored is 5.",
        ),
        (
            call_it_weighted,
            FindingKind.INCOMPLETE,
            "0 of its 1 chunks have weights, it says it is",
        ),
        (call_it_weighted, FindingKind.DAMAGED, "what it says does not fit its rows."),
        (drop_the_evaluation, FindingKind.STUCK, "it is marked as evaluated and has no"),
        (give_up, FindingKind.STUCK, "its evaluation failed"),
    ],
)
def test_what_is_wrong_is_named(
    database: Database,
    damage: Callable[[Session], None],
    kind: FindingKind,
    sentence: str,
) -> None:
    log_scored(database)

    with database.write() as session:
        damage(session)

    found = verify(database).findings
    assert any(finding.kind is kind and sentence in finding.sentence for finding in found), found


def test_an_uploaded_matrix_that_is_lost_is_found(database: Database) -> None:
    run = upload_matrix(database, [[3, 1], [0, 2]], ["a", "b"])
    work_off(database)
    with database.write() as session:
        session.execute(delete(UploadedMatrixRow))

    found = {(each.subject, each.sentence) for each in verify(database).findings}

    assert (run.id, "it cannot be read: rows that belong to it are missing.") in found


@pytest.mark.parametrize("table", ["label_set", "dataset", "project", "truth_version"])
def test_rows_that_others_refer_to_are_missed(sqlite_database: Database, table: str) -> None:
    log_scored(sqlite_database)
    path = sqlite_database.path
    assert path is not None
    # Another program, which does not ask for foreign keys.
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"DELETE FROM {table}")
        connection.commit()

    found = {each.sentence for each in verify(sqlite_database).findings}

    assert any(f"refers to a missing row of {table}" in sentence for sentence in found)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("label_set", "names"),
        ("report_file", "content"),
        ("report_issue", "created_at"),
        ("report_issue", "scope"),
        ("truth_version", "class_counts"),
    ],
)
def test_values_that_cannot_be_read_are_damaged(
    sqlite_database: Database, table: str, column: str
) -> None:
    log_plain_run(sqlite_database)
    edition(sqlite_database)
    assert verify(sqlite_database).findings == ()
    path = sqlite_database.path
    assert path is not None
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE {table} SET {column} = '[202'")
        connection.commit()

    found = verify(sqlite_database).findings

    assert any(
        each.kind is FindingKind.DAMAGED and each.sentence.startswith("it cannot be read: ")
        for each in found
    ), found


@pytest.mark.both_databases
def test_the_invariants_are_asked_on_both_databases(database: Database) -> None:
    log(database, **SCORED)
    work_off(database)
    with database.write() as session:
        drop_the_scores(session)
        give_up(session)

    found = {finding.sentence for finding in verify(database).findings}

    assert "0 of its 1 chunks have scores." in found
    assert "its evaluation failed after repeated errors." in found


def test_an_uploaded_matrix_that_was_changed_is_found(database: Database) -> None:
    log_matrix_run(database)
    work_off(database)
    with database.write() as session:
        first(session, UploadedMatrixRow).cells = codec.encode_counts(np.array([[3, 0], [1, 2]]))

    found = sentences(database)

    assert "its predictions are not those that were logged." in found
    assert "the matrix is not what the predictions give." in found


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"due": 0.0}, "has waited for more than ten minutes"),
        ({"state": "doing", "lease": "t", "lease_until": 0.0}, "was begun and not ended"),
        ({"state": "dead", "error": ""}, "failed without an error"),
    ],
)
def test_work_that_is_stuck_is_found(
    database: Database, changes: dict[str, Any], sentence: str
) -> None:
    log(database)
    with database.write() as session:
        session.execute(update(WorkRow).values(**changes))

    assert any(sentence in found for found in sentences(database))


@pytest.mark.both_databases
def test_what_was_acknowledged_must_be_there(database: Database, tmp_path: Path) -> None:
    run = log(database, facts=RunFacts(name="run", client_key="job 17"))
    assert run.content_digest is not None
    file = tmp_path / "ledger.txt"
    file.write_text(
        f"job 17 {run.content_digest}\n\njob 17 {'0' * 64}\njob 18 {run.content_digest}\n"
    )

    found = verify(database, ledger=read_ledger(file)).findings

    assert [(finding.kind, finding.subject, finding.sentence) for finding in found] == [
        (FindingKind.LOST, "client key job 17", "it holds other content than was acknowledged."),
        (FindingKind.LOST, "client key job 18", "it was acknowledged and is not there."),
    ]


def test_a_ledger_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ledger.txt"
    file.write_text("job-17 abc\n")

    with pytest.raises(InvalidInput, match=r"line 1 of ledger\.txt is not an entry"):
        read_ledger(file)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_ledger(tmp_path / "nowhere.txt")


def test_a_large_registry_can_be_sampled(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        log(database)
    work_off(database)
    seen: list[str] = []

    whole = verify(database, sample=Random(1))
    monkeypatch.setattr(verify_module, "SAMPLE_FROM", 2)
    monkeypatch.setattr(verify_module, "ONE_IN", 2)
    part = verify(database, sample=Random(1), on_run=seen.append)

    assert (whole.n_recomputed, part.n_recomputed, len(seen)) == (3, 1, 1)


def test_an_entry_of_a_ledger_is_a_key_and_a_digest(tmp_path: Path) -> None:
    file = tmp_path / "ledger.txt"
    file.write_text(f"a b  c {'0' * 64}\n")

    assert read_ledger(file) == [LedgerEntry("a b  c", "0" * 64)]


def drop_the_slice_column(session: Session) -> None:
    session.execute(delete(TruthSliceRow))


def swap_the_values_of_the_slice_column(session: Session) -> None:
    session.execute(update(TruthSliceRow).values(levels=["b", "a"]))


@pytest.mark.parametrize("damage", [drop_the_slice_column, swap_the_values_of_the_slice_column])
def test_slice_columns_that_are_not_those_counted_are_found(
    database: Database, damage: Callable[[Session], None]
) -> None:
    run = log(database, slices={"site": ["a", "a", "b", "b", "b", "b"]})
    work_off(database)
    assert verify(database).findings == ()

    with database.write() as session:
        damage(session)

    found = [(each.subject, each.sentence) for each in verify(database).findings]
    assert found == [(run.id, "the counts of its slices are not what its slice columns give.")]


def test_counts_of_slices_that_cannot_be_read_are_damaged(database: Database) -> None:
    run = log(database, slices={"site": ["a", "a", "b", "b", "b", "b"]})
    work_off(database)

    with database.write() as session:
        session.execute(update(SliceCountsRow).values(dtype="u0"))

    (found,) = verify(database).findings
    assert (found.kind, found.subject) == (FindingKind.DAMAGED, run.id)
    assert found.sentence.startswith("it cannot be read: ")


def test_files_that_an_edition_lacks_are_counted(database: Database) -> None:
    log_plain_run(database)
    edition(database)
    assert verify(database).findings == ()

    for kind, n_missing in (("csv", 1), ("html", 2), ("json", 3), ("markdown", 4)):
        with database.write() as session:
            session.execute(delete(ReportFileRow).where(ReportFileRow.kind == kind))

        (found,) = verify(database).findings
        assert (found.kind, found.subject) == (FindingKind.LOST, "report weekly 1")
        assert found.sentence == f"{n_missing} of its 4 files are missing."
