"""Statements that check whether a registry is healthy.

They read its database, its runs by state, its queue and the size of the write-ahead log of an
SQLite file, and find rows that violate what must hold in every registry at any time.

Commits are appended to the log and move to the file now and then. A reader that keeps one old
snapshot open prevents that, and prevents the log from starting over: it grows without limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exists, func, or_, select, text
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import Session

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.store.database import Database, database_now, database_time
from offdiag.store.evaluations import has_results_of_run
from offdiag.store.models import PredictionChunkRow, RunRow, ScoreChunkRow, WorkRow
from offdiag.store.models.jobs import EVALUATION_KEY

MISSING = (LookupError, NoResultFound)
"""What reads raise if rows are missing that others refer to."""

_TAKEN_OVER_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class QueueState:
    """Jobs by state; `oldest_waiting_s` is how long the oldest one has been due.

    `abandoned` are those of `doing` whose lease ran out over a minute ago, still unclaimed.
    """

    waiting: int
    doing: int
    dead: int
    oldest_waiting_s: float | None
    abandoned: int = 0


@dataclass(frozen=True, slots=True)
class RegistryHealth:
    """The state of a registry; `journal_mode` is that of SQLite, None on PostgreSQL."""

    server_version: str
    journal_mode: str | None
    runs_by_state: Mapping[RunState, int]
    queue: QueueState
    database_time: datetime


def registry_health(session: Session) -> RegistryHealth:
    """Read the state of a registry, in a handful of statements."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    version = "SELECT sqlite_version()" if is_sqlite else "SHOW server_version"
    states = session.execute(
        select(RunRow.state, func.count())
        .where(RunRow.deleted_at.is_(None))
        .group_by(RunRow.state)
    )
    return RegistryHealth(
        server_version=str(session.scalar(text(version))),
        journal_mode=str(session.scalar(text("PRAGMA journal_mode"))) if is_sqlite else None,
        runs_by_state={RunState(state): count for state, count in states},
        queue=_queue(session),
        database_time=database_time(session),
    )


def _queue(session: Session) -> QueueState:
    rows = session.execute(select(WorkRow.state, func.count()).group_by(WorkRow.state))
    counts = {row.state: row[1] for row in rows}
    waited = session.scalar(
        select(func.max(database_now() - WorkRow.due)).where(
            WorkRow.state == "todo", WorkRow.due <= database_now()
        )
    )
    abandoned = session.scalar(
        select(func.count()).where(
            WorkRow.state == "doing", WorkRow.lease_until < database_now() - _TAKEN_OVER_WITHIN_S
        )
    )
    return QueueState(
        waiting=counts.get("todo", 0),
        doing=counts.get("doing", 0),
        dead=counts.get("dead", 0),
        oldest_waiting_s=waited,
        abandoned=abandoned or 0,
    )


OVERDUE_S = 600.0
"""Jobs that wait longer than this, in seconds, wait for a worker that is not there."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A row that breaks a rule, and how."""

    subject: str
    sentence: str


def incomplete_runs(session: Session) -> Iterator[Breach]:
    """Complete runs whose chunks do not add up to what the run says it has."""
    chunks = (
        select(
            PredictionChunkRow.run_id,
            func.count().label("n_chunks"),
            func.sum(PredictionChunkRow.n).label("n_predictions"),
            func.max(PredictionChunkRow.seq).label("last_seq"),
            func.count(PredictionChunkRow.weights).label("n_weighted"),
        )
        .group_by(PredictionChunkRow.run_id)
        .subquery()
    )
    scores = (
        select(
            ScoreChunkRow.run_id,
            func.count().label("n_chunks"),
            func.min(ScoreChunkRow.n_columns).label("fewest"),
            func.max(ScoreChunkRow.n_columns).label("most"),
        )
        .group_by(ScoreChunkRow.run_id)
        .subquery()
    )
    rows = session.execute(
        select(
            RunRow.id,
            RunRow.n_predictions,
            RunRow.score_columns,
            func.coalesce(chunks.c.n_chunks, 0).label("n_chunks"),
            func.coalesce(chunks.c.n_predictions, 0).label("n_stored"),
            func.coalesce(chunks.c.last_seq, -1).label("last_seq"),
            RunRow.is_weighted,
            func.coalesce(chunks.c.n_weighted, 0).label("n_weighted"),
            func.coalesce(scores.c.n_chunks, 0).label("n_scored"),
            func.coalesce(scores.c.fewest, 0).label("fewest"),
            func.coalesce(scores.c.most, 0).label("most"),
        )
        .outerjoin(chunks, chunks.c.run_id == RunRow.id)
        .outerjoin(scores, scores.c.run_id == RunRow.id)
        .where(
            RunRow.state != RunState.OPEN,
            RunRow.deleted_at.is_(None),
            RunRow.source_orientation == SourceOrientation.PREDICTIONS,
        )
    )
    for row in rows:
        if row.n_stored != row.n_predictions:
            sentence = f"its chunks hold {row.n_stored} predictions, it says {row.n_predictions}."
            yield Breach(row.id, sentence)
        if row.last_seq != row.n_chunks - 1:
            yield Breach(row.id, "its chunks are not numbered from 0 up.")
        if row.n_scored != (row.n_chunks if row.score_columns else 0):
            sentence = f"{row.n_scored} of its {row.n_chunks} chunks have scores."
            yield Breach(row.id, sentence)
        if row.n_weighted != (row.n_chunks if row.is_weighted else 0):
            is_said = "it says it is weighted" if row.is_weighted else "it says it is not weighted"
            yield Breach(
                row.id, f"{row.n_weighted} of its {row.n_chunks} chunks have weights, {is_said}."
            )
        if not row.fewest == row.most == row.score_columns:
            yield Breach(row.id, "its scores have other columns than it says.")


