"""Versions of the ground truth: finding them, comparing them, and adding slice columns.

Slice columns of samples may be added after their runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput, NotFound
from offdiag.inputs.ids import SampleIds, are_equal, require_distinct, sample_ids
from offdiag.inputs.label_sets import set_text
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import count_labelled, differ, in_roomy_rows, is_labelled
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices, slice_notes
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel.sets import unpack_sets
from offdiag.services.ingest.known_samples import positions_in
from offdiag.services.ingest.truth import keep_columns
from offdiag.services.jobs.submit import submit_evaluations
from offdiag.store import truths
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.truths import TruthRecord, TruthSummary, truth_list


def version_of(session: Session, dataset: DatasetRecord, number: int | None) -> TruthRecord:
    """A truth version by number, by default the newest. Raises `NotFound`."""
    if number is None:
        found = truths.latest_truth(session, dataset.id)
    else:
        found = truths.numbered_truth(session, dataset_id=dataset.id, number=number)
    if found is None:
        which = "ground truth" if number is None else f"label version {number}"
        raise NotFound(
            f"dataset {dataset.name!r} has no {which}.",
            field="dataset" if number is None else "version",
            hint="`offdiag truth show` lists the versions of a dataset.",
        )
    return found


@dataclass(frozen=True)
class TruthHistory:
    """A dataset with all its label versions, newest first."""

    dataset: DatasetRecord
    versions: tuple[TruthSummary, ...]


def truth_history(database: Database, *, project: str, dataset: str) -> TruthHistory:
    """The label versions of a dataset. Raises `NotFound` for an unknown dataset."""
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        return TruthHistory(known, truth_list(session, known.id))


@dataclass(frozen=True, slots=True)
class Relabelled:
    """How many samples changed from one class, or set of labels as text, to another.

    None means "no label".
    """

    before: str | None
    after: str | None
    n: int


@dataclass(frozen=True, slots=True)
class ChangedSample:
    """A changed sample, by identifier or position, with its two labels."""

    sample: int | str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class LabelDifference:
    """The samples whose labels differ.

    `positions` are their places in the truth, ascending, shape (m,); `before` and `after` their
    codes, with `len(labels)` for no label, or their packed sets. `ids` are the identifiers of
    these m samples, None if samples are identified by position.
    """

    labels: LabelSet
    positions: NDArray[np.int64]
    before: Codes
    after: Codes
    ids: SampleIds | None

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def moves(self) -> tuple[Relabelled, ...]:
        """Every change from one class to another, the most frequent first."""
        if not len(self):
            return ()
        sides = [
            each.reshape(len(self), -1).astype(np.int64) for each in (self.before, self.after)
        ]
        _, first, counts = np.unique(
            np.concatenate(sides, axis=1), axis=0, return_index=True, return_counts=True
        )
        order = np.argsort(-counts, kind="stable")
        first = first[order]
        before, after = self._names(self.before[first]), self._names(self.after[first])
        return tuple(map(Relabelled, before, after, counts[order].tolist()))

    @property
    def n_corrected(self) -> int:
        """The number of samples that have another label than before."""
        return len(self) - self.n_newly_labelled - self.n_unlabelled

    @property
    def n_newly_labelled(self) -> int:
        """The number of samples that had no label before."""
        return len(self) - count_labelled(self.before, len(self.labels))

    @property
    def n_unlabelled(self) -> int:
        """The number of samples that no longer have a label."""
        return len(self) - count_labelled(self.after, len(self.labels))

    def samples(self, start: int = 0, stop: int | None = None) -> Iterator[ChangedSample]:
        """The changed samples one at a time, or a range of them, in the order of the truth."""
        piece = slice(start, len(self) if stop is None else min(stop, len(self)))
        positions: list[int] = self.positions[piece].tolist()
        names: Sequence[int | str] = (
            positions if self.ids is None else self.ids.slice(piece.start, piece.stop).to_list()
        )
        before, after = self._names(self.before[piece]), self._names(self.after[piece])
        yield from map(ChangedSample, names, before, after)

    def labels_before(self) -> dict[int | str, str | list[str] | None]:
        """The old labels of the changed samples, in the form of a correction: lists for sets."""
        found: dict[int | str, str | list[str] | None] = {
            each.sample: each.before for each in self.samples()
        }
        if are_sets(self.before):
            members = unpack_sets(self.before.astype(np.uint8), len(self.labels.names))
            for (sample, text), row in zip(list(found.items()), members, strict=True):
                if text is not None:
                    found[sample] = [self.labels.names[code] for code in np.flatnonzero(row)]
        return found

    def _names(self, codes: Codes) -> list[str | None]:
        names = self.labels.names
        if are_sets(codes):
            members = unpack_sets(codes.astype(np.uint8), len(names))
            known = is_labelled(codes, len(names)).tolist()
            texts = [set_text(self.labels, row) for row in members]
            return [
                text if is_known else None for text, is_known in zip(texts, known, strict=True)
            ]
        return [None if code == len(names) else names[code] for code in codes.tolist()]


def difference_between(
    before: Codes, after: Codes, *, labels: LabelSet, ids: SampleIds | None
) -> LabelDifference:
    """Compare the codes of the same n samples in two versions; `ids` names all n of them."""
    changed = np.flatnonzero(differ(before, after, len(labels))).astype(np.int64)
    return LabelDifference(
        labels,
        changed,
        in_roomy_rows(before[changed], len(labels)),
        in_roomy_rows(after[changed], len(labels)),
        None if ids is None else ids.take(changed),
    )


@dataclass(frozen=True)
class TruthComparison:
    """Two label versions, and the samples whose labels differ from `before` to `after`."""

    before: TruthRecord
    after: TruthRecord
    difference: LabelDifference


def compare_truths(
    database: Database, *, project: str, dataset: str, before: int, after: int
) -> TruthComparison:
    """The difference between two versions, given by number.

    Raises `NotFound` for unknown versions and `InvalidInput` if they are about different samples.
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
        hint="Compare versions that come from one another; `offdiag truth show` lists the "
        "parent of each.",
    )


