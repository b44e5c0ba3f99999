"""Exporting a project of one registry to an archive, and importing that into another registry."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

import offdiag_migrations
from offdiag.errors import Conflict
from offdiag.store import schema
from offdiag.store.archive.backup import (
    dump_tables,
    encoded_parts,
    lift_time_limits,
    load_archive,
    require_intact,
    require_known_schema,
)
from offdiag.store.archive.file import (
    Manifest,
    Progress,
    opened_archive,
    require_disk_space,
)
from offdiag.store.archive.merge_datasets import (
    merge_baselines,
    merge_dataset_comments,
    merge_datasets,
    merge_label_answers,
    merge_promotions,
    merge_sample_content,
    merge_truths,
)
from offdiag.store.archive.merge_runs import merge_reports, merge_runs
from offdiag.store.archive.project import Merge, rows_of_project
from offdiag.store.database import Database
from offdiag.store.models import LabelSetRow, ProjectRow
from offdiag.store.problems import number_problems


@dataclass(frozen=True)
class TakenOver:
    """What an import added.

    `known_runs` existed already; both lists hold ids of this registry. `added` counts new rows by
    table, and `paused` names the schedules among them.
    """

    project: str
    new_runs: tuple[str, ...]
    known_runs: tuple[str, ...]
    added: Mapping[str, int]
    paused: tuple[str, ...]


def write_project(
    session: Session,
    path: Path,
    *,
    place: str,
    project_id: int,
    name: str,
    written_by: str,
    now: datetime,
    progress: Progress,
) -> Manifest:
    """Write a project of the database at `place` as it is in this transaction.

    Raises `DatabaseUnavailable` for a damaged database, and `Conflict` or `InvalidInput` for a
    file that cannot be created.
    """
    connection = session.connection()
    lift_time_limits(connection)
    require_intact(session, place)
    manifest = Manifest(
        kind="project",
        schema=offdiag_migrations.head(),
        created_at=now.isoformat(),
        written_by=written_by,
        subject=name,
        sequences={},
    )
    return dump_tables(connection, rows_of_project(project_id), path, manifest, progress)


def is_as_exported(session: Session, project_id: int, exported: Manifest) -> bool:
    """Whether an archive of a project would hold the same rows, value by value.

    Every row is locked as it is read, referenced tables first, so the project cannot change or
    grow until the transaction ends. Label sets are not locked: they never change, and other
    projects may need them.
    """
    connection = session.connection()
    lift_time_limits(connection)
    then = iter(exported.parts)
    for table, statement in rows_of_project(project_id).items():
        is_shared = table.name == LabelSetRow.__tablename__
        rows = statement if is_shared else statement.with_for_update(of=table)
        for data, n_rows in encoded_parts(connection, table, rows):
            part = next(then, None)
            if part is None or (part.table, part.n_rows) != (table.name, n_rows):
                return False
            if part.sha256 != hashlib.sha256(data).hexdigest():
                return False
    return next(then, None) is None


@contextmanager
def staged_project(path: Path, folder: Path, progress: Progress) -> Iterator[Database]:
    """Load the archive of a project into a database in this folder, with the current schema.

    Its digests, its references and all constraints of the tables are checked there, and an archive
    of an older schema is upgraded, before the target is touched. Raises `InvalidInput` and
    `SchemaMismatch`.
    """
    with (
        opened_archive(path, "project") as archive,
        closing(Database(f"sqlite:///{folder / 'staged.db'}", synchronous="normal")) as staged,
    ):
        require_known_schema(path, archive.manifest.schema)
        require_disk_space(folder, archive.manifest)
        with staged.migrate() as connection:
            schema.migrate_to(connection, archive.manifest.schema)
            load_archive(connection, archive, progress)
            schema.migrate_to(connection, "head")
            schema.require_intact_references(connection)
        yield staged


def staged_names(source: Session) -> list[str]:
    """Names of the projects in a staged archive, which should hold exactly one."""
    return list(source.scalars(select(ProjectRow.name)))


def rename_staged(staged: Database, name: str) -> None:
    """Rename the project of a staged archive."""
    with staged.write() as session:
        session.execute(update(ProjectRow).values(name=name))


def take_over(source: Session, target: Session, *, project: str) -> TakenOver:
    """Import everything a staged archive holds, in the caller's transaction.

    Raises `Conflict` for anything that contradicts the target, and when another transaction is
    writing the same rows.
    """
    merge = Merge(source, target, project)
    lift_time_limits(target.connection())
    try:
        merge_datasets(merge)
        merge_truths(merge)
        merge_runs(merge)
        merge_baselines(merge)
        merge_promotions(merge)
        merge_dataset_comments(merge)
        merge_sample_content(merge)
        merge_label_answers(merge)
        number_problems(target)
        merge_reports(merge)
        target.flush()
    except IntegrityError as error:
        raise Conflict(
            "another process wrote to the same project at the same time.",
            field="project",
            hint="Nothing was imported. Try again.",
        ) from error
    new = set(merge.new_runs)
    return TakenOver(
        project=project,
        new_runs=tuple(merge.new_runs),
        known_runs=tuple(here for run_id, here in merge.runs.items() if run_id not in new),
        added=dict(merge.added),
        paused=tuple(merge.paused),
    )
