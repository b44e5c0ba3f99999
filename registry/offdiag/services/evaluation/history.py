"""The history of a run's results: all its evaluations, and what changed between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.domain.slices import parse_slice
from offdiag.services.small_groups import sizes_in_truth, sizes_of_run, suppressed_below
from offdiag.store import runs
from offdiag.store.database import Database, Session
from offdiag.store.evaluations import PastEvaluation, evaluation_history
from offdiag.store.run_page import RunDetail, read_run
from offdiag.store.truths import numbered_truth

HISTORY_KEYS = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1")
KEYS_OF_SETS = ("subset_accuracy", "hamming_loss", "example_jaccard")
"""Metrics in the history of multi-label runs, in addition to macro F1."""
ALL_KEYS = (*HISTORY_KEYS, *KEYS_OF_SETS)


@dataclass(frozen=True)
class HistoryEntry:
    """An evaluation and, in words, what differs from the previous one of the same samples.

    `differences` is empty for the first evaluation.
    """

    evaluation: PastEvaluation
    differences: tuple[str, ...]


def run_history(database: Database, run_id: str) -> tuple[HistoryEntry, ...]:
    """All evaluations of a run and of its slices, oldest first. Raises `NotFound`."""
    with database.read() as session:
        runs.get_run(session, run_id)
        found = _shown_history(session, run_id)
    return with_differences(found)


def _shown_history(session: Session, run_id: str) -> list[PastEvaluation]:
    """The evaluations of a run without those of slices too small to be shown.

    A slice is too small now, or was with the labels of the evaluation.
    """
    found = evaluation_history(session, run_id, keys=ALL_KEYS)
    k = suppressed_below()
    if not k or all(each.slice is None for each in found):
        return list(found)
    run = runs.get_run(session, run_id)
    now = sizes_of_run(session, run, k)
    if now is None:
        return list(found)
    then = {
        number: sizes_in_truth(session, truth, k)
        for number in {each.truth_number for each in found if each.slice is not None}
        if number is not None
        and (truth := numbered_truth(session, dataset_id=run.dataset_id, number=number))
    }
    return [
        each
        for each in found
        if each.slice is None
        or not any(
            sizes.is_hidden(parse_slice(each.slice))
            for sizes in (now, then.get(each.truth_number or 0, now))
        )
    ]


def with_differences(evaluations: Sequence[PastEvaluation]) -> tuple[HistoryEntry, ...]:
    """Each evaluation, oldest first, compared with the previous one of the same slice."""
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
        ("label version", before.truth_number, after.truth_number),
        ("metrics version", before.suite_version, after.suite_version),
        ("offdiag", before.engine_version, after.engine_version),
        ("labelled samples", before.n_labelled, after.n_labelled),
    )
    found = [f"{what} {was} → {now}" for what, was, now in compared if was != now]
    if before.rules_digest and after.rules_digest:
        # Behind a plus follows the digest of the declared metrics.
        old, new = (d.partition("+")[2] for d in (before.rules_digest, after.rules_digest))
        found += ["other declared metrics"] if old != new else []
    return tuple(found)


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run with all its evaluations, oldest first, including those of its slices."""

    detail: RunDetail
    entries: tuple[HistoryEntry, ...]


def browse_history(database: Database, run_id: str) -> RunHistory:
    """A run with the history of its results. Raises `NotFound`."""
    with database.read() as session:
        detail = read_run(session, run_id)
        found = _shown_history(session, run_id)
    return RunHistory(detail, with_differences(found))
