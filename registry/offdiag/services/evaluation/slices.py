"""The evaluation of a slice of a run: computed on the first request and then stored."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from offdiag.domain.sentences import known_names
from offdiag.domain.slices import Slice, parse_slice
from offdiag.domain.suggestions import did_you_mean
from offdiag.errors import InvalidInput, UnknownKey
from offdiag.inputs.slice_columns import SliceColumn, SliceColumns
from offdiag.services.evaluation.compute import new_evaluation
from offdiag.services.evaluation.inputs import (
    input_digest,
    read_inputs,
    require_closed,
    truth_that_counts,
)
from offdiag.services.small_groups import require_shown, sizes_of_run, suppressed_below
from offdiag.store import evaluations, logged_counts, runs, slices
from offdiag.store.database import Database, Session
from offdiag.store.evaluations import StoredEvaluation, has_newer_results
from offdiag.store.evaluations_write import write_evaluation
from offdiag.store.run_page import RunDetail, RunResults
from offdiag.store.runs import RunRecord

MOST_GROUPS = 500
"""Most values of a column that are compared side by side."""


def evaluation_of_slice(database: Database, run_id: str, text: str) -> StoredEvaluation:
    """All metrics of the samples of a run that are in a slice, such as `country=DE`.

    They are counted from the predictions and the current ground truth, immediately and in this
    process: that takes no longer than reading them. Raises `NotFound`, `InvalidInput` for a slice
    that cannot be read or that the dataset does not have, `Forbidden` for one that is too small to
    be shown, and `Conflict` for a run that is still open.
    """
    part = parse_slice(text)
    # After writing, look again: in the meantime the truth may have been corrected.
    while (stored := _stored(database, run_id, part)) is None:
        began = time.perf_counter()
        with database.read() as session:
            inputs = read_inputs(session, run_id, part)
        evaluation = new_evaluation(inputs, began=began)
        with database.write() as session:
            runs.lock_run(session, run_id, alone=True)  # Others may ask for the same slice.
            newer = has_newer_results(session, run_id)
            write_evaluation(session, evaluation, database.clock(), counts=not newer)
    return stored


def sliced_run(database: Database, detail: RunDetail, text: str) -> RunDetail:
    """A run with the results of a slice instead of all samples. Raises like the above."""
    results = detail.results
    if results is None:
        return detail
    found = evaluation_of_slice(database, detail.run.id, text)
    facts = replace(
        results.facts,
        id=found.id,
        input_digest=found.input_digest,
        matrix_digest=found.matrix_digest,
        n_cases=found.n_labelled,
        n_unlabelled=found.n_cases - found.n_labelled,
        computed_at=found.computed_at,
        hides_minority=None,
    )
    of_slice = RunResults(facts, found.counted, found.aggregate, found.per_class)
    return replace(detail, results=of_slice)


def slice_levels(
    session: Session, run: RunRecord, root_id: int | None
) -> Mapping[str, tuple[str, ...]]:
    """The values that slices of a run can ask for, by column, without hidden ones.

    `root_id` is the first label version of its samples, None if there is none.
    """
    if not run.has_predictions and run.counted_on is None:
        return {}
    k = suppressed_below()
    if k:
        sizes = sizes_of_run(session, run, k)
        columns = {} if sizes is None else sizes.columns
        return {
            name: tuple(
                each for each in column.choices if sizes and each not in sizes.hidden(name)
            )
            for name, column in columns.items()
        }
    if run.has_predictions:
        return {} if root_id is None else slices.slice_choices(session, root_id, ()).levels
    cases = logged_counts.find_counted_samples(session, run.id)
    return {} if cases is None else {name: each.choices for name, each in cases.slices.items()}


def _stored(database: Database, run_id: str, part: Slice) -> StoredEvaluation | None:
    with database.read() as session:
        run = runs.get_run(session, run_id)
        require_closed(run)
        require_shown(session, run, part)
        digest = input_digest(run, truth_that_counts(session, run), part)
        return evaluations.evaluation_of_inputs(session, run_id, digest)


def require_column(columns: SliceColumns, name: str) -> SliceColumn:
    """A slice column by name. Raises `UnknownKey` naming similar columns."""
    column = columns.get(name)
    if column is None:
        known = known_names("columns", columns) if columns else "Log a run with slices=."
        raise UnknownKey(
            f"the dataset has no slice column {name!r}.",
            field="slice",
            hint=did_you_mean(name, columns) or known,
        )
    if len(column.choices) > MOST_GROUPS:
        raise InvalidInput(
            f"column {name!r} has {len(column.choices):,} values.",
            field="slice",
            hint=f"Up to {MOST_GROUPS} are compared; group them.",
        )
    return column
