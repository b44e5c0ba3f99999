"""Projects take turns: how much one has asked for does not keep another waiting."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from sqlalchemy import select, update

from offdiag.domain.runs import RunFacts
from offdiag.services.jobs.attempts import Outcome
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_next_job
from offdiag.services.reports.edition import report_now
from offdiag.store import job_lease
from offdiag.store.database import Database
from offdiag.store.models import ProjectRow, RunRow, WorkRow
from support.logging_runs import POLICY, log, work_off
from support.reporting import SCOPE
from support.reporting import log_run as log_reported

LEASE_S = 30.0


def log_for(database: Database, project: str, number: int) -> None:
    for _ in range(number):
        log(database, facts=RunFacts(name="run", project=project))


def project_of_next(database: Database, dice: random.Random) -> str:
    """Do one job; tells for whom."""
    with database.read() as session:
        rows = session.execute(select(WorkRow.id, WorkRow.project_id))
        before = {row.id: row.project_id for row in rows}
    done = run_next_job(
        database, LeaseKeeper(database, lease_s=LEASE_S), POLICY, choose=dice.choice
    )
    assert done is Outcome.DONE
    with database.read() as session:
        left = set(session.scalars(select(WorkRow.id)))
        (gone,) = before.keys() - left
        return session.scalars(select(ProjectRow.name).where(ProjectRow.id == before[gone])).one()


def test_a_project_with_one_run_does_not_wait_for_one_with_many(database: Database) -> None:
    log_for(database, "busy", 6)
    log_for(database, "quiet", 1)
    dice = random.Random(3)

    served = [project_of_next(database, dice) for _ in range(5)]

    assert "quiet" in served
    assert "busy" in served


def test_within_a_project_what_was_asked_first_is_done_first(database: Database) -> None:
    log_for(database, "skin", 3)
    with database.read() as session:
        logged = list(session.scalars(select(RunRow.id).order_by(RunRow.created_at)))

    with LeaseKeeper(database, lease_s=LEASE_S) as keeper:
        for expected in logged:
            with database.read() as session:
                (first,) = job_lease.next_of_each_project(session, max_attempts=5).values()
                row = session.get(WorkRow, first)
            assert row is not None
            assert row.args["run"] == expected
            run_next_job(database, keeper, POLICY)


def test_every_kind_of_work_says_whose_it_is(database: Database) -> None:
    log_reported(database)
    report_now(database, name="weekly", scope=SCOPE)

    with database.read() as session:
        projects = set(session.scalars(select(WorkRow.project_id)))
        (named,) = session.scalars(select(ProjectRow.id).where(ProjectRow.name == SCOPE.project))
    assert projects == {named}


@pytest.mark.both_databases
def test_work_that_is_for_nobody_has_its_turn_too(database: Database) -> None:
    log_for(database, "skin", 2)
    with database.write() as session:
        first = session.scalars(select(WorkRow.id)).first()
        session.execute(update(WorkRow).where(WorkRow.id == first).values(project_id=None))

    seen: list[Sequence[int | None]] = []

    def choose(projects: Sequence[int | None]) -> int | None:
        seen.append(projects)
        return projects[-1]

    with LeaseKeeper(database, lease_s=LEASE_S) as keeper:
        run_next_job(database, keeper, POLICY, choose=choose)

    assert seen[0][-1] is None
    with database.read() as session:
        assert session.get(WorkRow, first) is None
    work_off(database)
    with database.read() as session:
        assert not session.scalars(select(WorkRow.id)).all()
