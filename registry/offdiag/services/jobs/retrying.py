"""Another try for work that was given up."""

from __future__ import annotations

from collections.abc import Mapping

from offdiag.errors import Conflict
from offdiag.services.jobs.pages import job_page
from offdiag.services.work.engines import bell_in_force
from offdiag.services.work.tasks import TASKS, TaskKind
from offdiag.store import jobs
from offdiag.store.database import Database
from offdiag.store.job_list import dead_ids
from offdiag.store.session import Session


def retry_job(database: Database, work_id: int, tasks: Mapping[str, TaskKind] = TASKS) -> int:
    """Put work that was given up back into the queue; returns the number it waits under.

    Raises `NotFound` for unknown work and `Conflict` for work that was not given up.
    """
    known = job_page(database, work_id)
    with database.write() as session:
        revived = _revive(session, work_id, tasks)
    if revived is None:
        raise Conflict(
            f"job {work_id} is {known.state.value}.",
            field="job",
            hint="Only work that was given up is tried again by hand.",
        )
    return revived


def retry_all(database: Database, tasks: Mapping[str, TaskKind] = TASKS) -> int:
    """Put everything that was given up back into the queue; returns how much that was."""
    with database.write() as session:
        revived = [_revive(session, work_id, tasks) for work_id in dead_ids(session)]
    return len(revived)


def revive_by_key(session: Session, key: str, tasks: Mapping[str, TaskKind] = TASKS) -> bool:
    """Put the work with a key back into the queue. False where none was given up."""
    known = jobs.find_by_key(session, key)
    return known is not None and _revive(session, known.work_id, tasks) is not None


def _revive(session: Session, work_id: int, tasks: Mapping[str, TaskKind]) -> int | None:
    lease = jobs.revive(session, work_id)
    if lease is None:
        return None
    if lease.task in tasks:
        tasks[lease.task].take_up(session, lease.args)
    bell_in_force().ring(session, [lease.work_id])
    return lease.work_id
