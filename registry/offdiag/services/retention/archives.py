"""Backups of a registry, and projects that move from one registry to another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from offdiag.errors import NotFound
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.work.submit import submit_evaluations
from offdiag.store import datasets
from offdiag.store.archive import backup, transfer
from offdiag.store.archive.manifest import Manifest
from offdiag.store.archive.transfer import Imported
from offdiag.store.database import Database
from offdiag.store.staleness import stale_runs
from offdiag.version import offdiag_version


@dataclass(frozen=True, slots=True)
class Exported:
    """How much of a project was written."""

    n_runs: int
    n_datasets: int


def back_up(database: Database, path: Path) -> None:
    """Write everything a registry holds into one file, as it is at one moment.

    Others go on working meanwhile. Raises `Conflict` for a file that exists, `InvalidInput`
    for one that cannot be written, `SchemaMismatch` for a database of another schema.
    """
    backup.write_backup(
        database, path, written_by=f"offdiag {offdiag_version()}", now=database.clock()
    )


def restore(database: Database, path: Path, *, force: bool) -> Manifest:
    """Fill an empty database with a backup, of whichever kind of database it was made.

    With `force` a database that holds something is replaced. All or nothing. Raises
    `InvalidInput` for a torn file, `Conflict` for a database that is not empty, and
    `SchemaMismatch` where the backup or the database needs a newer offdiag.
    """
    return backup.restore_backup(database, path, force=force)


def export_project(database: Database, project: str, path: Path) -> Exported:
    """Write the complete runs of a project with all they need into one file.

    Raises `NotFound` for an unknown project, and `Conflict` or `InvalidInput` for a file that
    cannot be made.
    """
    with database.read() as session:
        project_id = datasets.project_id(session, project)
        if project_id is None:
            raise NotFound(
                f"there is no project {project!r}.",
                field="project",
                hint="`offdiag runs list` shows the runs with their projects.",
            )
        rows = transfer.write_project(
            session,
            path,
            project_id=project_id,
            name=project,
            written_by=f"offdiag {offdiag_version()}",
            now=database.clock(),
        )
    return Exported(rows.get("run", 0), rows.get("dataset", 0))


def import_project(database: Database, path: Path) -> Imported:
    """Take over a project from a file: all of it, or nothing.

    What is there already is recognised and left alone, so importing twice is the same as once.
    Runs that are out of date then, new ones or those that an imported correction is about, are
    asked to be evaluated. Raises `InvalidInput` for
    a torn file, `Conflict` for contradictions to what is there, and `SchemaMismatch` for a file
    of a newer offdiag.
    """
    with _staged(path) as (staged, project), database.write() as session:
        imported = transfer.take_over(session, staged, project)
        stale = stale_runs(session, suite_version=SUITE_VERSION, unasked=True)
        submit_evaluations(session, [run.run_id for run in stale])
    return imported


@contextmanager
def _staged(path: Path) -> Iterator[tuple[Database, str]]:
    with TemporaryDirectory(prefix="offdiag-import-") as folder:
        staged, project = transfer.staged_project(path, Path(folder))
        try:
            yield staged, project
        finally:
            staged.close()
