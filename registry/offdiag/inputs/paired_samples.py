"""Samples that were counted by the predictions of several runs together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.inputs.counted_samples import (
    CountedSamples,
    distinct_kinds,
    label_codes,
    merged_samples,
    slice_columns,
    whole_sizes,
)
from offdiag.inputs.labels import Codes, require_equal_lengths
from offdiag.inputs.slice_columns import SliceColumns


@dataclass(frozen=True, eq=False)
class PairedSamples:
    """`sizes[i]` samples have actual class `actual[i]`, the classes at i that each run predicts
    and the values at i of every slice column. Kinds are distinct, in order, and none is empty.
    """

    actual: Codes
    predicted: Mapping[str, Codes]
    sizes: NDArray[np.int64]
    slices: SliceColumns

    def __len__(self) -> int:
        """How many kinds of samples there are."""
        return len(self.sizes)

    def of_run(self, run: str) -> CountedSamples:
        """The samples by the predictions of one run alone."""
        return merged_samples(self.actual, self.predicted[run], self.sizes, self.slices)


def paired_samples(
    *,
    actual: Sequence[object],
    predicted: Mapping[str, Sequence[object]],
    sizes: Sequence[int],
    slices: Mapping[str, Sequence[object]],
    labels: LabelSet,
) -> PairedSamples:
    """Encode counts in lists of one length, one entry for each kind; `predicted` is by run.

    Kinds that are the same as text are added up. Raises `InvalidInput` as `counted_samples` does.
    """
    counts = whole_sizes(sizes)
    require_equal_lengths(
        sizes=len(counts),
        actual=len(actual),
        **{f"predicted[{run!r}]": len(values) for run, values in predicted.items()},
        **{f"slices[{name!r}]": len(values) for name, values in slices.items()},
    )
    known = label_codes(actual, labels, "actual")
    found = {
        run: label_codes(values, labels, f"predicted[{run!r}]")
        for run, values in sorted(predicted.items())
    }
    columns = slice_columns(slices)
    first, _, totals = distinct_kinds([known, *found.values()], counts, columns)
    return PairedSamples(
        known[first],
        {run: codes[first] for run, codes in found.items()},
        totals,
        {name: column.take(first) for name, column in sorted(columns.items())},
    )
