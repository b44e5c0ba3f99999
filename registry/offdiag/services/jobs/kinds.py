"""The kinds of tasks that jobs may have, and how each is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from offdiag.services.delivery.task import compute_delivery, fail_delivery, restart_delivery
from offdiag.services.evaluation.task import (
    compute_evaluation,
    fail_evaluation,
    restart_evaluation,
)
from offdiag.services.jobs.submit import DELIVER, EVALUATE, REPORT
from offdiag.services.reports.task import compute_report, fail_report, restart_report
from offdiag.store.database import Database, Session

Args = Mapping[str, Any]
Writer = Callable[[Session], None]
"""Writes a result that was already computed, in the transaction that ends the job."""


@dataclass(frozen=True, slots=True)
class TaskKind:
    """How one kind of task is done.

    `compute` reads and calculates without writing and returns the writer of its result;
    `record_failure` records, in the transaction that fails the job, that it failed for good, and
    `restart` undoes that when a user asks for another try. `delay_factor` stretches the delays
    between attempts: other people's servers take longer to recover than a database. `reaches_out`
    says that computing has effects outside, so that every attempt counts, however it ended.
    """

    compute: Callable[[Database, Args], Writer]
    record_failure: Callable[[Session, Args, str], None]
    restart: Callable[[Session, Args], None] = lambda _session, _args: None
    delay_factor: float = 1.0
    reaches_out: bool = False


TASKS: Mapping[str, TaskKind] = {
    EVALUATE: TaskKind(compute_evaluation, fail_evaluation, restart_evaluation),
    REPORT: TaskKind(compute_report, fail_report, restart_report),
    DELIVER: TaskKind(
        compute_delivery, fail_delivery, restart_delivery, delay_factor=30.0, reaches_out=True
    ),
}
