"""What kinds of work there are, and how each is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from offdiag.services.evaluation.task import compute_evaluation, give_up_evaluation
from offdiag.services.work.submit import EVALUATE
from offdiag.store.database import Database
from offdiag.store.session import Session

Args = Mapping[str, Any]
Writer = Callable[[Session], None]
"""Writes a result that was computed before; runs in the transaction that ends the work."""


@dataclass(frozen=True, slots=True)
class TaskKind:
    """How one kind of work is done.

    `compute` reads and calculates without writing and returns the writer of its result;
    `give_up` records, in the transaction that buries the work, that it failed for good.
    """

    compute: Callable[[Database, Args], Writer]
    give_up: Callable[[Session, Args, str], None]


TASKS: Mapping[str, TaskKind] = {
    EVALUATE: TaskKind(compute_evaluation, give_up_evaluation),
}
