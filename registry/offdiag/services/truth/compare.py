"""Comparing two versions of the ground truth of a dataset."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.errors import InvalidInput
from offdiag.inputs.ids import SampleIds, are_equal
from offdiag.services.truth.difference import LabelDifference, difference_between
from offdiag.services.truth.lookup import dataset_named, version_of
from offdiag.store import truths
from offdiag.store.database import Database
from offdiag.store.session import Session
from offdiag.store.truths import TruthRecord


@dataclass(frozen=True)
class TruthComparison:
    """Two versions, and the samples whose labels differ from `before` to `after`."""

    before: TruthRecord
    after: TruthRecord
    difference: LabelDifference


def compare_truths(
    database: Database, *, project: str, dataset: str, before: int, after: int
) -> TruthComparison:
    """The difference between two versions, given by number.

    Raises `NotFound` for unknown ones and `InvalidInput` when they label different samples.
    """
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        one = version_of(session, known, before)
        other = version_of(session, known, after)
        ids = _shared_ids(session, one, other)
        difference = difference_between(
            truths.truth_codes(session, one.id),
            truths.truth_codes(session, other.id),
            labels=known.labels,
            ids=ids,
        )
    return TruthComparison(one, other, difference)


def _shared_ids(session: Session, one: TruthRecord, other: TruthRecord) -> SampleIds | None:
    ids = truths.truth_ids(session, one)
    if one.root_id == other.root_id:
        return ids
    if one.n_samples == other.n_samples and are_equal(ids, truths.truth_ids(session, other)):
        return ids
    raise InvalidInput(
        f"versions {one.number} and {other.number} do not label the same samples.",
        field="version",
        hint="Compare versions that come from one another; `offdiag truth show` tells which do.",
    )
