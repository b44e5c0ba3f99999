"""Transactions that see some projects only, and that say who made them, on both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import delete, func, select, union_all, update
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import Session, aliased

from offdiag.domain.access import Actor
from offdiag.errors import Forbidden
from offdiag.store.audit_log import AuditFilter, audit_page
from offdiag.store.database import Database
from offdiag.store.datasets import create_project
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    FlagRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
    WorkRow,
)
from support.dashboard import log_counts
from support.filled_once import filled_once
from support.kinds import Kind
from support.reads import read

ANA = Actor("user", "ana", "test.do", "/here", "alpha", "0123")
COUNTS = [[50, 1], [9, 1]]


@filled_once
def log_two(database: Database) -> None:
    """A run in `alpha` and one in `beta`, both with flags."""
    for project in ("alpha", "beta"):
        log_counts(database, COUNTS, ("a", "b"), name=project, dataset=project, project=project)


@pytest.fixture
def two(database: Database) -> Database:
    """A run in each of two projects, to be changed."""
    log_two(database)
    return database


@pytest.fixture(scope="module")
def read_only(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """The same, which several tests read."""
    with databases.new(tmp_path_factory.mktemp("scope")) as database:
        log_two(database)
        yield database


def confined(database: Database, *projects: str) -> Database:
    return database.seen_by(frozenset(projects), ANA)


def names(session: Session) -> list[str]:
    return list(session.scalars(select(RunRow.name).order_by(RunRow.name)))


def test_every_way_to_ask_sees_the_same_projects(read_only: Database) -> None:
    other = aliased(RunRow)
    with confined(read_only, "alpha").read() as session:
        assert names(session) == ["alpha"]
        assert session.scalars(select(other.name)).all() == ["alpha"]
        assert session.scalar(select(func.count()).select_from(RunRow)) == 1
        inner = select(func.count()).select_from(RunRow).scalar_subquery()
        assert session.scalar(select(inner)) == 1
        both = union_all(select(RunRow.name), select(DatasetRow.name)).subquery()
        assert session.execute(select(both)).scalars().all() == ["alpha", "alpha"]
        joined = select(ProjectRow.name).join(RunRow, RunRow.project_id == ProjectRow.id)
        assert session.scalars(joined).all() == ["alpha"]
        outer = select(RunRow.name).outerjoin(EvaluationRow, EvaluationRow.run_id == RunRow.id)
        assert session.scalars(outer).all() == ["alpha"]


@pytest.mark.parametrize("row", [DatasetRow, EvaluationRow, FlagRow, TruthVersionRow, ProjectRow])
def test_what_belongs_to_a_run_or_a_dataset_belongs_to_its_project(
    read_only: Database, row: type[DatasetRow]
) -> None:
    with read_only.read() as session:
        everything = session.scalar(select(func.count()).select_from(row)) or 0
    with confined(read_only, "alpha").read() as session:
        seen = session.scalar(select(func.count()).select_from(row)) or 0
    with confined(read_only).read() as session:
        nothing = session.scalar(select(func.count()).select_from(row))

    assert 0 < seen < everything
    assert nothing == 0


def test_a_row_is_not_found_by_its_key_either(read_only: Database) -> None:
    with read_only.read() as session:
        hidden = session.scalar(select(RunRow.id).where(RunRow.name == "beta"))
    with confined(read_only, "alpha").read() as session:
        assert session.get(RunRow, hidden) is None


def test_work_belongs_to_no_project(read_only: Database) -> None:
    with confined(read_only, "alpha", "beta").read() as session:
        assert session.scalars(select(WorkRow.id)).all() == []


def test_changes_and_removals_reach_no_further(two: Database) -> None:
    with confined(two, "alpha").write() as session:
        session.execute(update(RunRow).values(author="me"))
        session.execute(delete(FlagRow))
    with two.read() as session:
        authors = {run.name: run.author for run in session.scalars(select(RunRow))}
        flagged = session.scalars(select(RunRow.name).join(FlagRow).distinct()).all()

    assert authors == {"alpha": "me", "beta": None}
    assert flagged == ["beta"]


def test_no_project_is_made_out_of_sight(two: Database) -> None:
    for name in ("beta", "gamma"):
        with pytest.raises(Forbidden), confined(two, "alpha").write() as session:
            create_project(session, name, two.clock())


def test_a_change_says_who_made_it_and_what_it_touched(two: Database) -> None:
    with two.seen_by(None, ANA).write() as session:
        session.execute(update(RunRow).values(author="me"))
        create_project(session, "gamma", two.clock())

    (event,) = read(two, audit_page, AuditFilter()).events

    assert (event.actor_kind, event.actor, event.action) == ("user", "ana", "test.do")
    assert (event.subject, event.project, event.request_id) == ("/here", "alpha", "0123")
    assert event.detail == {"added": ["project"], "changed": ["run"]}


def test_the_audit_log_is_that_of_the_projects(two: Database) -> None:
    with two.seen_by(None, ANA).write() as session:
        session.execute(update(RunRow).values(author="me"))

    assert len(read(confined(two, "alpha"), audit_page, AuditFilter()).events) == 1
    assert read(confined(two, "beta"), audit_page, AuditFilter()).events == ()


def test_nothing_is_written_down_of_what_was_rolled_back_or_only_read(two: Database) -> None:
    database = two.seen_by(None, ANA)
    with database.write() as session:
        names(session)
        session.execute(update(RunRow).where(RunRow.id == "r_none").values(author="me"))
    with pytest.raises(NoResultFound):
        change_and_fail(database)

    assert read(two, audit_page, AuditFilter()).events == ()


def change_and_fail(database: Database) -> None:
    with database.write() as session:
        session.execute(update(RunRow).values(author="me"))
        session.get_one(RunRow, "r_none")


def test_what_nobody_is_answerable_for_is_not_written_down(two: Database) -> None:
    with two.write() as session:
        session.execute(update(RunRow).values(author="me"))

    assert read(two, audit_page, AuditFilter()).events == ()
