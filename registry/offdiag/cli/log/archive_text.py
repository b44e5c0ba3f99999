"""Results of export, import, backup and restore in sentences and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from offdiag.domain.number_text import byte_size, count
from offdiag.domain.sentences import visible
from offdiag.store.archive.file import Manifest
from offdiag.store.archive.transfer import TakenOver

_COUNTED = {
    "run": ("run", "runs"),
    "dataset": ("dataset", "datasets"),
    "truth_version": ("label version", "label versions"),
    "flag": ("flag", "flags"),
    "cost_matrix": ("cost matrix", "cost matrices"),
    "baseline": ("baseline", "baselines"),
    "schedule": ("schedule", "schedules"),
    "report_issue": ("report", "reports"),
}


def archive_dict(file: Path, manifest: Manifest) -> dict[str, Any]:
    """What an archive contains, with the rows of each table."""
    return {
        "file": str(file),
        "n_bytes": file.stat().st_size,
        "kind": manifest.kind,
        "subject": manifest.subject,
        "schema": manifest.schema,
        "created_at": manifest.created_at,
        "written_by": manifest.written_by,
        "rows": dict(manifest.rows_by_table),
    }


def taken_over_dict(taken: TakenOver) -> dict[str, Any]:
    """What an import added."""
    return {
        "project": taken.project,
        "new_runs": list(taken.new_runs),
        "known_runs": list(taken.known_runs),
        "added": dict(taken.added),
        "paused_schedules": list(taken.paused),
    }


def backup_sentence(file: Path, manifest: Manifest) -> str:
    """What was backed up, and where it is."""
    return (
        f"{visible(str(file))} contains {visible(manifest.subject)} as of "
        f"{_moment(manifest)}: {counts_in_words(manifest.rows_by_table)} ({_size(file)})."
    )


def exported_sentence(file: Path, manifest: Manifest) -> str:
    """What was exported, and where it is."""
    return (
        f"{visible(str(file))} contains project {visible(manifest.subject)}: "
        f"{counts_in_words(manifest.rows_by_table)} ({_size(file)})."
    )


def restored_sentence(place: str, manifest: Manifest) -> str:
    """What was restored."""
    return (
        f"{visible(place)} is restored from {visible(manifest.subject)} as of "
        f"{_moment(manifest)}: {counts_in_words(manifest.rows_by_table)}."
    )


def replacing_question(place: str, manifest: Manifest) -> str:
    """The question to confirm before a registry is replaced."""
    return (
        f"Replace everything in {visible(place)} with {visible(manifest.subject)} as of "
        f"{_moment(manifest)} ({counts_in_words(manifest.rows_by_table)})?"
    )


def imported_sentence(taken: TakenOver) -> str:
    """What is new, what existed already, and what is left to do."""
    project = visible(taken.project)
    known = f" {count(len(taken.known_runs), 'run', 'runs')} known already." * bool(
        taken.known_runs
    )
    if not taken.added:
        return f"Project {project} is complete already; nothing was changed.{known}"
    new = counts_in_words(taken.added)
    what = f"got {new}" if new else "got results and details of known runs"
    return f"Project {project} {what}.{known}{_paused(taken)}"


def counts_in_words(rows: Mapping[str, int]) -> str:
    """`12 runs, 3 datasets, 1 baseline`; internal tables are left out."""
    return ", ".join(
        count(rows[table], one, many) for table, (one, many) in _COUNTED.items() if rows.get(table)
    )


def _paused(taken: TakenOver) -> str:
    if not taken.paused:
        return ""
    names = ", ".join(visible(name) for name in taken.paused)
    return f" Paused until `offdiag schedule resume`: {names}."


def _moment(manifest: Manifest) -> str:
    return visible(manifest.created_at[:16].replace("T", " ")) + " UTC"


def _size(file: Path) -> str:
    return byte_size(file.stat().st_size)
