"""Correcting labels: storing a new label version, and submitting all runs to be scored again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import TruthRevision
from offdiag.domain.runs import Task
from offdiag.domain.texts import require_reason
from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs.ids import SampleIds
from offdiag.inputs.label_changes import AS_USUAL, ColumnNames, LabelChanges, read_label_changes
from offdiag.inputs.partial_labels import differ, replaced
from offdiag.services.ingest.batch import CHUNK_SIZE, truth_digest
from offdiag.services.ingest.known_samples import positions_in
from offdiag.services.jobs.submit import submit_evaluations
from offdiag.services.truth.versions import LabelDifference, difference_between, version_of
from offdiag.store import truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.truths import NewTruth, TruthRecord


@dataclass(frozen=True)
class Revision:
    """A new truth version, what it changed, and how many runs are scored again because of it.

    `was_there` says that the call repeated an earlier one: nothing was done.
    """

    version: TruthRecord
    parent: TruthRecord
    difference: LabelDifference
    n_runs: int
    was_there: bool = False


@dataclass(frozen=True)
class _Prepared:
    """A revision prepared from what was read, to be written if that is still current."""

    dataset: DatasetRecord
    parent: TruthRecord
    truth: NewTruth
    difference: LabelDifference


def revise_truth(
    database: Database,
    *,
    project: str,
    dataset: str,
    labels: object,
    reason: str,
    author: str | None,
    version: int | None = None,
    names: ColumnNames = AS_USUAL,
    also: Callable[[Session, TruthRecord], None] | None = None,
) -> Revision:
    """Give samples other labels, in a new version of the truth; the old one is not changed.

    `labels` and `names` are as for `read_label_changes`. The newest version of the dataset is
    corrected, or the newest of the lineage of `version`. In the same transaction all runs scored
    with it are submitted for evaluation, and `also` is called with the new version.

    Repeating a call finds the version it made. Raises `NotFound` for an unknown dataset or
    version, `InvalidInput` for unusable changes and unknown samples, and `Conflict` if the labels
    are already as requested.
    """
    why = require_reason(reason)
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
    changes = read_label_changes(
        labels, known.labels, names, of_sets=known.task is Task.MULTILABEL
    )
    while True:
        with database.read() as session:
            parent = truths.head_of(session, version_of(session, known, version).id)
            prepared = _prepare(session, known, parent, changes, why)
            if len(prepared.difference) == 0:
                return _repetition(session, prepared, changes)
        with database.write() as session:
            truths.lock_truths(session, prepared.dataset.id)
            head = truths.head_of(session, prepared.parent.id)
            # Another user may have corrected the truth since it was read.
            if head.id == prepared.parent.id:
                made = _write(session, database, prepared, author)
                if also is not None:
                    also(session, made.version)
                return made


def _prepare(
    session: Session,
    dataset: DatasetRecord,
    parent: TruthRecord,
    changes: LabelChanges,
    reason: str,
) -> _Prepared:
    before = truths.truth_codes(session, parent.id)
    ids = truths.truth_ids(session, parent)
    places = places_in_truth(changes.ids, ids, parent)
    n_classes = len(dataset.labels)
    after = replaced(before, places, changes.codes, n_classes)
    digest = truth_digest(dataset.labels, after, ids)
    truth = NewTruth(digest, after, None, n_classes, parent=parent, reason=reason)
    difference = difference_between(before, after, labels=dataset.labels, ids=ids)
    return _Prepared(dataset, parent, truth, difference)


def places_in_truth(
    wanted: SampleIds, ids: SampleIds | None, truth: TruthRecord
) -> NDArray[np.int64]:
    """The places of samples in a truth with these `ids`. Raises `InvalidInput` if unknown."""
    if ids is not None:
        return positions_in(ids, wanted, field="labels")
    positions = wanted.values
    if not isinstance(positions, np.ndarray):
        raise InvalidInput(
            f"the samples of label version {truth.number} have no identifiers.",
            field="labels",
            hint=f"Name them by position: whole numbers from 0 to {truth.n_samples - 1}.",
        )
    outside = (positions < 0) | (positions >= truth.n_samples)
    if outside.any():
        raise InvalidInput(
            f"there is no sample at position {int(positions[np.argmax(outside)])}.",
            field="labels",
            hint=f"Positions run from 0 to {truth.n_samples - 1}.",
        )
    return positions


def _repetition(session: Session, prepared: _Prepared, changes: LabelChanges) -> Revision:
    """The newest version that an equal call made. Raises `Conflict` if there is none.

    Other corrections may have followed it, even with the same reason. A version comes from an
    equal call if it changed no other samples and gave these the same labels.
    """
    head, n_classes = prepared.parent, len(prepared.dataset.labels)
    ids = truths.truth_ids(session, head)
    places = places_in_truth(changes.ids, ids, head)
    child = head
    while child.parent_id is not None:
        parent = truths.get_truth(session, child.parent_id)
        if child.reason == prepared.truth.reason:
            before, after = (truths.truth_codes(session, each.id) for each in (parent, child))
            made = difference_between(before, after, labels=prepared.dataset.labels, ids=ids)
            asked = replaced(after, places, changes.codes, n_classes)
            is_as_asked = not differ(after, asked, n_classes).any()
            if is_as_asked and np.isin(made.positions, places).all():
                return Revision(child, parent, made, n_runs=0, was_there=True)
        child = parent
    raise Conflict(
        f"label version {head.number} of dataset {prepared.dataset.name!r} has these labels "
        "already.",
        field="labels",
        hint="Nothing was changed.",
    )


def _write(
    session: Session, database: Database, prepared: _Prepared, author: str | None
) -> Revision:
    version = truths.insert_truth(
        session,
        dataset_id=prepared.dataset.id,
        truth=prepared.truth,
        chunk_size=CHUNK_SIZE,
        author=author,
        now=database.clock(),
    )
    affected = truths.runs_scored_with(session, version.root_id)
    submit_evaluations(session, affected)
    return Revision(version, prepared.parent, prepared.difference, len(affected))


def summary_of(dataset: str, made: Revision) -> TruthRevision:
    """The effects of a revision, in numbers."""
    return TruthRevision(
        dataset=dataset,
        version=made.version.number,
        parent=made.parent.number,
        reason=made.version.reason or "",
        n_corrected=made.difference.n_corrected,
        n_newly_labelled=made.difference.n_newly_labelled,
        n_unlabelled=made.difference.n_unlabelled,
        n_labelled=made.version.n_labelled,
        n_samples=made.version.n_samples,
        n_runs=made.n_runs,
        was_there=made.was_there,
    )
