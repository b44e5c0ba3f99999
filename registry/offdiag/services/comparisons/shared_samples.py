"""Aligning the predictions of several runs on the samples they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.inputs.ids import SampleIds, common_places
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import differ, in_roomy_rows, is_labelled
from offdiag.services.small_groups import GroupSizes, sizes_in_truth, suppressed_below
from offdiag.store.compared_runs import ComparedRun, Predicted
from offdiag.store.database import Session
from offdiag.store.predictions import read_chunks
from offdiag.store.truths import TruthRecord

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SharedSamples:
    """How the examples of a comparison were selected.

    `n_each` counts the samples of each lineage of truth (within the slice if there is only one
    lineage), and `n_shared` those that all have. `n_unlabelled` of them have no label,
    `n_relabelled` have different labels in different lineages; both are left out, and `n_compared`
    remain.
    """

    n_each: tuple[int, ...]
    n_shared: int
    n_unlabelled: int
    n_relabelled: int
    n_compared: int

    @property
    def are_the_same(self) -> bool:
        """Whether every run predicted exactly these examples."""
        return all(n == self.n_shared for n in self.n_each)


@dataclass(frozen=True)
class Aligned:
    """n labelled examples that all runs predicted, in the order of the first truth.

    `predicted` has codes, or packed sets of labels, by run; `rows` says which of a run's
    predictions each is, in the order in which they were logged, and `starts` at which of them its
    chunks begin. `places` are the places of the examples in the truth of `lineage`. `rests` are
    the samples of each lineage that are not compared, needed if small groups are hidden.
    """

    actual: Codes
    predicted: Mapping[str, Codes]
    rows: Mapping[str, Places]
    starts: Mapping[str, Places]
    lineage: TruthRecord
    places: Places
    samples: SharedSamples
    rests: tuple[GroupSizes, ...] = ()


def places_in_lineages(
    lineages: Sequence[TruthRecord], ids: Mapping[int, SampleIds]
) -> dict[int, Places] | None:
    """The places of the samples that all lineages have, by root; None if they are unknown."""
    if len(lineages) == 1:
        return {lineages[0].root_id: np.arange(lineages[0].n_samples)}
    if any(each.root_id not in ids for each in lineages):
        return None
    shared = common_places([ids[each.root_id] for each in lineages])
    return {each.root_id: at for each, at in zip(lineages, shared, strict=True)}


def aligned(
    runs: Sequence[ComparedRun],
    lineages: Sequence[TruthRecord],
    places: Mapping[int, Places],
    truths: Mapping[int, Codes],
    predictions: Mapping[str, Predicted],
    *,
    n_classes: int,
    n_each: tuple[int, ...],
) -> Aligned:
    """Align the predictions of runs, each of which has some, with the labels.

    `places` are the places of the wanted samples by lineage, all of the same length.
    """
    labels = [truths[each.id][places[each.root_id]] for each in lineages]
    has_label, agrees = have_one_label(labels, n_classes=n_classes)
    kept = has_label & agrees
    rows = {}
    for run in runs:
        if run.truth is not None:
            logged = _rows_in_order(predictions[run.id].positions, run.truth.n_samples)
            rows[run.id] = logged[places[run.truth.root_id]][kept]
    return Aligned(
        actual=in_roomy_rows(labels[0][kept], n_classes),
        predicted={
            run_id: in_roomy_rows(predictions[run_id].codes[at], n_classes)
            for run_id, at in rows.items()
        },
        rows=rows,
        starts={run_id: predictions[run_id].starts for run_id in rows},
        lineage=lineages[0],
        places=places[lineages[0].root_id][kept],
        samples=SharedSamples(
            n_each=n_each,
            n_shared=len(kept),
            n_unlabelled=int(np.count_nonzero(~has_label)),
            n_relabelled=int(np.count_nonzero(has_label & ~agrees)),
            n_compared=int(np.count_nonzero(kept)),
        ),
    )


def have_one_label(
    labels: Sequence[Codes], *, n_classes: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which samples have a label in all truths, and which have the same label in all."""
    has_label = np.logical_and.reduce([is_labelled(codes, n_classes) for codes in labels])
    agrees = np.logical_and.reduce([~differ(codes, labels[0], n_classes) for codes in labels])
    return has_label, agrees


