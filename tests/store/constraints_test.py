"""What the tables themselves refuse, on both databases alike."""

from __future__ import annotations

import math
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, StatementError

from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.domain.runs import RunState, Task
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, MetricValueRow, RunRow, WorkRow
from support.rows import (
    NOW,
    add_chunk,
    add_dataset,
    add_evaluation,
    add_project,
    add_run,
    add_truth,
    add_work,
)


def add_metric(database: Database, **changes: Any) -> None:
    """One metric value of a new run."""
    with database.write() as session:
        evaluation = add_evaluation(session, add_run(session, add_dataset(session)))
        facts = {"evaluation_id": evaluation.id, "key": "accuracy", "class_index": -1}
        session.add(MetricValueRow(**facts | changes))


def add_changed(database: Database, kind: str, **changes: Any) -> None:
    """One row, other than it would be, of a dataset of its own."""
    with database.write() as session:
        if kind == "work":
            add_work(session, **changes)
        elif kind == "dataset":
            add_dataset(session, **changes)
        elif kind == "truth":
            add_truth(session, add_dataset(session), **changes)
        elif kind == "run":
            add_run(session, add_dataset(session), **changes)
        else:
            add = {"chunk": add_chunk, "evaluation": add_evaluation}[kind]
            add(session, add_run(session, add_dataset(session)), **changes)


CANNOT_BE: dict[str, list[dict[str, Any]]] = {
    "run": [
        {"state": "done"},
        {"state": "open", "finished_at": NOW},
        {"state": "finished", "finished_at": None},
        {"source_orientation": "rows"},
        {"orientation_verdict": "guessed"},
        {"n_predictions": -1},
        {"score_columns": -1},
    ],
    "dataset": [{"task": "regression"}],
    "truth": [{"number": 0}, {"n_samples": -1}, {"id_kind": "uuid"}, {"origin": "guessed"}],
    "chunk": [{"n": 0}, {"seq": -1}],
    "work": [{"state": "done"}, {"attempts": -1}],
    "evaluation": [{"suite_version": 0}, {"n_cases": -1}],
}


@pytest.mark.parametrize("kind", CANNOT_BE)
def test_a_row_that_cannot_be_is_refused(database: Database, kind: str) -> None:
    for changes in CANNOT_BE[kind]:
        with pytest.raises(IntegrityError):
            add_changed(database, kind, **changes)


@pytest.mark.parametrize("state", RunState)
@pytest.mark.parametrize("source", SourceOrientation)
def test_every_state_and_orientation_can_be_stored(
    database: Database, state: RunState, source: SourceOrientation
) -> None:
    finished = None if state is RunState.OPEN else NOW

    add_changed(database, "run", state=state, source_orientation=source, finished_at=finished)


@pytest.mark.parametrize("verdict", [None, *OrientationVerdict])
def test_every_verdict_can_be_stored(
    database: Database, verdict: OrientationVerdict | None
) -> None:
    add_changed(database, "run", orientation_verdict=verdict)


@pytest.mark.parametrize("task", Task)
def test_every_task_can_be_stored(database: Database, task: Task) -> None:
    add_changed(database, "dataset", task=task)


def test_a_number_that_postgresql_cannot_hold_is_refused_on_both(database: Database) -> None:
    for n in ("many", 2**31):
        with pytest.raises(DBAPIError):
            add_changed(database, "chunk", n=n)


def test_a_metric_value_that_cannot_be_is_refused(database: Database) -> None:
    cases: list[dict[str, Any]] = [
        {"value": 0.5, "reason": "no_cases"},
        {"value": None, "reason": None},
        {"value": math.nan},
        {"value": math.inf},
        {"value": -math.inf},
        {"value": 0.5, "ci_low": math.nan, "ci_high": 1.0, "ci_method": "wilson"},
        {"value": 0.5, "ci_low": 0.0, "ci_high": math.inf, "ci_method": "wilson"},
        {"value": 0.5, "ci_low": 0.0, "ci_high": 1.0},
        {"value": 0.5, "class_index": -2},
    ]
    for changes in cases:
        with pytest.raises(StatementError):
            add_metric(database, **changes)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_refused_in_plain_sql_on_postgresql(
    postgres_database: Database, value: str
) -> None:
    add_metric(postgres_database, value=0.5)

    with pytest.raises(IntegrityError), postgres_database.write() as session:
        session.execute(text("UPDATE metric_value SET value = CAST(:v AS float8)"), {"v": value})


@pytest.mark.parametrize("value", ["9e999", "-9e999", "'high'", "x'00'"])
def test_what_is_no_number_is_refused_in_plain_sql_on_sqlite(
    sqlite_database: Database, value: str
) -> None:
    add_metric(sqlite_database, value=0.5)

    with pytest.raises(IntegrityError), sqlite_database.write() as session:
        session.execute(text(f"UPDATE metric_value SET value = {value}"))


