"""Importing runs with all that belongs to them, and schedules with their report editions.

Predictions, evaluations and flags of a run are imported only once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from sqlalchemy import RowMapping, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import RunState
from offdiag.domain.texts import CostName
from offdiag.errors import Conflict, InvalidInput
from offdiag.reports.document import read_scope, scope_document
from offdiag.store.archive.project import OF_EVALUATION, OF_RUN, Merge, table_of
from offdiag.store.models import (
    CommentRow,
    CostMatrixRow,
    DeliveryRow,
    EvaluationRow,
    FlagEventRow,
    FlagRow,
    PairedRunRow,
    PairedSamplesRow,
    ReportEditionRow,
    ReportFileRow,
    RunRow,
    ScheduleRow,
    SliceCountsRow,
)
from offdiag.store.slices import columns_digest
from offdiag.store.truths import get_truth


def merge_runs(merge: Merge) -> None:
    """Import the runs that the target does not have. Raises `Conflict` for contradictions.

    Results and flags of a run that the target already has stay as they are: it is judged by the
    target's settings, and its flags were triaged there.
    """
    # All ids are looked up first, because a run may name another one that comes after it.
    for row in merge.rows(RunRow):
        there = _same_run(row, merge)
        merge.runs[row["id"]] = row["id"] if there is None else there
        if there is None:
            merge.new_runs.append(row["id"])
    for run_id in merge.new_runs:
        (row,) = merge.rows(RunRow, id=run_id)
        _insert_run(row, merge)


def _same_run(row: RowMapping, merge: Merge) -> str | None:
    runs, moved = table_of(RunRow), merge.moved(row)
    same = runs.c.id == row["id"]
    if row["client_key"] is not None:
        same = or_(
            same,
            (runs.c.project_id == moved["project_id"]) & (runs.c.client_key == row["client_key"]),
        )
    found = merge.target.execute(select(runs).where(same).order_by(runs.c.id)).mappings().all()
    for there in found:
        contradiction = _contradiction(moved, there)
        if contradiction is not None or len(found) > 1:
            name = "" if there["id"] == row["id"] else f"as {there['id']} "
            raise Conflict(
                f"run {row['id']} is there {name}{contradiction or 'and as another one'}.",
                field="run",
                hint="Nothing was imported. Import it into another registry, or resolve the "
                "differences first.",
            )
    return found[0]["id"] if found else None


def _contradiction(moved: Mapping[str, Any], there: RowMapping) -> str | None:
    if there["project_id"] != moved["project_id"]:
        return "in another project"
    if there["deleted_at"] is not None:
        return "and was deleted"
    if there["state"] == RunState.OPEN:
        return "and is still open"
    if there["content_digest"] != moved["content_digest"]:
        return "with other predictions"
    if any(there[name] != moved[name] for name in ("dataset_id", "truth_version_id")):
        return "with other ground truth"
    return None


def _insert_run(row: RowMapping, merge: Merge) -> None:
    results = _valid_results(row, merge)
    is_evaluated = any(result["is_current"] and result["slice"] is None for result in results)
    outdated = row["state"] == RunState.EVALUATED and not is_evaluated
    merge.copy(RunRow, row, state=RunState.FINISHED if outdated else row["state"])
    for model in OF_RUN:
        for part in merge.each_row(model, run_id=row["id"]):
            merge.copy(model, part)
    _insert_paired_counts(row["id"], merge)
    for result in results:
        _insert_evaluation(result, merge)
    for flag in merge.rows(FlagRow, run_id=row["id"]):
        merge.flags[flag["id"]] = merge.insert(FlagRow, flag)
        for event in merge.rows(FlagEventRow, flag_id=flag["id"]):
            merge.insert(FlagEventRow, event)
        for comment in merge.rows(CommentRow, flag_id=flag["id"]):
            merge.insert(CommentRow, comment)
    for comment in merge.rows(CommentRow, run_id=row["id"]):
        merge.insert(CommentRow, comment)


def _insert_paired_counts(run_id: str, merge: Merge) -> None:
    """Insert what a run has in common with others; the first such run also brings the samples."""
    for part in merge.rows(PairedRunRow, run_id=run_id):
        if not merge.there(PairedSamplesRow, id=part["paired_id"]):
            merge.copy(PairedSamplesRow, *merge.rows(PairedSamplesRow, id=part["paired_id"]))
        merge.copy(PairedRunRow, part)


def _valid_results(row: RowMapping, merge: Merge) -> list[RowMapping]:
    """The evaluations of a run that would give the same results in the target."""
    if row["dataset_id"] in merge.judged_otherwise:
        return []
    found = merge.rows(EvaluationRow, run_id=row["id"])
    return [result for result in found if result["truth_version_id"] not in merge.renumbered]


def _insert_evaluation(row: RowMapping, merge: Merge) -> None:
    merge.evaluations[row["id"]] = merge.insert(EvaluationRow, row)
    for model in OF_EVALUATION:
        # Counts of slices with other columns are recomputed when they are read.
        if model is not SliceCountsRow or _has_same_columns(row, merge):
            merge.copy(model, *merge.rows(model, evaluation_id=row["id"]))


def _has_same_columns(row: RowMapping, merge: Merge) -> bool:
    """Whether slices have the same columns in the target; counted runs have their own slices."""
    there, here = row["truth_version_id"], merge.moved(row)["truth_version_id"]
    if there is None:
        return True
    return _columns_of(merge.source, there) == _columns_of(merge.target, here)


def _columns_of(session: Session, truth_id: int) -> str:
    return columns_digest(session, get_truth(session, truth_id).root_id)


_IDENTITY = ("fire_time", "state", "data_digest", "error")


def merge_reports(merge: Merge) -> None:
    """Import schedules and editions that the target does not have. Raises `Conflict`.

    Schedules arrive paused, because the registry they come from may still issue them. A schedule
    whose name exists in the target is left as it is there.
    """
    for row in merge.rows(ScheduleRow):
        merge.schedules[row["id"]] = _schedule(row, merge)
    for row in merge.rows(ReportEditionRow):
        if not _is_there(row, merge):
            edition_id = merge.insert(ReportEditionRow, row, scope=_scope(row, merge))
            merge.editions[row["id"]] = edition_id
            for file in merge.each_row(ReportFileRow, issue_id=row["id"]):
                merge.copy(ReportFileRow, file)
            for delivery in merge.rows(DeliveryRow, issue_id=row["id"]):
                merge.insert(DeliveryRow, delivery)


def _schedule(row: RowMapping, merge: Merge) -> int:
    project_id = merge.projects[row["project_id"]]
    found = merge.there(ScheduleRow, project_id=project_id, name=row["name"])
    if found:
        return int(found[0]["id"])
    merge.paused.append(row["name"])
    paused = {"enabled": False, "next_due": None}
    return merge.insert(ScheduleRow, row, scope=_scope(row, merge), **paused)


def _is_there(row: RowMapping, merge: Merge) -> bool:
    """Whether the target has this edition. Raises `Conflict` for another of its number or time."""
    table, moved = table_of(ReportEditionRow), merge.moved(row)
    of_series = (table.c.project_id == moved["project_id"]) & (table.c.name == row["name"])
    same = of_series & (
        (table.c.number == row["number"]) | (table.c.fire_time == row["fire_time"])
    )
    if moved["schedule_id"] is not None:
        of_schedule = table.c.schedule_id == moved["schedule_id"]
        same |= of_schedule & (table.c.fire_time == row["fire_time"])
    there = merge.target.execute(select(table).where(same)).mappings().all()
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


def _scope(row: RowMapping, merge: Merge) -> dict[str, Any]:
    """The scope of the report, with names translated to those of the target."""
    try:
        scope = read_scope(row["scope"])
    except (ValidationError, InvalidInput):
        raise InvalidInput(
            f"report {row['name']!r} has an unknown subject.",
            field="file",
            hint="Nothing was imported; the archive was not made by offdiag.",
        ) from None
    baseline = None if scope.baseline is None else merge.runs.get(scope.baseline, scope.baseline)
    costs = _costs(scope.cost_matrix, merge)
    named = replace(scope, project=merge.project, baseline=baseline, cost_matrix=costs)
    return scope_document(named)


def _costs(named: str | None, merge: Merge) -> str | None:
    """The costs that a report names, with the version number that they have in the target."""
    wanted = None if named is None else CostName.parse(named)
    if wanted is None or wanted.version is None:
        return named
    for version in merge.rows(CostMatrixRow, name=wanted.name, version=wanted.version):
        (there,) = merge.there(CostMatrixRow, id=merge.costs[version["id"]])
        return str(replace(wanted, version=there["version"]))
    return named
