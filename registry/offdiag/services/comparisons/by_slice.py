"""Comparing two runs on the same samples, for every value of every slice column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.by_slice import SliceChanges, compare_parts
from offdiag.comparison.churn import Churn, Parts, churn_by_class, churn_by_label
from offdiag.comparison.pair import accuracy_key
from offdiag.domain.slices import Slice, SliceTerm
from offdiag.inputs.counted_samples import PairedSamples
from offdiag.inputs.slice_columns import SliceColumns
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel.sets import unpack_sets
from offdiag.services.comparisons.counted_together import CountedSides
from offdiag.services.comparisons.shared_samples import Aligned
from offdiag.services.evaluation.slices import MOST_GROUPS
from offdiag.services.small_groups import (
    GroupSizes,
    sizes_in_truth,
    smallest_judged,
    suppressed_below,
)
from offdiag.store import slices
from offdiag.store.database import Session
from offdiag.store.slices import SliceChoices
from offdiag.store.truths import TruthRecord


@dataclass(frozen=True, eq=False)
class ComparedColumns:
    """The slice columns of a label lineage, and which of their values are hidden.

    Groups smaller than `k` are hidden; 0 hides none.
    """

    columns: SliceColumns
    hidden: Mapping[str, frozenset[str]]
    min_size: int
    k: int

    @classmethod
    def of(cls, sizes: GroupSizes) -> ComparedColumns:
        hidden = {name: sizes.hidden(name) for name in sizes.columns}
        return cls(sizes.columns, hidden, smallest_judged(), sizes.k)

    @property
    def choices(self) -> SliceChoices:
        """The columns and values by which the samples can be sliced."""
        return SliceChoices({name: each.choices for name, each in self.columns.items()}, {})

    @cached_property
    def digest(self) -> str:
        """Changes with every value of a sample, with what is hidden, and with `min_size`."""
        content = sha256(repr((self.min_size, self.k, sorted(self.hidden.items()))).encode())
        for name, column in self.columns.items():
            content.update(repr((name, column.levels, column.of_tags)).encode())
            content.update(column.codes.tobytes())
        return content.hexdigest()

    def hidden_among(self, places: NDArray[np.int64]) -> Mapping[str, frozenset[str]]:
        """The values hidden in all samples or in those at `places`, which the runs share."""
        if not self.k:
            return self.hidden
        columns = {name: column.take(places) for name, column in self.columns.items()}
        sizes = GroupSizes(columns, np.ones(len(places), np.int64), self.k)
        return {name: self.hidden[name] | sizes.hidden(name) for name in columns}


def read_columns(session: Session, head: TruthRecord) -> ComparedColumns:
    """The columns by which runs on a label lineage can be compared."""
    k = suppressed_below()
    if k:
        return ComparedColumns.of(sizes_in_truth(session, head, k))
    columns = slices.slice_columns(session, head.root_id)
    return ComparedColumns.of(GroupSizes(columns, np.zeros(0, np.int64), k))


def counted_columns(samples: PairedSamples) -> ComparedColumns:
    """The columns of samples that were counted together."""
    return ComparedColumns.of(GroupSizes(samples.slices, samples.sizes, suppressed_below()))


def compare_by_slice(
    by: ComparedColumns,
    found: Aligned | CountedSides,
    run_ids: tuple[str, str],
    labels: Sequence[str],
    *,
    confidence: float = 0.95,
) -> SliceChanges | None:
    """The changes on all samples, their slices and classes; None without a column or a sample.

    Columns with more than `MOST_GROUPS` values are left out.
    """
    if not by.columns or not len(found.actual):
        return None
    count = _counter(found, run_ids, len(labels))
    hidden: Mapping[str, frozenset[str]] = by.hidden
    rests: tuple[GroupSizes, ...] = ()
    if isinstance(found, Aligned):
        hidden, rests = by.hidden_among(found.places), found.rests
    kept: dict[str, Churn] = {}
    classes: dict[tuple[str, str], Churn] = {}
    too_small, n_suppressed = {}, 0
    for name, column in by.columns.items():
        for value in column.choices if len(column.choices) <= MOST_GROUPS else ():
            part = Slice((SliceTerm(name, value),))
            text = str(part)
            if value in hidden[name] or any(rest.is_hidden_rest(part) for rest in rests):
                n_suppressed += 1
                continue
            members = column.has(value)[found.places]
            counts, of_classes = count(members)
            if counts.total < by.min_size:
                too_small[text] = counts.total
                continue
            kept[text] = counts
            classes |= {
                (text, label): each
                for label, each in zip(labels, of_classes, strict=True)
                if each.total >= by.min_size
            }
    return compare_parts(
        count(np.ones(len(found.actual), np.bool_))[0],
        kept,
        classes,
        too_small=too_small,
        n_suppressed=n_suppressed,
        min_size=by.min_size,
        confidence=confidence,
        key=accuracy_key(are_sets(found.actual)),
    )


Counter = Callable[[NDArray[np.bool_]], Parts]
"""Counts a part of the samples, as a whole and for each of its classes or labels."""


def _counter(found: Aligned | CountedSides, run_ids: tuple[str, str], n_classes: int) -> Counter:
    first, second = (found.predicted[run_id] for run_id in run_ids)
    if are_sets(found.actual):
        actual, before, after = (
            unpack_sets(each.astype(np.uint8, copy=False), n_classes)
            for each in (found.actual, first, second)
        )

        def count_sets(members: NDArray[np.bool_]) -> Parts:
            return churn_by_label(actual[members], before[members], after[members])

        return count_sets
    is_right = first == found.actual, second == found.actual

    def count(members: NDArray[np.bool_]) -> Parts:
        before, after = (each[members] for each in is_right)
        return churn_by_class(
            found.actual[members],
            before,
            after,
            n_classes=n_classes,
            sizes=found.sizes[members] if isinstance(found, CountedSides) else None,
        )

    return count