@pytest.mark.parametrize(
    "changes",
    [
        {"value": 0.5},
        {"value": -1e300, "ci_low": -1e300, "ci_high": 1e300, "ci_method": "wilson"},
        {"reason": "positive_over_zero", "tends_to": "+inf"},
        {"value": 0.5, "ci_low": 0.1, "ci_high": None, "ci_method": "wilson; one-sided"},
        {"value": 5e-324, "class_index": 9_999},
    ],
)
def test_values_and_reasons_come_back_as_they_were(
    database: Database, changes: dict[str, Any]
) -> None:
    add_metric(database, **changes)

    with database.read() as session:
        row = session.scalars(select(MetricValueRow)).one()
        assert {name: getattr(row, name) for name in changes} == changes


def test_a_client_key_finds_one_run_per_project(database: Database) -> None:
    with database.write() as session:
        dataset = add_dataset(session)
        other = add_project(session, name="other")
        add_run(session, dataset, id="r_1", client_key="k")
        add_run(session, dataset, id="r_2", client_key="k", project_id=other.id)
        add_run(session, dataset, id="r_3", client_key=None)
        add_run(session, dataset, id="r_4", client_key=None)

        with pytest.raises(IntegrityError), session.begin_nested():
            add_run(session, dataset, id="r_5", client_key="k")


def test_a_run_has_one_current_evaluation_and_any_number_of_old_ones(database: Database) -> None:
    with database.write() as session:
        run = add_run(session, add_dataset(session))
        add_evaluation(session, run, input_digest="old", is_current=False)
        add_evaluation(session, run, input_digest="older", is_current=False)
        add_evaluation(session, run, input_digest="new", is_current=True)

        with pytest.raises(IntegrityError), session.begin_nested():
            add_evaluation(session, run, input_digest="newer", is_current=True)


def test_the_same_inputs_are_evaluated_once(database: Database) -> None:
    with database.write() as session:
        run = add_run(session, add_dataset(session))
        add_evaluation(session, run, input_digest="d", is_current=False)

        with pytest.raises(IntegrityError), session.begin_nested():
            add_evaluation(session, run, input_digest="d", is_current=True)


def test_one_piece_of_work_waits_per_key(database: Database) -> None:
    with database.write() as session:
        add_work(session, key="evaluate:r_1", state="todo")

        with pytest.raises(IntegrityError), session.begin_nested():
            add_work(session, key="evaluate:r_1", state="todo")


@pytest.mark.parametrize("state", ["doing", "dead"])
def test_a_key_is_free_again_when_nothing_waits_under_it(database: Database, state: str) -> None:
    with database.write() as session:
        add_work(session, key="evaluate:r_1", state=state)
        add_work(session, key="evaluate:r_1", state=state)
        add_work(session, key="evaluate:r_1", state="todo")

    with database.read() as session:
        assert len(session.scalars(select(WorkRow)).all()) == 3


def test_an_evaluation_takes_no_infinite_time(database: Database) -> None:
    with pytest.raises(StatementError):
        add_changed(database, "evaluation", duration_s=math.inf)


def test_numbers_start_at_their_defaults(database: Database) -> None:
    with database.write() as session:
        run = add_run(session, add_dataset(session))
        work = add_work(session)

        assert (run.n_predictions, run.score_columns, work.attempts) == (0, 0, 0)


def test_deleting_a_run_deletes_what_belongs_to_it_and_nothing_else(database: Database) -> None:
    with database.write() as session:
        dataset = add_dataset(session)
        doomed = add_run(session, dataset, id="r_1")
        kept = add_run(session, dataset, id="r_2")
        for run in (doomed, kept):
            add_chunk(session, run)
            add_evaluation(session, run)

        session.delete(doomed)

    with database.read() as session:
        assert session.scalars(select(RunRow.id)).all() == ["r_2"]
        assert session.scalars(select(EvaluationRow.run_id)).all() == ["r_2"]
        assert session.scalars(text("SELECT run_id FROM prediction_chunk")).all() == ["r_2"]


def test_a_dataset_with_runs_cannot_be_deleted(database: Database) -> None:
    with database.write() as session:
        dataset = add_dataset(session)
        add_run(session, dataset)

        with pytest.raises(IntegrityError), session.begin_nested():
            session.execute(text("DELETE FROM dataset"))


def test_an_id_is_not_given_again_after_its_row_was_deleted(database: Database) -> None:
    with database.write() as session:
        first = add_work(session)
        session.delete(first)

    with database.write() as session:
        second = add_work(session)

    assert second.id > first.id
