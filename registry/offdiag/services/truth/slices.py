"""Slice columns of the samples of a dataset that come after its runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.inputs.ids import require_distinct, sample_ids
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices
from offdiag.services.ingest.truth import keep_columns, positions_in
from offdiag.services.jobs.submit import submit_evaluations
from offdiag.services.truth.versions import dataset_named, version_of
from offdiag.store import truths
from offdiag.store.database import Database
from offdiag.store.session import Session
from offdiag.store.truths import TruthRecord


def add_slices(
    database: Database,
    *,
    project: str,
    dataset: str,
    given: GivenSlices,
    version: int | None = None,
) -> AddedSlices:
    """Give the samples of a dataset slice columns, and evaluate its runs by them.

    The samples are those of the newest label version, or of `version`; all versions of the same
    samples share their columns. Samples that are not named stay unknown in the new columns, and
    unknown values can be added later. Repeating a call changes nothing. Raises `NotFound`,
    `InvalidInput` for unusable columns and unknown samples, and `Conflict` for other values than
    a sample has.
    """
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        truths.lock_truths(session, known.id)
        truth = version_of(session, known, version)
        places, n = _places(session, truth, given.ids)
        columns = given.read(n)
        if places is not None:
            columns = {
                name: each.spread(places, n=truth.n_samples) for name, each in columns.items()
            }
        changed = keep_columns(session, truth, columns, now=database.clock())
        runs = truths.runs_scored_with(session, truth.root_id) if changed else []
        submit_evaluations(session, runs)
        root = truths.get_truth(session, truth.root_id)
        return AddedSlices(dataset, root.number, tuple(sorted(changed)), len(runs))


def _places(
    session: Session, truth: TruthRecord, given: object | None
) -> tuple[NDArray[np.int64] | None, int]:
    """Where the named samples stand, and how many there are; None for all, in order."""
    if given is None:
        return None, truth.n_samples
    ids = sample_ids(given)
    require_distinct(ids, ids.order(), field="ids")
    known = truths.truth_ids(session, truth)
    if known is not None:
        return positions_in(known, ids, field="ids"), len(ids)
    raise InvalidInput(
        f"the samples of dataset version {truth.number} were logged without identifiers.",
        field="ids",
        hint=f"Leave ids out and give {truth.n_samples} values in the order they were logged.",
    )
