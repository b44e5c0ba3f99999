"""How the runs of the demo are judged: costs of errors, baseline, champion and a report.

Whatever is there from an earlier call stays as it is, changes of the reader included.
"""

from __future__ import annotations

from offdiag.domain.cost_names import CostName
from offdiag.reports.scope import Condition, ReportScope, Side
from offdiag.services.champions.promotions import approve, promotions_of
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.datasets import baseline_of, pin_baseline
from offdiag.services.reports.edition import RequestedEdition
from offdiag.services.schedules.edit import add_schedule, run_schedule
from offdiag.services.schedules.page import schedules_page
from offdiag.store.cost_matrices import list_costs
from offdiag.store.database import Database

TUMOURS = "breast cancer"
COSTS = "missed tumour"
DIGITS = "digits, 3 and 8 rare"
IN_USE = "random forest"
"""The run on the digits that stands for what is in use; the others are held against it."""
REPORT = "weekly digits"
MONDAYS_AT_SIX = "0 6 * * 1"


def judge_runs(database: Database, *, project: str, in_use: str) -> None:
    """Price the errors on tumours, and pin the run with the id `in_use` for the digits."""
    with database.read() as session:
        known = {each.name for each in list_costs(session, project=project)}
    if COSTS not in known:
        add_costs(
            database,
            project=project,
            dataset=TUMOURS,
            name=COSTS,
            weights={
                "malignant": {"malignant": 0.0, "benign": 20.0},
                "benign": {"malignant": 1.0, "benign": 0.0},
            },
            note="A malignant tumour that is missed costs as much as twenty false alarms.",
        )
        set_default_costs(database, project=project, dataset=TUMOURS, wanted=CostName(COSTS))
    if baseline_of(database, project=project, dataset=DIGITS) is None:
        pin_baseline(database, in_use, author=None)


def approve_run_in_use(database: Database, *, project: str, in_use: str) -> None:
    """Make the evaluated run `in_use` champion of the digits, unless that was decided before."""
    if not promotions_of(database, project=project, dataset=DIGITS).history:
        approve(database, in_use, reason="In use before the other models were tried.", author=None)


def plan_report(database: Database, *, project: str, in_use: str) -> RequestedEdition | None:
    """Report on the digits each Monday, and once now; None where that is planned already."""
    planned = schedules_page(database, project=project).entries
    if any(entry.schedule.name == REPORT for entry in planned):
        return None
    add_schedule(
        database,
        name=REPORT,
        cron=MONDAYS_AT_SIX,
        zone="UTC",
        scope=ReportScope(
            project=project,
            dataset=DIGITS,
            baseline=in_use,
            alerts=tuple(Condition("recall", Side.BELOW, 0.5, rare) for rare in ("3", "8")),
        ),
    )
    return run_schedule(database, project=project, name=REPORT)
