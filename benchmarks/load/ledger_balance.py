"""The ledger of what was acknowledged against what the registry holds."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from sqlalchemy import func, select

from offdiag.services.verification.checks import check_run
from offdiag.services.verification.verify import missing_from, read_ledger
from offdiag.store.database import Database, Session
from offdiag.store.models import EvaluationRow, ProjectRow, RunRow, WorkRow

_LOOK_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Books:
    """Runs that clients were told are stored, and what became of them.

    `unevaluated` have no result in time, `evaluated_again` more than one. Of the seconds from the
    end of a run to its result p50 and p95 are told.
    """

    acknowledged: int
    stored: int
    predictions: int
    lost: int
    doubled: int
    unevaluated: int
    evaluated_again: int
    waited_p50_s: float
    waited_p95_s: float


def balance(database: Database, folder: Path, project: str, *, within_s: float) -> Books:
    """Wait until all is evaluated, or for so long, and compare every run of a project."""
    entries = [entry for path in sorted(folder.glob("*.ledger")) for entry in read_ledger(path)]
    distinct = {entry.client_key: entry for entry in entries}
    wait_for_results(database, within_s)
    with database.read() as session:
        lost = missing_from(session, list(distinct.values()))
        project_id = session.scalar(select(ProjectRow.id).where(ProjectRow.name == project))
        of_project = RunRow.project_id == project_id
        runs = session.execute(
            select(RunRow.id, RunRow.name, RunRow.n_predictions).where(of_project)
        ).all()
        results = _results(session, project_id)
    by_name = Counter(run.name for run in runs)
    waited = [seconds for each in results.values() for seconds in each]
    return Books(
        acknowledged=len(distinct),
        stored=len(runs),
        predictions=sum(run.n_predictions for run in runs),
        lost=len(lost),
        doubled=sum(number - 1 for number in by_name.values()),
        unevaluated=sum(run.id not in results for run in runs),
        evaluated_again=sum(len(found) > 1 for found in results.values()),
        waited_p50_s=round(median(waited), 2) if waited else 0.0,
        waited_p95_s=round(_p95(waited), 2),
    )


def wrong_runs(database: Database, project: str) -> int:
    """Runs of a project that are not what was sent, or whose results are not what they give."""
    with database.read() as session:
        project_id = session.scalar(select(ProjectRow.id).where(ProjectRow.name == project))
        run_ids = session.scalars(select(RunRow.id).where(RunRow.project_id == project_id)).all()
    wrong = 0
    for run_id in run_ids:
        with database.read() as session:
            wrong += bool(check_run(session, run_id))
    return wrong


def wait_for_results(database: Database, within_s: float) -> None:
    """Wait until nothing is left to evaluate, or for so long."""
    give_up_at = time.monotonic() + within_s
    while time.monotonic() < give_up_at:
        with database.read() as session:
            waiting = session.scalar(
                select(func.count()).select_from(WorkRow).where(WorkRow.task == "evaluate")
            )
        if not waiting:
            return
        time.sleep(_LOOK_EVERY_S)


def _results(session: Session, project_id: int | None) -> dict[str, list[float]]:
    """Seconds from the end of each run to each of its results."""
    rows = session.execute(
        select(RunRow.id, RunRow.finished_at, EvaluationRow.computed_at)
        .join(EvaluationRow, EvaluationRow.run_id == RunRow.id)
        .where(RunRow.project_id == project_id)
    )
    found: dict[str, list[float]] = {}
    for run_id, finished_at, computed_at in rows:
        if finished_at is not None:
            found.setdefault(run_id, []).append((computed_at - finished_at).total_seconds())
    return found


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else sum(values)
