"""Deleted runs are hidden at once and removed later; old results go when there are many."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts, RunState
from offdiag.errors import Conflict, NotFound
from offdiag.records.runs.run import DeletedRunsQuery, deleted_document
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.retention.deletion import Collected, collect, delete_run, restore_run
from offdiag.services.truth.versions import truth_history
from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.dataset_page import dataset_overview
from offdiag.store.health import registry_health
from offdiag.store.models import (
    EvaluationRow,
    MetricValueRow,
    PredictionChunkRow,
    RunRow,
    WorkRow,
)
from offdiag.store.run_list import run_overview
from offdiag.store.run_page import read_run
from support.contents import count_rows
from support.logging_runs import POLICY, correct_labels, evaluate, log, opened, work_off
from support.reads import read

DAY = timedelta(days=1)
IDS = [1, 2, 3, 4, 5, 6]


def listed(database: Database) -> list[str]:
    return [entry.id for entry in read(database, run_overview).page.entries]


def revise(database: Database, labels: dict[int, str]) -> None:
    correct_labels(database, labels, reason=f"these are {labels}")


def age(database: Database, run_id: str, **moments: datetime) -> None:
    with database.write() as session:
        session.execute(update(RunRow).where(RunRow.id == run_id).values(**moments))


@pytest.mark.both_databases
def test_a_deleted_run_is_hidden_everywhere(database: Database) -> None:
    kept, gone = log(database), log(database)
    work_off(database)

    delete_run(database, gone.id, by="ada")

    assert listed(database) == [kept.id]
    ((_, logged),) = read(database, dataset_overview)
    assert logged.by_state[RunState.EVALUATED] == 1
    assert read(database, registry_health).runs_by_state == {RunState.EVALUATED: 1}
    history = truth_history(database, project="default", dataset="holdout")
    assert history.versions[0].n_runs == 1
    with pytest.raises(NotFound, match=r"was deleted.*runs restore"):
        read(database, read_run, gone.id)
    with pytest.raises(NotFound, match=r"was deleted.*runs restore"):
        evaluate(database, gone.id)


def test_a_run_is_deleted_once_without_its_work_and_restored_as_it_was(
    database: Database,
) -> None:
    run, waiting = log(database), log(database)
    before = evaluate(database, run.id)

    delete_run(database, waiting.id, by=None)
    first, second = (delete_run(database, run.id, by=name) for name in ("ada", "bob"))
    assert count_rows(database, WorkRow) == 0
    assert second.deleted_at == first.deleted_at

    restored = restore_run(database, run.id)
    assert restored.deleted_at is None
    assert listed(database) == [run.id]
    assert evaluate(database, run.id).id == before.id


@pytest.mark.both_databases
def test_deleted_runs_are_listed_by_when_they_were_deleted_to_whoever_sees_their_project(
    database: Database,
) -> None:
    now = database.clock()
    old, other, _ = (
        log(database, facts=RunFacts(name="run", project=name))
        for name in ("mine", "theirs", "mine")
    )
    for run, days in ((old, 2), (other, 1)):
        delete_run(database, run.id, by="ada")
        age(database, run.id, deleted_at=now - days * DAY)

    def ids(seen: Database, **asked: Any) -> list[str]:
        query = DeletedRunsQuery.asked(**asked)
        return [run.id for run in deleted_document(seen, query).runs]

    assert ids(database) == [other.id, old.id]
    assert ids(database, limit=1) == [other.id]
    assert ids(database, project="mine", dataset="holdout") == [old.id]
    assert ids(database, dataset="none") == []
    assert ids(database.seen_by(frozenset({"mine"}), None)) == [old.id]


@pytest.mark.both_databases
def test_a_restored_run_catches_up_with_the_truth(database: Database) -> None:
    run = log(database, sample_ids=IDS)
    work_off(database)
    delete_run(database, run.id, by=None)

    revise(database, {6: "a"})

    assert count_rows(database, WorkRow) == 0
    assert reconcile(database, POLICY).submitted == 0
    restore_run(database, run.id)
    # Nobody has to ask for its results first.
    assert count_rows(database, WorkRow) == 1
    assert evaluate(database, run.id).matrix.counts.tolist()[0] == [2, 1, 0]


def test_what_does_not_exist_can_be_neither_deleted_nor_restored(database: Database) -> None:
    with pytest.raises(NotFound, match="there is no run 'r_0'"):
        delete_run(database, "r_0", by=None)
    with pytest.raises(NotFound, match="there is no run 'r_0'"):
        restore_run(database, "r_0")


def test_the_key_of_a_deleted_run_is_not_free(database: Database) -> None:
    facts = RunFacts(name="run", client_key="job-17")
    run = log(database, facts=facts)
    delete_run(database, run.id, by=None)

    with pytest.raises(Conflict, match="which was deleted"):
        log(database, facts=facts)


def collected(database: Database, **changes: Any) -> Collected:
    given: dict[str, Any] = {"older_than": 30 * DAY, "keep": 1}
    return collect(database, **(given | changes))


@pytest.mark.both_databases
def test_runs_that_were_deleted_long_ago_are_removed_with_everything(database: Database) -> None:
    old, recent = log(database), log(database)
    work_off(database)
    for run in (old, recent):
        delete_run(database, run.id, by=None)
    age(database, old.id, deleted_at=database.clock() - 31 * DAY)

    found = collected(database)

    assert found == Collected(deleted_runs=1, open_runs=0, evaluations=0)
    with database.read() as session:
        assert session.scalars(select(RunRow.id)).all() == [recent.id]
        assert session.scalars(select(PredictionChunkRow.run_id)).all() == [recent.id]
        assert session.scalars(select(EvaluationRow.run_id)).all() == [recent.id]
    assert restore_run(database, recent.id).id == recent.id


@pytest.mark.both_databases
def test_superseded_evaluations_beyond_those_to_keep_are_removed(database: Database) -> None:
    run = log(database, sample_ids=IDS)
    work_off(database)
    for label in ("a", "b", "c", "a"):
        revise(database, {6: label}) if label != "c" else revise(database, {6: "c", 5: "b"})
        work_off(database)
    current = evaluate(database, run.id)

    found = collected(database, keep=2)

    assert found.evaluations == 2
    with database.read() as session:
        kept = session.scalars(select(EvaluationRow.id).order_by(EvaluationRow.id)).all()
        with_values = session.scalars(select(MetricValueRow.evaluation_id).distinct()).all()
    assert len(kept) == 3
    assert kept[-1] == current.id
    assert set(with_values) == set(kept)
    assert collected(database, keep=2).evaluations == 0


@pytest.mark.both_databases
def test_open_runs_are_removed_only_when_asked_for(database: Database) -> None:
    forgotten = opened(database, labels=LabelSet.declared(["a", "b"])).run
    age(database, forgotten.id, created_at=database.clock() - 10 * DAY)

    assert collected(database).open_runs == 0
    assert collected(database, open_older_than=11 * DAY).open_runs == 0
    assert collected(database, open_older_than=9 * DAY).open_runs == 1
    assert count_rows(database, RunRow) == 0


def test_many_runs_are_removed_in_several_transactions(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offdiag.services.retention.deletion._RUNS_AT_ONCE", 2)
    for _ in range(5):
        run = log(sqlite_database)
        delete_run(sqlite_database, run.id, by=None)
        age(sqlite_database, run.id, deleted_at=sqlite_database.clock() - 31 * DAY)

    assert collected(sqlite_database).deleted_runs == 5


def test_a_run_that_is_deleted_while_it_is_evaluated_does_no_harm(database: Database) -> None:
    from offdiag.services.evaluation.task import compute_evaluation

    run = log(database)
    write = compute_evaluation(database, {"run": run.id})
    delete_run(database, run.id, by=None)

    with database.write() as session:
        write(session)

    with database.read() as session:
        assert runs.get_any_run(session, run.id).deleted_at is not None
