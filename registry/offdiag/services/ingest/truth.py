"""The ground truth of a run: found by content, or stored as a new version of the dataset.

Slice columns that come with predictions are stored once, with the samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import count
from offdiag.domain.runs import Task
from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs.ids import SampleIds, are_equal, require_distinct
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import differ, is_labelled, nothing_labelled
from offdiag.inputs.slice_columns import MAX_COLUMNS, SliceColumns
from offdiag.services.ingest.batch import CHUNK_SIZE, truth_digest
from offdiag.services.ingest.known_samples import (
    note_on_other_labels,
    notes_on_single_labels,
    positions_in,
)
from offdiag.services.jobs.submit import submit_evaluations
from offdiag.services.small_groups import suppressed_below
from offdiag.store import slices, truths
from offdiag.store.database import Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.truths import NewTruth, TruthRecord

LABELS_CAME_WITH_A_RUN = "Labels that were missing came with a run."
"""The reason for a version that no one requested: it adds labels and changes none."""


@dataclass(frozen=True)
class PlacedTruth:
    """The ground truth of a run and the places of its samples in it.

    `actual` has the codes of all samples of the truth in canonical order; `positions` has the
    place of each logged sample, None if they are already in that order. `notes` say what may have
    been stored differently than intended.
    """

    record: TruthRecord
    actual: Codes
    positions: NDArray[np.int64] | None
    notes: tuple[str, ...] = ()


def register_truth(
    session: Session,
    dataset: DatasetRecord,
    actual: Codes,
    ids: SampleIds | None,
    *,
    predicted: Callable[[], Codes],
    author: str | None,
    now: datetime,
) -> PlacedTruth:
    """Store the truth that came with a run, or find the equal one that is already stored.

    With identifiers the order of the samples does not matter. Labels for samples that had none
    become a new version of the same truth. There is a note on other labels of the same samples,
    because runs with them cannot be compared with earlier ones example by example; without
    identifiers, there is one if few labels are other than before, if they are those of the last
    run in another order, or if this run predicts the earlier labels. There is also a note if the
    first sets of a dataset all have one label. Raises `InvalidInput` if an identifier occurs
    twice.
    """
    positions = None
    notes: tuple[str, ...] = ()
    if ids is not None:
        order = ids.order()
        require_distinct(ids, order, field="sample_ids")
        if not bool((order[1:] > order[:-1]).all()):
            positions = np.empty_like(order)
            positions[order] = np.arange(len(order))
            ids, actual = ids.take(order), actual[order]
    digest = truth_digest(dataset.labels, actual, ids)
    record = truths.find_truth(session, dataset_id=dataset.id, digest=digest)
    if record is None:
        truth = NewTruth(digest, actual, ids, len(dataset.labels))
        newest = truths.latest_truth(session, dataset.id)
        completed = _completed_by(session, dataset, newest, truth)
        if completed is not None:
            truth = replace(truth, ids=None, parent=completed, reason=LABELS_CAME_WITH_A_RUN)
        record = truths.insert_truth(
            session,
            dataset_id=dataset.id,
            truth=truth,
            chunk_size=CHUNK_SIZE,
            author=author,
            now=now,
        )
        if completed is not None:
            submit_evaluations(session, truths.runs_scored_with(session, completed.root_id))
        elif newest is not None:
            note = note_on_other_labels(
                session,
                dataset,
                newest,
                made=record,
                actual=actual,
                ids=ids,
                as_logged=lambda codes: codes if positions is None else codes[positions],
                predicted=predicted,
            )
            notes = () if note is None else (note,)
        else:
            notes = notes_on_single_labels(dataset, actual, predicted)
    return PlacedTruth(record, actual, positions, notes)


def _completed_by(
    session: Session, dataset: DatasetRecord, newest: TruthRecord | None, truth: NewTruth
) -> TruthRecord | None:
    """The newest truth, if the given one only adds labels to its samples, else None."""
    if newest is None or not newest.is_partial or newest.n_samples != len(truth.actual):
        return None
    known = truths.truth_codes(session, newest.id)
    labelled = is_labelled(known, len(dataset.labels))
    if bool(differ(known[labelled], truth.actual[labelled], len(dataset.labels)).any()):
        return None
    ids = truths.truth_ids(session, newest)
    return newest if are_equal(ids, truth.ids) else None


def place_in_latest_truth(
    session: Session,
    dataset: DatasetRecord,
    *,
    n_cases: int,
    ids: SampleIds | None,
    author: str | None,
    now: datetime,
) -> PlacedTruth:
    """Match predictions without labels to the newest ground truth of their dataset.

    If there is none, the identifiers make one whose labels come later. Raises `InvalidInput` if
    there are no identifiers either, if the samples are not exactly those of the truth, or if only
    the truth has identifiers.
    """
    record = truths.latest_truth(session, dataset.id)
    if record is None:
        if ids is None:
            raise InvalidInput(
                f"dataset {dataset.name!r} has no ground truth yet.",
                field="y_true",
                hint="Give y_true=, or sample_ids= if the labels come later.",
            )
        nothing = nothing_labelled(
            n_cases, len(dataset.labels), of_sets=dataset.task is Task.MULTILABEL
        )
        return register_truth(
            session, dataset, nothing, ids, predicted=lambda: nothing, author=author, now=now
        )
    if n_cases != record.n_samples:
        raise InvalidInput(
            f"{count(n_cases, 'prediction')}, but label version {record.number} of dataset "
            f"{dataset.name!r} has {count(record.n_samples, 'sample')}.",
            field="y_pred",
            hint="Log one prediction for each sample, or give y_true= for the part you have.",
        )
    actual = truths.truth_codes(session, record.id)
    known = truths.truth_ids(session, record)
    if ids is None:
        if known is None:
            return PlacedTruth(record, actual, None)
        raise InvalidInput(
            f"the samples of dataset {dataset.name!r} have sample_ids, and are stored in their "
            "order, not in that of a file, so predictions without them match no labels.",
            field="sample_ids",
            hint="Give those of the predictions, or y_true= in the order of the predictions.",
        )
    if known is None:
        raise InvalidInput(
            f"the truth of dataset {dataset.name!r} was logged without sample_ids.",
            field="sample_ids",
            hint="Leave them out and keep the order, or give y_true= too.",
        )
    order = ids.order()
    require_distinct(ids, order, field="sample_ids")
    positions = positions_in(known, ids, field="sample_ids")
    in_order = bool((positions == np.arange(n_cases)).all())
    return PlacedTruth(record, actual, None if in_order else positions)


def register_slices(
    session: Session, placed: PlacedTruth, columns: SliceColumns, *, now: datetime
) -> None:
    """Store the slice columns of a run with the samples of its truth, in the order of the truth.

    A known column must have the same values; a new one is added, and all runs on these samples are
    evaluated by it. Raises `Conflict` naming the first sample whose value differs, and
    `InvalidInput` for too many columns.
    """
    order = None if placed.positions is None else np.argsort(placed.positions, kind="stable")
    ordered = {n: each if order is None else each.take(order) for n, each in columns.items()}
    if keep_columns(session, placed.record, ordered, now=now):
        submit_evaluations(session, truths.runs_scored_with(session, placed.record.root_id))


def keep_columns(
    session: Session, truth: TruthRecord, columns: SliceColumns, *, now: datetime
) -> list[str]:
    """Store columns in the order of the truth; returns the names of those with new values.

    Raises `Conflict` naming the first sample whose value differs, and `InvalidInput`.
    """
    if not columns:
        return []
    known = slices.slice_columns(session, truth.root_id)
    if len(known.keys() | columns.keys()) > MAX_COLUMNS:
        raise InvalidInput(
            f"the dataset would have {len(known.keys() | columns.keys())} columns.",
            field="slices",
            hint=f"At most {MAX_COLUMNS} are kept with a dataset.",
        )
    changed = []
    for name, column in columns.items():
        if name not in known:
            slices.insert_slice_column(session, truth.root_id, name, column, now)
            changed.append(name)
            continue
        if known[name].of_tags != column.of_tags:
            kinds = ("one value", "tags") if column.of_tags else ("tags", "one value")
            raise Conflict(
                f"samples have {kinds[0]} in {name!r}, not {kinds[1]}.",
                field="slices",
                hint="Use another name for the new column.",
            )
        differs_at = known[name].first_difference(column)
        if differs_at is not None:
            was = known[name].levels[known[name].codes[differs_at]]
            now_is = column.levels[column.codes[differs_at]]
            (name_of,) = truths.names_at(session, truth, np.array([differs_at]))
            sample = f"sample {name_of!r}"
            raise Conflict(
                f"{sample} has another {name} than {now_is!r}."
                if suppressed_below()
                else f"{sample} has {name} {was!r}, not {now_is!r}.",
                field="slices",
                hint="Values of a slice belong to the samples; use another name for new ones.",
            )
        completed = known[name].completed_by(column)
        if known[name].first_gap(completed) is not None:
            slices.replace_slice_column(session, truth.root_id, name, completed, now)
            changed.append(name)
    if changed:
        slices.drop_slice_counts(session, truth.root_id)
    return changed


def require_kept(kept: SliceColumns, columns: SliceColumns, run_id: str) -> None:
    """Raise `Conflict` if slices that are sent again for a run differ from the stored ones.

    `kept` are the columns of the same samples, in the same order.
    """
    for name, column in columns.items():
        known = kept.get(name)
        if known is None:
            how = f"without the column {name!r}"
        elif (
            known.of_tags != column.of_tags
            or known.first_difference(column) is not None
            or known.first_gap(column) is not None
        ):
            how = f"with other values of {name!r}"
        else:
            continue
        raise Conflict(
            f"run {run_id} was logged before {how}.",
            field="slices",
            hint="A retry must send the same; offdiag.add_slices adds columns and values to the "
            "samples of a dataset.",
        )