def add_slices(
    database: Database,
    *,
    project: str,
    dataset: str,
    given: GivenSlices,
    version: int | None = None,
) -> AddedSlices:
    """Add slice columns to the samples of a dataset, and evaluate its runs by them.

    The samples are those of the newest label version, or of `version`; all versions of the same
    samples share their columns. Samples that are not named have unknown values in the new columns,
    and unknown values can be added later. Repeating a call changes nothing. Raises `NotFound`,
    `InvalidInput` for unusable columns and unknown samples, and `Conflict` for values that differ
    from those a sample has.
    """
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        truths.lock_truths(session, known.id)
        truth = version_of(session, known, version)
        places, n = _places(session, truth, given.ids)
        columns = given.read(n)
        notes = slice_notes(columns)
        if places is not None:
            columns = {
                name: each.spread(places, n=truth.n_samples) for name, each in columns.items()
            }
        changed = keep_columns(session, truth, columns, now=database.clock())
        runs = truths.runs_scored_with(session, truth.root_id) if changed else []
        submit_evaluations(session, runs)
        root = truths.get_truth(session, truth.root_id)
        return AddedSlices(dataset, root.number, tuple(sorted(changed)), len(runs), notes)


def _places(
    session: Session, truth: TruthRecord, given: object | None
) -> tuple[NDArray[np.int64] | None, int]:
    """The places of the named samples, None for all in order, and their number."""
    known = truths.truth_ids(session, truth)
    if given is None and known is None:
        return None, truth.n_samples
    if given is None:
        raise InvalidInput(
            f"the samples of dataset version {truth.number} have identifiers, and are stored in "
            "their order, not in that of a file.",
            field="ids",
            hint="Give the identifier of each value.",
        )
    ids = sample_ids(given)
    require_distinct(ids, ids.order(), field="ids")
    if known is not None:
        return positions_in(known, ids, field="ids"), len(ids)
    raise InvalidInput(
        f"the samples of dataset version {truth.number} were logged without identifiers.",
        field="ids",
        hint=f"Leave ids out and give {truth.n_samples} values in the order they were logged.",
    )