def sizes_of(session: Session, lineages: Sequence[TruthRecord]) -> tuple[GroupSizes, ...]:
    """The groups of each lineage; empty for a single lineage, or if groups are never hidden."""
    k = suppressed_below()
    if not k or len(lineages) < 2:
        return ()
    return tuple(sizes_in_truth(session, each, k) for each in lineages)


def rests_of(
    sizes: Sequence[GroupSizes],
    lineages: Sequence[TruthRecord],
    places: Mapping[int, Places],
    codes: Mapping[int, Codes],
    *,
    n_classes: int,
) -> tuple[GroupSizes, ...]:
    """The samples of each lineage that are not compared, in their groups, if `sizes` is not empty.

    Samples at `places` are compared if they have the same label everywhere.
    """
    if not sizes:
        return ()
    labels = [codes[each.id][places[each.root_id]] for each in lineages]
    compared = np.logical_and(*have_one_label(labels, n_classes=n_classes))
    return tuple(
        of_lineage.without(places[each.root_id][compared])
        for of_lineage, each in zip(sizes, lineages, strict=True)
    )


def rests_of_some(
    sizes: Sequence[GroupSizes],
    lineages: Sequence[TruthRecord],
    ids: Mapping[int, SampleIds],
    codes: Mapping[int, Codes],
    *,
    n_classes: int,
) -> Iterator[tuple[GroupSizes, list[int]]]:
    """The samples that only some of the lineages share, and the positions of these lineages.

    They are grouped by the lineages that have a sample with the same label: whatever else is left
    over from a comparison contains at least one of these groups. With two lineages there are none.
    """
    everywhere = 2 ** len(lineages) - 1
    for at, of_lineage in enumerate(sizes if len(lineages) > 2 else ()):
        sharing = _sharing(lineages[at], lineages, ids, codes, n_classes=n_classes)
        for each in np.unique(sharing[sharing != everywhere]):
            among = [place for place in range(len(lineages)) if each >> place & 1]
            if at in among and len(among) > 1:
                is_over = (sharing & each == each) & (sharing != everywhere)
                yield of_lineage.without(np.flatnonzero(~is_over)), among


def _sharing(
    lineage: TruthRecord,
    lineages: Sequence[TruthRecord],
    ids: Mapping[int, SampleIds],
    codes: Mapping[int, Codes],
    *,
    n_classes: int,
) -> NDArray[np.int64]:
    """For each sample of a lineage, a bit for each lineage that has it with the same label."""
    found = np.zeros(lineage.n_samples, np.int64)
    for place, other in enumerate(lineages):
        own, theirs = common_places([ids[lineage.root_id], ids[other.root_id]])
        labels = [codes[lineage.id][own], codes[other.id][theirs]]
        agrees = np.logical_and(*have_one_label(labels, n_classes=n_classes))
        found[own[agrees]] |= 1 << place
    return found


def _rows_in_order(positions: NDArray[np.integer[Any]], n_samples: int) -> Places:
    """Which prediction belongs to each sample of the truth; a run has one for every sample."""
    rows = np.empty(n_samples, np.int64)
    rows[positions] = np.arange(len(positions))
    return rows


def weights_of(session: Session, found: Aligned, run: ComparedRun) -> NDArray[np.float64]:
    """The weights of the aligned samples in a run, (n,)."""
    chunks = read_chunks(session, run.id, n_classes=len(run.labels))
    logged = [chunk.weight for chunk in chunks if chunk.weight is not None]
    return np.asarray(np.concatenate(logged)[found.rows[run.id]])
