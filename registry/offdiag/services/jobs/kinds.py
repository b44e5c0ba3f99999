"""What kinds of work there are, and how each is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from offdiag.services.delivery.task import (
    compute_delivery,
    give_up_delivery,
    take_up_delivery,
)
from offdiag.services.evaluation.task import (
    compute_evaluation,
    give_up_evaluation,
    take_up_evaluation,
)
from offdiag.services.jobs.submit import DELIVER, EVALUATE, REPORT
from offdiag.services.reports.task import compute_report, give_up_report, take_up_report
from offdiag.store.database import Database
from offdiag.store.session import Session

Args = Mapping[str, Any]
Writer = Callable[[Session], None]
"""Writes a result that was computed before; runs in the transaction that ends the work."""


@dataclass(frozen=True, slots=True)
class TaskKind:
    """How one kind of work is done.

    `compute` reads and calculates without writing and returns the writer of its result;
    `give_up` records, in the transaction that buries the work, that it failed for good, and
    `take_up` takes that back when somebody asks for another try. `patience` stretches the
    waits between attempts: the servers of others take longer to recover than a database.
    `reaches_out` tells that computing does something that others see, so that every attempt
    counts, whatever ended it.
    """

    compute: Callable[[Database, Args], Writer]
    give_up: Callable[[Session, Args, str], None]
    take_up: Callable[[Session, Args], None] = lambda _session, _args: None
    patience: float = 1.0
    reaches_out: bool = False


TASKS: Mapping[str, TaskKind] = {
    EVALUATE: TaskKind(compute_evaluation, give_up_evaluation, take_up_evaluation),
    REPORT: TaskKind(compute_report, give_up_report, take_up_report),
    DELIVER: TaskKind(
        compute_delivery, give_up_delivery, take_up_delivery, patience=30.0, reaches_out=True
    ),
}
