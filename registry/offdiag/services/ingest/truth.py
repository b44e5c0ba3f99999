"""Ground truth of a run: found by its content, or stored as a new version of the dataset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.runs import Task
from offdiag.errors import InvalidInput
from offdiag.inputs.ids import SampleIds, are_equal, require_distinct
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import differ, is_labelled, nothing_labelled
from offdiag.services.ingest.batch import CHUNK_SIZE
from offdiag.services.ingest.truth_digest import truth_digest
from offdiag.services.work.submit import submit_evaluations
from offdiag.store import truths
from offdiag.store.datasets import DatasetRecord
from offdiag.store.session import Session
from offdiag.store.truths import NewTruth, TruthRecord

LABELS_CAME_WITH_A_RUN = "Labels that were missing came with a run."
"""The reason of a version that nobody asked for: it adds labels and changes none."""


@dataclass(frozen=True)
class PlacedTruth:
    """The truth of a run and where its cases stand in it.

    `actual` has the codes of all samples of the truth in canonical order; `positions` gives
    the place of each logged case, None when they stand in that order already.
    """

    record: TruthRecord
    actual: Codes
    positions: NDArray[np.int64] | None


def register_truth(
    session: Session,
    dataset: DatasetRecord,
    actual: Codes,
    ids: SampleIds | None,
    *,
    author: str | None,
    now: datetime,
) -> PlacedTruth:
    """Store the truth a run brought along, or find the equal one that is already there.

    With identifiers the order of the cases does not matter. Labels for samples that had none
    are a new version of the same truth. Raises `InvalidInput` when an identifier stands twice.
    """
    positions = None
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
        completed = _completed_by(session, dataset, truth)
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
    return PlacedTruth(record, actual, positions)


def _completed_by(session: Session, dataset: DatasetRecord, truth: NewTruth) -> TruthRecord | None:
    """The newest truth, if the given one only adds labels to its samples."""
    newest = truths.latest_truth(session, dataset.id)
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
    """Match predictions that came without labels to the newest truth of their dataset.

    Where there is none, the identifiers make one whose labels come later. Raises
    `InvalidInput` when there are none either, or the cases are not exactly the samples.
    """
    record = truths.latest_truth(session, dataset.id)
    if record is None and ids is not None:
        nothing = nothing_labelled(
            n_cases, len(dataset.labels), of_sets=dataset.task is Task.MULTILABEL
        )
        return register_truth(session, dataset, nothing, ids, author=author, now=now)
    if record is None:
        raise InvalidInput(
            f"dataset {dataset.name!r} has no ground truth yet.",
            field="y_true",
            hint="Give y_true=, or sample_ids= if the labels come later.",
        )
    if n_cases != record.n_samples:
        raise InvalidInput(
            f"there are {n_cases} predictions, but truth version {record.number} of dataset "
            f"{dataset.name!r} has {record.n_samples} samples.",
            field="y_pred",
            hint="Log one prediction for each sample, or give y_true= for the part you have.",
        )
    actual = truths.truth_codes(session, record.id)
    if ids is None:
        return PlacedTruth(record, actual, None)
    known = truths.truth_ids(session, record)
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


def positions_in(known: SampleIds, ids: SampleIds, *, field: str) -> NDArray[np.int64]:
    """Where the identifiers stand among the sorted ones of a truth.

    Raises `InvalidInput` naming the first that is not there.
    """
    import pyarrow.compute as pc

    if isinstance(known.values, np.ndarray) and isinstance(ids.values, np.ndarray):
        places = np.minimum(np.searchsorted(known.values, ids.values), len(known) - 1)
        found = known.values[places] == ids.values
    else:
        matches = pc.index_in(ids.as_text().values, value_set=known.as_text().values)
        places = pc.fill_null(matches, -1).to_numpy().astype(np.int64)
        found = places >= 0
    if not found.all():
        index = int(np.argmin(found))
        unknown = ids.slice(index, index + 1).to_list()[0]
        raise InvalidInput(
            f"{unknown!r} at index {index} is not a sample of the dataset.",
            field=field,
            hint="Check the identifier; new samples come with a run and its y_true=.",
        )
    return places.astype(np.int64)
