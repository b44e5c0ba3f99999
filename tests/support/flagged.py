"""Runs that raise flags, and their flags."""

from __future__ import annotations

from offdiag.domain.runs import RunFacts
from offdiag.flags.lifecycle import FlagEventKind
from offdiag.services.flags.page import browse_flag
from offdiag.services.jobs.submit import submit_evaluation
from offdiag.store import flags
from offdiag.store.database import Database
from offdiag.store.flags import FlagRecord
from offdiag.store.runs import RunRecord
from support.logging_runs import log, upload_matrix, work_off

MAJORITY = [[95, 0], [5, 0]]
"""Always the same answer: F1 to F8 and more."""
IN_SIGHT = [[450, 50], [12, 18]]
"""Class 1 is found in 60 %, the other in 90 %: too few examples to prove a gap of 20 points."""
GOOD = [[90, 5], [1, 40]]


def upload_counts(database: Database, counts: list[list[int]], name: str = "run") -> RunRecord:
    """Upload a matrix of two classes, actual classes down."""
    return upload_matrix(database, counts, ["0", "1"], name=name, dataset="holdout")


def log_answers(
    database: Database,
    hits: dict[str, tuple[int, int]],
    *,
    name: str,
    dataset: str = "cases",
    model: str | None = None,
) -> RunRecord:
    """A run that finds `hits[label] = (found, of)` samples of each class, the first ones."""
    y_true = [label for label, (_, of) in hits.items() for _ in range(of)]
    other = {"common": "rare", "rare": "common"}
    y_pred = [
        label if place < found else other[label]
        for label, (found, of) in hits.items()
        for place in range(of)
    ]
    facts = RunFacts(name=name, model=model)
    return log(database, y_true=y_true, y_pred=y_pred, dataset=dataset, facts=facts)


def evaluate_again(database: Database, run: RunRecord) -> None:
    """Judge a run once more, with whatever counts now."""
    with database.write() as session:
        submit_evaluation(session, run.id)
    work_off(database)


def flags_of(database: Database, run: RunRecord) -> dict[tuple[str, str | None], FlagRecord]:
    """The flags of a run by rule and class, closed ones too."""
    with database.read() as session:
        found = flags.flags_of_run(session, run.id)
    return {(flag.content.rule, flag.content.class_label): flag for flag in found}


def history(database: Database, flag_id: int) -> list[FlagEventKind]:
    """What happened to a flag, oldest first."""
    return [event.kind for event in browse_flag(database, flag_id).history]
