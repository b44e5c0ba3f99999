"""Project archives: exporting a project to a file, and importing it into another registry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from offdiag.domain.runs import require_name
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.inputs.scratch import scratch_folder
from offdiag.services.jobs.submit import submit_evaluations
from offdiag.services.samples.draft_samples import drafted_samples
from offdiag.services.verification.checks import FindingKind
from offdiag.services.verification.verify import verify
from offdiag.store import audit_log, datasets, retention, runs
from offdiag.store.archive import transfer
from offdiag.store.archive.file import Manifest, Progress, ignored
from offdiag.store.archive.transfer import TakenOver
from offdiag.store.database import Database, Session
from offdiag.store.outdated import stale_runs
from offdiag.version import offdiag_version

_RUN_ID = re.compile(r"r_[0-9A-Za-z]{1,64}")
_WRONG = {FindingKind.DAMAGED, FindingKind.INCOMPLETE}
_NOT_GIVEN = {FindingKind.DRIFT, FindingKind.UNCHECKED}


def export_project(
    database: Database, project: str, path: Path, *, progress: Progress = ignored
) -> Manifest:
    """Write the complete runs of a project, with everything they need, into one file.

    That includes datasets, truth, results, flags, costs, baselines, schedules and reports. Raises
    `NotFound` for an unknown project, `DatabaseUnavailable` for a damaged database, and `Conflict`
    or `InvalidInput` for a file that cannot be created.
    """
    with database.read() as session:
        project_id = datasets.project_id(session, project)
        if project_id is None:
            raise NotFound(
                f"there is no project {project!r}.",
                field="project",
                hint="`offdiag runs list` shows the runs with their projects.",
            )
        return transfer.write_project(
            session,
            path,
            place=database.place,
            project_id=project_id,
            name=project,
            written_by=f"offdiag {offdiag_version()}",
            now=database.clock(),
            progress=progress,
        )


def delete_exported(database: Database, project: str, exported: Manifest) -> None:
    """Delete a just exported project for good, with all its runs and datasets.

    Runs that had been deleted before are not in the archive, and are deleted too. Raises
    `NotFound`, and `Conflict` if runs are open, reports are still to be made, or the project no
    longer matches the archive.
    """
    with database.write() as session:
        project_id = datasets.project_id(session, project)
        if project_id is None:
            raise NotFound(f"there is no project {project!r} any more.", field="project")
        if retention.unfinished_work(session, project_id):
            raise Conflict(
                f"project {project!r} has open runs, or reports that are still to be made.",
                field="project",
                hint="Nothing was deleted. Finish or delete the runs, and export it again.",
            )
        if not transfer.is_as_exported(session, project_id, exported):
            raise Conflict(
                f"project {project!r} has changed since it was exported.",
                field="project",
                hint="Nothing was deleted. Export it again once no job writes to it.",
            )
        audit_log.describe(session, action="delete project", subject=project, project=project)
        retention.remove_project(session, project_id)


def import_project(
    database: Database, path: Path, *, name: str | None = None, progress: Progress = ignored
) -> TakenOver:
    """Import a project from a file, under its own name or as `name`: all, or nothing.

    Before this registry is changed, everything is checked in a separate database: what the file
    contains must have been logged. Results that do not follow from its predictions are left out
    and computed again. What already exists is recognised and left alone, so importing twice has
    the same effect as once. Runs that are then out of date are submitted for evaluation.

    Raises `InvalidInput` for an incomplete or forged file, `Conflict` for contradictions to what
    is stored, and `SchemaMismatch` for a file of a newer offdiag.
    """
    if name is not None:
        require_name(name, "project")
    with _staged(path, progress) as staged:
        project = _checked(staged, path, progress)
        if name is not None:
            project = name
            transfer.rename_staged(staged, name)
        with staged.read() as source, database.write() as session:
            names = datasets.dataset_names(source)
            here = _drafts(session, project, names)
            taken = transfer.take_over(source, session, project=project)
            there = _drafts(source, project, names) if "label_answer" in taken.added else {}
            _require_same_drafts([here, there], _drafts(session, project, names))
            stale = stale_runs(session, without_job=True)
            submit_evaluations(session, [run.run_id for run in stale])
    return taken


def _drafts(session: Session, project: str, names: list[str]) -> dict[str, str]:
    found = {name: drafted_samples(session, project=project, dataset=name) for name in names}
    return {name: digest for name, digest in found.items() if digest is not None}


def _require_same_drafts(before: list[dict[str, str]], after: dict[str, str]) -> None:
    """Answers name samples by position, so they must not move to a draft about other samples."""
    for name, digest in after.items():
        if any(draft.get(name, digest) != digest for draft in before):
            raise Conflict(
                f"the open draft of dataset {name!r} is about other samples here.",
                field="draft",
                hint="Nothing was imported. Publish or withdraw one of the two drafts first, or "
                "import it as a project of another name (--as).",
            )


@contextmanager
def _staged(path: Path, progress: Progress) -> Iterator[Database]:
    with (
        scratch_folder("import") as folder,
        transfer.staged_project(path, folder, progress) as staged,
    ):
        yield staged


def _checked(staged: Database, path: Path, progress: Progress) -> str:
    """Verify an archive against its predictions, and return the name of its project."""
    with staged.read() as session:
        names = transfer.staged_names(session)
        run_ids = retention.complete_runs(session)
        if len(names) != 1:
            raise _strange(path, f"it holds {len(names)} projects")
        _require_meant(session, names[0], run_ids, path)
    done = count(1)
    found = verify(staged, on_run=lambda _run_id: progress(next(done), len(run_ids)))
    for finding in found.findings:
        if finding.kind in _WRONG:
            raise _strange(path, f"{finding.subject}: {finding.sentence.rstrip('.')}")
    drifted = {found.subject for found in found.findings if found.kind in _NOT_GIVEN}
    if drifted:
        with staged.write() as session:
            retention.drop_current_results(session, sorted(drifted & set(run_ids)))
    return names[0]


def _require_meant(session: Session, project: str, run_ids: list[str], path: Path) -> None:
    """Refuse names and ids that logging refuses: such an archive was written by hand."""
    strange_ids = [run_id for run_id in run_ids if not _RUN_ID.fullmatch(run_id)]
    if strange_ids:
        raise _strange(path, f"run {strange_ids[0]!r}")
    try:
        require_name(project, "project")
        for dataset in datasets.dataset_names(session):
            require_name(dataset, "dataset")
        for run_id in run_ids:
            runs.get_run(session, run_id).facts()
    except InvalidInput as error:
        raise _strange(path, f"{error.field}: {error.message.rstrip('.')}") from None


def _strange(path: Path, what: str) -> InvalidInput:
    return InvalidInput(
        f"{path.name} holds something that was never logged: {what}.",
        field="file",
        hint="Nothing was imported. Export the project again.",
    )
