"""Runs without predictions whose samples were counted together, paired by their counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.slices import Slice
from offdiag.inputs.counted_samples import PairedSamples
from offdiag.inputs.labels import Codes
from offdiag.metrics.many_runs.paired_runs import PairedRuns, PairwiseRuns, RunsTogether
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts
from offdiag.services.comparisons.shared_samples import SharedSamples
from offdiag.services.evaluation.inputs import members_among
from offdiag.store import paired_counts
from offdiag.store.database import Session
from offdiag.store.slices import SliceChoices

Places = NDArray[np.int64]


@dataclass(frozen=True)
class CountedTogether:
    """What two or more runs predict for kinds of samples, in one table or one for each pair.

    `run_ids` are in the requested order; `tables` are keyed by the runs in them.
    """

    run_ids: tuple[str, ...]
    tables: Mapping[frozenset[str], PairedSamples]

    @property
    def samples(self) -> PairedSamples:
        """One table with the kinds of all samples and the predictions of all runs, or of two."""
        return next(iter(self.tables.values()))

    @property
    def choices(self) -> SliceChoices:
        """The columns and values by which the samples can be sliced."""
        columns = self.samples.slices
        return SliceChoices({name: each.choices for name, each in columns.items()}, columns)

    def among(self, part: Slice) -> CountedTogether:
        """The kinds in a slice. Raises `InvalidInput` for a column or a value that none has."""
        return replace(
            self, tables={runs: _part_of(table, part) for runs, table in self.tables.items()}
        )

    @property
    def n_samples(self) -> int:
        return int(self.samples.sizes.sum())

    def shared(self) -> SharedSamples:
        """States that all runs predicted the same examples, all of which have a label."""
        n = self.n_samples
        return SharedSamples((n,), n_shared=n, n_unlabelled=0, n_relabelled=0, n_compared=n)

    def joint(self, first: str, second: str, labels: LabelSet) -> JointCounts:
        """The joint counts of two of the runs."""
        table = self._with(first, second)
        return joint_counts(
            actual=table.actual,
            first=table.predicted[first],
            second=table.predicted[second],
            counts=table.sizes,
            labels=labels,
        )

    def together(self, labels: LabelSet) -> RunsTogether:
        """All runs together, for comparing several."""
        whole = self.tables.get(frozenset(self.run_ids))
        if whole is not None:
            predicted = tuple(whole.predicted[run] for run in self.run_ids)
            return PairedRuns(whole.actual, predicted, labels, whole.sizes)
        return PairwiseRuns(
            {
                (at, later): self.joint(self.run_ids[at], self.run_ids[later], labels)
                for at, later in combinations(range(len(self.run_ids)), 2)
            },
            labels,
        )

    def by_kind(self) -> CountedSides:
        """The runs of one table, with one place for each kind of samples and its size."""
        found = self.samples
        return CountedSides(found.actual, found.predicted, np.arange(len(found)), found.sizes)

    def _with(self, first: str, second: str) -> PairedSamples:
        return next(table for runs, table in self.tables.items() if {first, second} <= runs)


@dataclass(frozen=True)
class CountedSides:
    """Predictions by run like in `Aligned`, with each place standing for `sizes` samples."""

    actual: Codes
    predicted: Mapping[str, Codes]
    places: Places
    sizes: NDArray[np.int64]


def _part_of(samples: PairedSamples, part: Slice) -> PairedSamples:
    choices = SliceChoices({}, samples.slices)
    chosen = np.flatnonzero(members_among(choices, part, n_samples=len(samples)))
    return PairedSamples(
        samples.actual[chosen],
        {run: codes[chosen] for run, codes in samples.predicted.items()},
        samples.sizes[chosen],
        {name: column.take(chosen) for name, column in samples.slices.items()},
    )


def counted_together(session: Session, run_ids: Sequence[str]) -> CountedTogether | None:
    """The largest set of these runs that were counted together; None if fewer than two.

    A run is logged only once, together with others, so it is in no other tables.
    """
    known = paired_counts.paired_among(session, run_ids)
    groups = [
        frozenset().union(*(runs for runs in known.values() if run in runs)) for run in run_ids
    ]
    group = max(groups, key=len)
    if not group:
        return None
    tables = {runs: paired_id for paired_id, runs in known.items() if runs <= group}
    wanted = [group] if group in tables else list(tables)
    return CountedTogether(
        tuple(run for run in run_ids if run in group),
        {runs: paired_counts.read(session, tables[runs], sorted(runs)) for runs in wanted},
    )
