"""Metrics are redefined while processes of both versions run: no result falls back, none mixes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import select

from offdiag.domain.slices import parse_slice
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.jobs.kinds import TASKS
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, WorkRow
from offdiag.store.run_page import read_run
from support.contents import count_rows
from support.logging_runs import POLICY, log, work_off
from support.reads import read

OLD, NEW = SUITE_VERSION, SUITE_VERSION + 1
_MODULES = (
    "services.evaluation.compute",
    "services.evaluation.inputs",
    "services.verification.checks",
    "store.evaluations",
    "store.outdated",
)
SITES = {"site": ["north", "south"] * 3}


@contextmanager
def program_of(suite: int) -> Iterator[None]:
    """Whatever happens in the block is done by a program with this version of the metrics."""
    with pytest.MonkeyPatch.context() as patched:
        for module in _MODULES:
            patched.setattr(f"offdiag.{module}.SUITE_VERSION", suite)
        yield


def standing(database: Database) -> list[tuple[str, int, str | None]]:
    """Run, version of the metrics and slice of every result that counts."""
    with database.read() as session:
        found = session.execute(
            select(EvaluationRow.run_id, EvaluationRow.suite_version, EvaluationRow.slice).where(
                EvaluationRow.is_current
            )
        )
        return sorted(((row[0], row[1], row[2]) for row in found), key=repr)


def test_while_both_versions_work_every_run_is_evaluated_anew_once(database: Database) -> None:
    runs = sorted(log(database).id for _ in range(4))
    with program_of(OLD):
        work_off(database)

    for _ in range(4):
        with program_of(NEW):
            reconcile(database, POLICY)
            work_off(database)
        with program_of(OLD):
            asked_by_the_old = reconcile(database, POLICY).submitted
            work_off(database)

    assert asked_by_the_old == 0
    assert standing(database) == [(run, NEW, None) for run in runs]
    # One of each version: nothing was computed a third time, and the old results are kept.
    assert count_rows(database, EvaluationRow) == 2 * len(runs)
    with program_of(NEW):
        assert verify(database).is_clean


def test_a_result_that_was_begun_before_the_new_one_does_not_replace_it(
    database: Database,
) -> None:
    run = log(database)
    with program_of(OLD):
        write_late = TASKS["evaluate"].compute(database, {"run": run.id})
        with program_of(NEW):
            work_off(database)
        with database.write() as session:
            write_late(session)

    assert standing(database) == [(run.id, NEW, None)]


def test_an_old_worker_leaves_runs_with_new_results_to_new_ones(sqlite_database: Database) -> None:
    run = log(sqlite_database)
    with program_of(NEW):
        work_off(sqlite_database)
    with sqlite_database.write() as session:
        from offdiag.services.jobs.submit import submit_evaluation

        submit_evaluation(session, run.id)

    with program_of(OLD):
        work_off(sqlite_database)
    with sqlite_database.write() as session:
        (waiting,) = session.scalars(select(WorkRow))
        assert (waiting.state, waiting.attempts, waiting.error) == ("todo", 0, None)
        waiting.due = 0.0
    with program_of(NEW):
        work_off(sqlite_database)

    assert count_rows(sqlite_database, WorkRow) == 0
    assert standing(sqlite_database) == [(run.id, NEW, None)]


def test_an_old_server_shows_new_results_and_adds_no_slice_of_its_own_to_them(
    sqlite_database: Database,
) -> None:
    run = log(sqlite_database, sample_ids=list("uvwxyz"), slices=SITES)
    with program_of(NEW):
        work_off(sqlite_database)

    with program_of(OLD):
        shown = read(sqlite_database, read_run, run.id)
        of_slice = evaluation_of_slice(sqlite_database, run.id, str(parse_slice("site=north")))

    assert shown.outdated is None
    assert of_slice.suite_version == OLD
    assert standing(sqlite_database) == [(run.id, NEW, None)]
