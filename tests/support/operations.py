"""What a client or a clock does to a registry, to be disturbed at every step and done again.

Ids and times are the same in every repetition, so that registries can be compared by content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import update

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.services.delivery.message import FolderTarget
from offdiag.services.ingest.batch import GivenMatrix
from offdiag.services.ingest.log_counts import log_matrix
from offdiag.services.reports.edition import report_now
from offdiag.services.schedules.due import run_due_schedules
from offdiag.store.database import Database
from offdiag.store.models import WorkRow
from support.logging_runs import ACTUAL, PREDICTED, correct_labels, log, stream, work_off
from support.reporting import SCOPE, log_run, weekly

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
MONDAY = datetime(2026, 11, 23, 6, tzinfo=UTC)
_FACTS = RunFacts(name="run", client_key="key")
_IDS = ["s1", "s2", "s3", "s4", "s5", "s6"]


@dataclass(frozen=True)
class Deed:
    """Something that is done again until it is acknowledged, in a registry made for it."""

    prepare: Callable[[Database], object]
    do: Callable[[Database], object]

    def do_again(self, database: Database) -> None:
        """What a client does who found no answer, and a worker once the lease ran out."""
        with database.write() as session:
            session.execute(update(WorkRow).values(lease_until=WorkRow.lease_until - 3600))
        self.do(database)


def opened(url: str) -> Database:
    """A registry in which it is always the same moment."""
    return Database(url, synchronous="normal", clock=lambda: NOW)


def _log(database: Database) -> None:
    with _known_run_ids():
        log(
            database,
            sample_ids=_IDS,
            y_score=[[0.5, 0.25, 0.25]] * 6,
            slices={"site": ["north", "south"] * 3},
            facts=_FACTS,
        )


def _log_matrix(database: Database) -> None:
    with _known_run_ids():
        log_matrix(
            database,
            facts=_FACTS,
            dataset="matrices",
            given=GivenMatrix([[3, 1], [0, 2]], "actual_columns", ["a", "b"]),
        )


def _stream(database: Database) -> None:
    labels = LabelSet.declared(["a", "b", "c"])
    parts = [
        {"y_pred": PREDICTED[part], "y_true": ACTUAL[part], "ids": _IDS[part]}
        for part in (slice(0, 3), slice(3, 6))
    ]
    with _known_run_ids():
        stream(database, parts, "streamed", labels, facts=_FACTS)


def _evaluated(database: Database) -> None:
    log(database, y_true=list("aabbab"), y_pred=list("aabbba"), sample_ids=_IDS)
    work_off(database)


def _revise(database: Database) -> None:
    correct_labels(database, {"s2": "b", "s6": None}, author="ana")


def _revise_and_score(database: Database) -> None:
    _revise(database)
    work_off(database)


def _plan(database: Database) -> None:
    log_run(database)
    weekly(database, due=MONDAY, delivery=[FolderTarget("weekly")])


def _ask(database: Database) -> None:
    log_run(database)
    report_now(database, name="weekly", scope=SCOPE)


def _nothing(_database: Database) -> None:
    """An empty registry will do."""


DEEDS = {
    "work": Deed(_nothing, work_off),
    "log_run": Deed(_nothing, _log),
    "log_matrix": Deed(_nothing, _log_matrix),
    "finish": Deed(_nothing, _stream),
    "revise_truth": Deed(_evaluated, _revise),
    "revise_truth and score": Deed(_evaluated, _revise_and_score),
    "tick": Deed(_plan, lambda database: run_due_schedules(database, MONDAY)),
    "report": Deed(_ask, work_off),
}


@contextmanager
def _known_run_ids() -> Iterator[None]:
    def known(*_: Any) -> str:
        return "r_000000000000"

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("offdiag.store.runs.new_run_id", known)
        yield
