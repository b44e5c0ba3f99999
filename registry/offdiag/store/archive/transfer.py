"""A project of one registry as an archive, and such an archive taken over by another."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy.orm import Session

import offdiag_migrations
from offdiag.store import schema
from offdiag.store.archive.backup import require_known_schema
from offdiag.store.archive.dump import lift_time_limits
from offdiag.store.archive.file import opened_archive, written_archive
from offdiag.store.archive.load import load_archive
from offdiag.store.archive.merge_datasets import merge_datasets
from offdiag.store.archive.merge_runs import merge_runs
from offdiag.store.archive.project import dump_project
from offdiag.store.database import Database


@dataclass(frozen=True)
class Imported:
    """What an import took over: runs by whether they were there already, and new truth."""

    project: str
    new_runs: tuple[str, ...]
    known_runs: tuple[str, ...]
    n_new_truths: int


def write_project(
    session: Session, path: Path, *, project_id: int, name: str, written_by: str, now: datetime
) -> dict[str, int]:
    """Write a project as it is in this transaction. Returns the rows written of each table."""
    facts = {
        "kind": "project",
        "schema": offdiag_migrations.head(),
        "created_at": now.isoformat(),
        "written_by": written_by,
        "subject": name,
        "sequences": {},
    }
    connection = session.connection()
    lift_time_limits(connection)
    with written_archive(path, facts) as archive:
        dump_project(connection, project_id, archive)
    rows: dict[str, int] = {}
    for part in archive.parts:
        rows[part.table] = rows.get(part.table, 0) + part.n_rows
    return rows


def take_over(session: Session, staged: Database, project: str) -> Imported:
    """Take over everything a staged archive holds, in the caller's transaction."""
    with staged.read() as source:
        known = merge_datasets(source, session)
        runs = merge_runs(source, session, known)
    return Imported(project, tuple(runs.new), tuple(runs.known), len(known.new_truths))


def staged_project(path: Path, folder: Path) -> tuple[Database, str]:
    """The archive of a project as a database in this folder, of today's schema, and its name.

    There its digests, its references and all rules of the tables have been checked, and an
    archive of an older schema has been brought up to date, before the target is touched.
    """
    with opened_archive(path, "project") as archive:
        require_known_schema(path, archive.manifest.schema)
        staged = Database(f"sqlite:///{folder}/staged.db", synchronous="normal")
        with staged.migrate() as connection:
            schema.migrate_to(connection, archive.manifest.schema)
            load_archive(connection, archive)
            schema.migrate_to(connection, "head")
            schema.require_intact_references(connection)
        return staged, archive.manifest.subject
