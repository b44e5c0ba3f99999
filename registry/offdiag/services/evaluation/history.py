"""How the results of a run came to be what they are: every evaluation, and what differed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.evaluations import PastEvaluation, evaluation_history

HISTORY_KEYS = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1")
KEYS_OF_SETS = ("subset_accuracy", "hamming_loss", "example_jaccard")
"""What runs have, beside the last of these, whose cases carry sets of labels."""
ALL_KEYS = (*HISTORY_KEYS, *KEYS_OF_SETS)


@dataclass(frozen=True)
class HistoryEntry:
    """An evaluation and, in words, what was different from the one before it of the same cases.

    `differences` is empty for the first one.
    """

    evaluation: PastEvaluation
    differences: tuple[str, ...]


def run_history(database: Database, run_id: str) -> tuple[HistoryEntry, ...]:
    """All evaluations of a run and of its slices, oldest first. Raises `NotFound`."""
    with database.read() as session:
        runs.get_run(session, run_id)
        found = evaluation_history(session, run_id, keys=ALL_KEYS)
    return with_differences(found)


def with_differences(evaluations: Sequence[PastEvaluation]) -> tuple[HistoryEntry, ...]:
    """Each evaluation, oldest first, compared with the one before it of the same slice."""
    latest: dict[str | None, PastEvaluation] = {}
    entries = []
    for evaluation in evaluations:
        before = latest.get(evaluation.slice)
        differs = () if before is None else _differences(before, evaluation)
        entries.append(HistoryEntry(evaluation, differs))
        latest[evaluation.slice] = evaluation
    return tuple(entries)


def _differences(before: PastEvaluation, after: PastEvaluation) -> tuple[str, ...]:
    compared = (
        ("truth version", before.truth_number, after.truth_number),
        ("metrics version", before.suite_version, after.suite_version),
        ("offdiag", before.engine_version, after.engine_version),
        ("labelled cases", before.n_labelled, after.n_labelled),
    )
    return tuple(f"{what} {was} → {now}" for what, was, now in compared if was != now)
