"""A project of one registry as an archive, and such an archive taken over by another."""

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
    count_rows,
    dump_table,
    encoded_parts,
    lift_time_limits,
    load_archive,
    require_known_schema,
)
from offdiag.store.archive.file import (
    Manifest,
    Progress,
    opened_archive,
    require_disk_space,
    written_archive,
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
from offdiag.store.archive.project import KnownAs, rows_of_project
from offdiag.store.database import Database
from offdiag.store.models import LabelSetRow, ProjectRow
from offdiag.store.problems import number_problems


@dataclass(frozen=True)
class TakenOver:
    """What an import added.

    `known_runs` were there already; both kinds are ids of this registry. `added` counts the
    rows that are new by table, and `paused` names the schedules among them.
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
    project_id: int,
    name: str,
    written_by: str,
    now: datetime,
    progress: Progress,
) -> Manifest:
    """Write a project as it is in this transaction.

    Raises `Conflict` or `InvalidInput` for a file that cannot be made.
    """
    connection = session.connection()
    lift_time_limits(connection)
    manifest = Manifest(
        kind="project",
        schema=offdiag_migrations.head(),
        created_at=now.isoformat(),
        written_by=written_by,
        subject=name,
        sequences={},
    )
    rows = rows_of_project(project_id)
    n_rows = count_rows(connection, rows.values())
    with written_archive(path, manifest, n_rows=n_rows, progress=progress) as archive:
        for table, statement in rows.items():
            dump_table(connection, table, statement, archive)
    return archive.manifest


def is_as_exported(session: Session, project_id: int, exported: Manifest) -> bool:
    """Whether an archive of a project would hold the same rows, value by value.

    Every row is locked as it is read, those first that others refer to, so nobody changes the
    project or adds to it until the transaction ends. Sets of labels never change, and other
    projects may need theirs.
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
    """The archive of a project as a database in this folder, of today's schema.

    Its digests, its references and all rules of the tables have been checked there, and an
    archive of an older schema has been brought up to date, before the target is touched.
    Raises `InvalidInput` and `SchemaMismatch`.
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
    """Names of the projects in a staged archive, of which there should be one."""
    return list(source.scalars(select(ProjectRow.name)))


def rename_staged(staged: Database, name: str) -> None:
    """Call the project of a staged archive by another name."""
    with staged.write() as session:
        session.execute(update(ProjectRow).values(name=name))


def take_over(source: Session, target: Session, *, project: str) -> TakenOver:
    """Take over everything a staged archive holds, in the caller's transaction.

    Raises `Conflict` for what contradicts the target, and where others write the same rows at
    this moment.
    """
    known = KnownAs()
    lift_time_limits(target.connection())
    try:
        merge_datasets(source, target, known)
        merge_truths(source, target, known)
        merge_runs(source, target, known)
        merge_baselines(source, target, known)
        merge_promotions(source, target, known)
        merge_dataset_comments(source, target, known)
        merge_sample_content(source, target, known)
        merge_label_answers(source, target, known)
        number_problems(target)
        merge_reports(source, target, known, project=project)
        target.flush()
    except IntegrityError as error:
        raise Conflict(
            "another process wrote to the same project at the same time.",
            field="project",
            hint="Nothing was imported. Try again.",
        ) from error
    new = set(known.new_runs)
    return TakenOver(
        project=project,
        new_runs=tuple(known.runs[run_id] for run_id in known.runs if run_id in new),
        known_runs=tuple(known.runs[run_id] for run_id in known.runs if run_id not in new),
        added=dict(known.added),
        paused=tuple(known.paused),
    )
