"""Importing runs with all that belongs to them, and schedules with their report editions.

Predictions, evaluations and flags of a run are imported only once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from sqlalchemy import RowMapping, insert, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import RunState
from offdiag.domain.texts import CostName
from offdiag.errors import Conflict, InvalidInput
from offdiag.reports.document import read_scope, scope_document
from offdiag.store.archive.project import (
    KnownAs,
    copy_row,
    each_row_of,
    insert_row,
    parts_of_evaluations,
    rows_of,
    table_of,
)
from offdiag.store.models import (
    CommentRow,
    CostMatrixRow,
    CountedSamplesRow,
    CountedSliceRow,
    DeliveryRow,
    EvaluationRow,
    FlagEventRow,
    FlagRow,
    PairedRunRow,
    PairedSamplesRow,
    PredictionChunkRow,
    ReportEditionRow,
    ReportFileRow,
    RunRow,
    ScheduleRow,
    ScoreChunkRow,
    SliceCountsRow,
    UploadedMatrixRow,
)
from offdiag.store.slices import columns_digest
from offdiag.store.truths import get_truth

_OF_RUN = (
    PredictionChunkRow,
    ScoreChunkRow,
    UploadedMatrixRow,
    CountedSamplesRow,
    CountedSliceRow,
)


def merge_runs(source: Session, target: Session, known: KnownAs) -> None:
    """Import the runs that the target does not have. Raises `Conflict` for contradictions.

    Results and flags of a run that the target already has stay as they are: it is judged by the
    target's settings, and its flags were triaged there.
    """
    runs = table_of(RunRow)
    # All ids are looked up first, because a run may name another one that comes after it.
    for row in rows_of(source, runs):
        there = _same_run(target, row, known)
        known.runs[row["id"]] = row["id"] if there is None else there
        if there is None:
            known.new_runs.append(row["id"])
    for run_id in known.new_runs:
        (row,) = rows_of(source, runs, id=run_id)
        _insert_run(source, target, row, known)


def _same_run(target: Session, row: RowMapping, known: KnownAs) -> str | None:
    runs = table_of(RunRow)
    same = runs.c.id == row["id"]
    if row["client_key"] is not None:
        project_id = known.projects[row["project_id"]]
        same = or_(
            same,
            (runs.c.project_id == project_id) & (runs.c.client_key == row["client_key"]),
        )
    found = target.execute(select(runs).where(same).order_by(runs.c.id)).mappings().all()
    for there in found:
        contradiction = _contradiction(row, there, known)
        if contradiction is not None or len(found) > 1:
            name = "" if there["id"] == row["id"] else f"as {there['id']} "
            raise Conflict(
                f"run {row['id']} is there {name}{contradiction or 'and as another one'}.",
                field="run",
                hint="Nothing was imported. Import it into another registry, or resolve the "
                "differences first.",
            )
    return found[0]["id"] if found else None


def _contradiction(row: RowMapping, there: RowMapping, known: KnownAs) -> str | None:
    if there["project_id"] != known.projects[row["project_id"]]:
        return "in another project"
    if there["deleted_at"] is not None:
        return "and was deleted"
    if there["state"] == RunState.OPEN:
        return "and is still open"
    if there["content_digest"] != row["content_digest"]:
        return "with other predictions"
    if there["dataset_id"] != known.datasets[row["dataset_id"]] or there[
        "truth_version_id"
    ] != _truth_of(row, known):
        return "with other ground truth"
    return None


def _insert_run(source: Session, target: Session, row: RowMapping, known: KnownAs) -> None:
    results = _valid_results(source, row, known)
    is_evaluated = any(result["is_current"] and result["slice"] is None for result in results)
    outdated = row["state"] == RunState.EVALUATED and not is_evaluated
    origin = row["derived_from"]
    copy_row(
        target,
        table_of(RunRow),
        row,
        known,
        project_id=known.projects[row["project_id"]],
        dataset_id=known.datasets[row["dataset_id"]],
        truth_version_id=_truth_of(row, known),
        derived_from=known.runs.get(origin, origin),
        state=RunState.FINISHED if outdated else row["state"],
    )
    for model in _OF_RUN:
        table = table_of(model)
        for part in each_row_of(source, table, run_id=row["id"]):
            copy_row(target, table, part, known)
    _insert_paired_counts(source, target, row["id"], known)
    evaluations = {
        result["id"]: _insert_evaluation(source, target, result, known) for result in results
    }
    for flag in rows_of(source, table_of(FlagRow), run_id=row["id"]):
        named = evaluations.get(flag["evaluation_id"])
        flag_id = insert_row(target, table_of(FlagRow), flag, known, evaluation_id=named)
        for event in rows_of(source, table_of(FlagEventRow), flag_id=flag["id"]):
            insert_row(target, table_of(FlagEventRow), event, known, flag_id=flag_id)
        for comment in rows_of(source, table_of(CommentRow), flag_id=flag["id"]):
            insert_row(target, table_of(CommentRow), comment, known, flag_id=flag_id)
    for comment in rows_of(source, table_of(CommentRow), run_id=row["id"]):
        insert_row(target, table_of(CommentRow), comment, known)


def _insert_paired_counts(source: Session, target: Session, run_id: str, known: KnownAs) -> None:
    """Insert what a run has in common with others; the first such run also brings the samples."""
    for part in rows_of(source, table_of(PairedRunRow), run_id=run_id):
        table = table_of(PairedSamplesRow)
        if not rows_of(target, table, id=part["paired_id"]):
            (samples,) = rows_of(source, table, id=part["paired_id"])
            copy_row(target, table, samples, known)
        copy_row(target, table_of(PairedRunRow), part, known)


def _valid_results(source: Session, row: RowMapping, known: KnownAs) -> list[RowMapping]:
    """The evaluations of a run that would give the same results in the target."""
    if row["dataset_id"] in known.judged_otherwise:
        return []
    found = rows_of(source, table_of(EvaluationRow), run_id=row["id"])
    return [result for result in found if result["truth_version_id"] not in known.renumbered]


def _insert_evaluation(source: Session, target: Session, row: RowMapping, known: KnownAs) -> int:
    baseline = row["baseline_run_id"]
    evaluation_id = insert_row(
        target,
        table_of(EvaluationRow),
        row,
        known,
        truth_version_id=_truth_of(row, known),
        cost_matrix_id=known.costs.get(row["cost_matrix_id"]),
        baseline_run_id=known.runs.get(baseline, baseline),
    )
    for table in parts_of_evaluations():
        if table.name == SliceCountsRow.__tablename__ and not _same_columns(
            source, target, row, known
        ):
            continue  # They are recomputed when they are read.
        changes: dict[str, Any] = {"evaluation_id": evaluation_id}
        parts = []
        for part in rows_of(source, table, evaluation_id=row["id"]):
            if "label_set_id" in part:
                changes["label_set_id"] = known.label_sets[part["label_set_id"]]
            parts.append(dict(part) | changes)
        if parts:
            known.added[table.name] += len(parts)
            target.execute(insert(table), parts)
    return evaluation_id


def _same_columns(source: Session, target: Session, row: RowMapping, known: KnownAs) -> bool:
    """Whether slices have the same columns in the target; counted runs have their own slices."""
    there, here = row["truth_version_id"], _truth_of(row, known)
    if there is None or here is None:
        return True
    return _columns_of(source, there) == _columns_of(target, here)


def _columns_of(session: Session, truth_id: int) -> str:
    return columns_digest(session, get_truth(session, truth_id).root_id)


def _truth_of(row: RowMapping, known: KnownAs) -> int | None:
    truth_id = row["truth_version_id"]
    return None if truth_id is None else known.truths[truth_id]


_IDENTITY = ("fire_time", "state", "data_digest", "error")


def merge_reports(source: Session, target: Session, known: KnownAs, *, project: str) -> None:
    """Import schedules and editions that the target does not have. Raises `Conflict`.

    Schedules arrive paused, because the registry they come from may still issue them. A schedule
    whose name exists in the target is left as it is there.
    """
    for row in rows_of(source, table_of(ScheduleRow)):
        known.schedules[row["id"]] = _schedule(source, target, row, known, project)
    for row in rows_of(source, table_of(ReportEditionRow)):
        if not _is_there(target, row, known):
            _insert_edition(source, target, row, known, project)


def _schedule(
    source: Session, target: Session, row: RowMapping, known: KnownAs, project: str
) -> int:
    table = table_of(ScheduleRow)
    project_id = known.projects[row["project_id"]]
    found = rows_of(target, table, project_id=project_id, name=row["name"])
    if found:
        return int(found[0]["id"])
    known.paused.append(row["name"])
    return insert_row(
        target,
        table,
        row,
        known,
        project_id=project_id,
        scope=_scope(source, target, row, known, project),
        enabled=False,
        next_due=None,
    )


def _is_there(target: Session, row: RowMapping, known: KnownAs) -> bool:
    """Whether the target has this edition. Raises `Conflict` for another of its number or time."""
    table = table_of(ReportEditionRow)
    of_series = (table.c.project_id == known.projects[row["project_id"]]) & (
        table.c.name == row["name"]
    )
    same = of_series & (
        (table.c.number == row["number"]) | (table.c.fire_time == row["fire_time"])
    )
    schedule_id = known.schedules.get(row["schedule_id"])
    if schedule_id is not None:
        same |= (table.c.schedule_id == schedule_id) & (table.c.fire_time == row["fire_time"])
    there = target.execute(select(table).where(same)).mappings().all()
    for edition in there:
        if [edition[name] for name in _IDENTITY] != [row[name] for name in _IDENTITY]:
            raise Conflict(
                f"report {row['name']!r} has an edition {edition['number']} of "
                f"{edition['fire_time']} here, and an edition {row['number']} of "
                f"{row['fire_time']} in the archive.",
                field="report",
                hint="Nothing was imported. Import it as a project of another name (--as).",
            )
    return bool(there)


def _insert_edition(
    source: Session, target: Session, row: RowMapping, known: KnownAs, project: str
) -> None:
    issue_id = insert_row(
        target,
        table_of(ReportEditionRow),
        row,
        known,
        project_id=known.projects[row["project_id"]],
        schedule_id=known.schedules.get(row["schedule_id"]),
        scope=_scope(source, target, row, known, project),
    )
    files = table_of(ReportFileRow)
    for file in each_row_of(source, files, issue_id=row["id"]):
        copy_row(target, files, file, known, issue_id=issue_id)
    deliveries = table_of(DeliveryRow)
    for delivery in rows_of(source, deliveries, issue_id=row["id"]):
        insert_row(target, deliveries, delivery, known, issue_id=issue_id)


def _scope(
    source: Session, target: Session, row: RowMapping, known: KnownAs, project: str
) -> dict[str, Any]:
    """The scope of the report, with names translated to those of the target."""
    try:
        scope = read_scope(row["scope"])
    except (ValidationError, InvalidInput):
        raise InvalidInput(
            f"report {row['name']!r} has an unknown subject.",
            field="file",
            hint="Nothing was imported; the archive was not made by offdiag.",
        ) from None
    baseline = None if scope.baseline is None else known.runs.get(scope.baseline, scope.baseline)
    costs = _costs(source, target, scope.cost_matrix, known)
    return scope_document(replace(scope, project=project, baseline=baseline, cost_matrix=costs))


def _costs(source: Session, target: Session, named: str | None, known: KnownAs) -> str | None:
    """The costs that a report names, with the version number that they have in the target."""
    wanted = None if named is None else CostName.parse(named)
    if wanted is None or wanted.version is None:
        return named
    table = table_of(CostMatrixRow)
    for version in rows_of(source, table, name=wanted.name, version=wanted.version):
        (there,) = rows_of(target, table, id=known.costs[version["id"]])
        return str(replace(wanted, version=there["version"]))
    return named