def runs_without_results(session: Session) -> Iterator[Breach]:
    """Runs that claim to be evaluated and are not, and runs whose evaluation failed for good."""
    current = exists().where(has_results_of_run())
    rows = session.execute(
        select(RunRow.id, RunRow.state)
        .where(
            RunRow.deleted_at.is_(None),
            or_(RunRow.state == RunState.FAILED, (RunRow.state == RunState.EVALUATED) & ~current),
        )
        .order_by(RunRow.id)
    )
    for run_id, state in rows:
        if state == RunState.FAILED:
            yield Breach(run_id, "its evaluation failed after repeated errors.")
        else:
            yield Breach(run_id, "it is marked as evaluated and has no evaluation.")


def stuck_work(session: Session) -> Iterator[Breach]:
    """Jobs that have been waiting for too long, and jobs that failed for good without an error."""
    overdue = database_now() - OVERDUE_S
    rows = session.execute(
        select(WorkRow.id, WorkRow.key, WorkRow.state)
        .where(
            or_(
                (WorkRow.state == "todo") & (WorkRow.due < overdue),
                (WorkRow.state == "doing") & (WorkRow.lease_until < overdue),
                (WorkRow.state == "dead") & func.coalesce(WorkRow.error, "").in_([""]),
            )
        )
        .order_by(WorkRow.id)
    )
    for work_id, key, state in rows:
        what = {
            "todo": "has waited for more than ten minutes; is a worker running?",
            "doing": "was begun and not ended; is a worker running?",
            "dead": "failed without an error.",
        }[state]
        yield Breach(f"work {work_id}", f"{key} {what}")


def unasked_runs(session: Session, run_ids: list[str]) -> list[str]:
    """Those of the given runs that have no job."""
    asked = exists().where(WorkRow.key == EVALUATION_KEY + RunRow.id, WorkRow.state != "dead")
    return list(session.scalars(select(RunRow.id).where(RunRow.id.in_(run_ids), ~asked)))


_MOST_SHOWN = 5


def integrity_problems(session: Session) -> list[str]:
    """What SQLite finds wrong with its file, in its own words; empty if all is well.

    It checks every page and every reference. A PostgreSQL server checks references whenever it
    writes, and its pages are the business of its own tools (checksums, pg_amcheck).
    """
    if session.get_bind().dialect.name != "sqlite":
        return []
    problems = [
        line
        for row in session.execute(text(f"PRAGMA integrity_check({_MOST_SHOWN})"))
        for line in str(row[0]).splitlines()
        if line != "ok" and not line.startswith("*** in database")
    ]
    broken = session.execute(text("PRAGMA foreign_key_check")).fetchmany(_MOST_SHOWN)
    return problems + [f"a row of {row[0]} refers to a missing row of {row[2]}" for row in broken]


LONG_LOG_BYTES = 64 << 20
"""A longer log means that a reader keeps it from being emptied; it usually stays within 16 MiB."""


def log_bytes(database: Database) -> int | None:
    """Size of the log in bytes, 0 if there is none, None on PostgreSQL."""
    if database.path is None:
        return None
    log = database.path.with_name(database.path.name + "-wal")
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0
