"""What is stale is derived and computed again; everything can be dropped and comes back equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, select

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunState, StaleReason
from offdiag.errors import Conflict, NotFound
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.evaluation.history import run_history
from offdiag.services.evaluation.recompute import recompute_all, recompute_runs, recompute_stale
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.flags.rules import rules_in_force
from offdiag.services.jobs.reconcile import reconcile
from offdiag.settings import JobsSettings
from offdiag.store import job_lease, jobs, runs
from offdiag.store.database import Database
from offdiag.store.models import (
    EvaluationRow,
    PredictionChunkRow,
    ScoreChunkRow,
    ScoreCurveRow,
    WorkRow,
)
from offdiag.store.outdated import stale_runs
from support.contents import contents
from support.logging_runs import (
    ACTUAL,
    POLICY,
    correct_labels,
    evaluate,
    log,
    opened,
    upload_matrix,
    work_off,
)

IDS = [1, 2, 3, 4, 5, 6]


def revise(database: Database, labels: dict[int, str | None]) -> None:
    correct_labels(database, labels, reason=f"these are {labels}")


def curves_in(database: Database, evaluation_id: int) -> list[tuple[Any, ...]]:
    """Everything that is kept of the curves of an evaluation, as it is stored."""
    table = ScoreCurveRow.__table__
    with database.read() as session:
        rows = session.execute(
            select(table)
            .where(table.c.evaluation_id == evaluation_id)
            .order_by(table.c.class_index)
        )
        return [tuple(row) for row in rows]


def drop_curves(database: Database) -> None:
    with database.write() as session:
        session.execute(delete(ScoreCurveRow))


def drop_work(database: Database) -> None:
    with database.write() as session:
        for row in session.scalars(select(WorkRow)):
            session.delete(row)


def waiting(database: Database) -> list[str]:
    with database.read() as session:
        return sorted(session.scalars(select(WorkRow.key).where(WorkRow.state == "todo")))


def reasons(
    database: Database, *, suite_version: int = SUITE_VERSION
) -> dict[str, tuple[StaleReason, ...]]:
    digest = rules_in_force().digest
    with database.read() as session, pytest.MonkeyPatch.context() as patched:
        patched.setattr("offdiag.store.outdated.SUITE_VERSION", suite_version)
        stale = stale_runs(session, rules_digest=digest)
    return {run.run_id: run.reasons for run in stale}


def results(database: Database) -> dict[str, Any]:
    """Everything that was computed, without the ids that rows happen to have."""
    with database.read() as session:
        found = session.execute(
            select(EvaluationRow.id, EvaluationRow.run_id, EvaluationRow.slice)
        ).all()
    names = {row.id: (row.run_id, row.slice or "") for row in found}
    tables = contents(database)
    ids_first = ("metric_value", "class_values", "confusion_matrix")
    computed = {
        name: sorted(((names[row[0]], *row[1:]) for row in tables[name]), key=repr)
        for name in ids_first
    }
    computed["evaluation"] = sorted((row[1:] for row in tables["evaluation"]), key=repr)
    return computed | {name: tables[name] for name in ("run", "prediction_chunk", "work")}


def test_a_run_without_evaluation_is_stale_and_an_open_one_is_not(database: Database) -> None:
    run = log(database)
    opened(database, "open", LabelSet.declared(["a", "b"]))

    assert reasons(database) == {run.id: (StaleReason.NOT_EVALUATED,)}

    work_off(database)
    assert reasons(database) == {}


def test_a_run_whose_truth_was_corrected_or_whose_suite_is_older_is_stale(
    database: Database,
) -> None:
    run = log(database, sample_ids=IDS)
    log(database, dataset="other")
    work_off(database)
    # A process of the former version is still running: it must not undo what the new one did.
    assert reasons(database, suite_version=SUITE_VERSION - 1) == {}

    revise(database, {6: "a"})

    assert reasons(database) == {run.id: (StaleReason.TRUTH_REVISED,)}
    found = reasons(database, suite_version=SUITE_VERSION + 1)
    assert found[run.id] == (StaleReason.TRUTH_REVISED, StaleReason.SUITE_CHANGED)
    assert set(found.values()) == {found[run.id], (StaleReason.SUITE_CHANGED,)}


@pytest.mark.both_databases
def test_scores_without_curves_are_stale_until_the_same_curves_are_there_again(
    database: Database,
) -> None:
    run = log(database, y_score=np.full((6, 3), 1 / 3))
    evaluated = evaluate(database, run.id)
    before = curves_in(database, evaluated.id)
    drop_curves(database)

    assert reasons(database) == {run.id: (StaleReason.CURVES_MISSING,)}
    recompute_stale(database)
    work_off(database)

    assert reasons(database) == {}
    assert len(before) == 4
    assert curves_in(database, evaluated.id) == before


def test_scores_that_were_lost_are_not_waited_for(database: Database) -> None:
    run = log(database, y_score=np.full((6, 3), 1 / 3))
    evaluate(database, run.id)
    drop_curves(database)
    with database.write() as session:
        session.execute(delete(ScoreChunkRow))

    assert reasons(database) == {}


def test_exactly_what_is_stale_is_asked_for(database: Database) -> None:
    behind = log(database, sample_ids=IDS)
    log(database, dataset="other")
    work_off(database)
    revise(database, {6: "a"})
    drop_work(database)

    asked = recompute_stale(database)

    assert [run.run_id for run in asked.runs] == [behind.id]
    assert waiting(database) == [f"evaluate:{behind.id}"]
    assert recompute_stale(database).n_submitted == 0
    drop_work(database)
    assert reconcile(database, POLICY).submitted == 1
    work_off(database)
    assert reasons(database) == {}


def test_asking_for_the_evaluation_of_a_stale_run_gives_the_new_one(
    sqlite_database: Database,
) -> None:
    # In an embedded registry; elsewhere a worker does it.
    from offdiag.services.evaluation.results import evaluation_of

    run = log(sqlite_database, sample_ids=IDS)
    work_off(sqlite_database)
    revise(sqlite_database, {6: "a"})
    drop_work(sqlite_database)

    found = evaluation_of(sqlite_database, run.id, timeout_s=5, settings=JobsSettings())

    assert found.matrix.counts.tolist()[0] == [2, 1, 0]
    assert waiting(sqlite_database) == []


def log_many(database: Database) -> list[str]:
    """Runs of every kind: with scores, slices, corrected truth, and of a matrix."""
    scored = log(
        database,
        dataset="scored",
        y_true=["n", "y", "n", "y"],
        y_pred=["n", "y", "y", "y"],
        y_score=[0.1, 0.9, 0.8, 0.7],
        positive_label="y",
    )
    corrected = log(database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    revise(database, {6: None, 1: "b"})
    matrix = upload_matrix(database, [[3, 1], [0, 2]], ["a", "b"], orientation="actual_columns")
    return [scored.id, corrected.id, matrix.id]


def test_everything_dropped_comes_back_bit_for_bit(database: Database) -> None:
    run_ids = log_many(database)
    work_off(database)
    before = results(database)

    asked = recompute_all(database)
    dropped = results(database)
    work_off(database)

    assert sorted(run.run_id for run in asked.runs) == sorted(run_ids)
    assert dropped["metric_value"] == []
    assert results(database) == before


def test_slices_are_dropped_too_and_come_back_when_asked_for(database: Database) -> None:
    run = log(database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    work_off(database)
    evaluation_of_slice(database, run.id, "site=A")
    before = results(database)

    recompute_all(database)
    work_off(database)
    evaluation_of_slice(database, run.id, "site=A")

    assert results(database) == before


def test_wrong_counts_of_a_chunk_are_put_right(database: Database) -> None:
    run = log(database)
    right = evaluate(database, run.id).matrix.counts.tolist()
    with database.write() as session:
        chunk = session.scalars(select(PredictionChunkRow)).one()
        wrong = chunk.counts
        assert wrong is not None
        chunk.counts = wrong[:-8] + bytes(8)

    recompute_runs(database, [run.id])
    assert evaluate(database, run.id).matrix.counts.tolist() == right

    with database.read() as session:
        assert session.scalars(select(PredictionChunkRow.counts)).one() != wrong[:-8] + bytes(8)


def test_superseded_results_survive(database: Database) -> None:
    run = log(database, sample_ids=IDS)
    old = evaluate(database, run.id)
    revise(database, {6: "a"})
    work_off(database)

    recompute_all(database)
    work_off(database)

    with database.read() as session:
        kept = session.scalars(select(EvaluationRow.id).where(~EvaluationRow.is_current)).all()
    assert kept == [old.id]


def test_a_failed_run_is_tried_again_when_somebody_asks(database: Database) -> None:
    run = log(database)
    with database.write() as session:
        (work_id,) = job_lease.next_of_each_project(session, max_attempts=5).values()
        lease = job_lease.claim(session, work_id, token="t", lease_s=30, max_attempts=5)
        assert lease is not None
        jobs.fail_permanently(session, lease, error="boom")
        runs.set_state(session, run.id, RunState.FAILED)

    assert recompute_stale(database).runs == ()
    asked = recompute_runs(database, [run.id])

    assert asked.n_submitted == 1
    assert evaluate(database, run.id).matrix.total == len(ACTUAL)


def test_what_cannot_be_evaluated_is_refused_and_nothing_is_dropped(database: Database) -> None:
    done = log(database)
    work_off(database)
    still_open = opened(database).run

    with pytest.raises(Conflict, match="is still open"):
        recompute_runs(database, [done.id, still_open.id])
    with pytest.raises(NotFound):
        recompute_runs(database, [done.id, "r_0"])

    assert reasons(database) == {}


def test_the_history_of_a_run_says_what_differed(database: Database) -> None:
    run = log(database, sample_ids=IDS, slices={"site": ["A", "B"] * 3})
    work_off(database)
    evaluation_of_slice(database, run.id, "site=A")
    revise(database, {6: None, 1: "b"})
    work_off(database)

    history = run_history(database, run.id)

    assert [
        (entry.evaluation.slice, entry.evaluation.is_current, entry.differences)
        for entry in history
    ] == [
        (None, False, ()),
        ("site=A", False, ()),
        (None, True, ("label version 1 → 2", "labelled samples 6 → 5")),
    ]
    assert history[0].evaluation.metrics["overall_accuracy"].value == 4 / 6
    with pytest.raises(NotFound):
        run_history(database, "r_0")
