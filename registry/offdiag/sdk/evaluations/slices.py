"""Slices of labels in memory that are worse than the rest, and group fairness as a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from offdiag.domain.look_alikes import warn_of
from offdiag.errors import Conflict
from offdiag.extras import optional
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.slices.counts import (
    CodedColumn,
    count_slices,
    outcomes_of_classes,
    random_halves,
)
from offdiag.metrics.slices.finder import SliceFindings, find_slices
from offdiag.metrics.slices.weighted import find_weighted_slices
from offdiag.metrics.weighted.counts import WeightedMatrix
from offdiag.records.runs.slices import (
    FAIRNESS_COLUMNS,
    SLICE_COLUMNS,
    Fairness,
    SliceGapBody,
    fairness_rows,
    slice_gap,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


HALVES = 2


def slices_of_labels(
    given: Any,
    actual: NDArray[Any],
    predicted: NDArray[Any],
    matrix: ConfusionMatrix | WeightedMatrix,
) -> SliceFindings:
    """Test the slices of n samples, whose columns are read as by `log_run`.

    Raises `InvalidInput` for unusable columns. Warns with `LabelNote` about values that may have
    been read differently than meant.
    """
    from offdiag.inputs.slice_columns import read_slices, slice_notes

    n = len(actual)
    read = read_slices(given, n_samples=n)
    warn_of(slice_notes(read))
    columns = [
        CodedColumn(name, each.choices, each.codes, each.membership)
        for name, each in sorted(read.items())
    ]
    half = random_halves(np.arange(n))
    if isinstance(matrix, WeightedMatrix):
        return find_weighted_slices(
            columns, actual, predicted, matrix.weight, half=half, matrix=matrix.weights
        )
    outcomes = outcomes_of_classes(
        actual, predicted, n_classes=matrix.n_classes, part=half, n_parts=HALVES
    )
    counts = count_slices(columns, outcomes, n_samples=n, n_parts=HALVES)
    return find_slices(counts, matrix.counts)


def frame_of_slices(
    found: SliceFindings | None, labels: tuple[str, ...], metric: str | None, limit: int
) -> pd.DataFrame:
    """One row for each gap, as in `Run.slices`. Raises `Conflict` without slices and
    `InvalidInput` for a metric that slices are not tested on.
    """
    if found is None:
        raise Conflict(
            "this evaluation has no slices.",
            field="slices",
            hint="Give evaluate_labels slices=; a logged run has run.slices().",
        )
    gaps = found.worst(limit, found.keys_named(metric))
    rows = [slice_gap(gap, labels) for gap in gaps]
    return slices_frame(rows, is_weighted=found.question.is_weighted)


def slices_frame(gaps: Sequence[SliceGapBody], *, is_weighted: bool) -> pd.DataFrame:
    """One row for each gap, as `Run.slices` describes; weighted ones with `n_effective`."""
    with optional:
        import pandas as pd

    rows = [[getattr(gap, name) for name in SLICE_COLUMNS] for gap in gaps]
    frame = pd.DataFrame(rows, columns=list(SLICE_COLUMNS))
    if is_weighted:
        place = SLICE_COLUMNS.index("cases") + 1
        frame.insert(place, "n_effective", [gap.n_effective for gap in gaps])
    return frame


def fairness_frame(found: Fairness) -> pd.DataFrame:
    """One row for each class and criterion, as in `Run.fairness`."""
    with optional:
        import pandas as pd

    frame = pd.DataFrame(list(fairness_rows(found)), columns=pd.Index(FAIRNESS_COLUMNS))
    frame = frame.set_index(["class", "criterion"])
    document = found.plain()
    frame.attrs |= {
        "groups": document["groups"],
        "rates": {
            each["class_label"]: {
                key: {name: value["value"] for name, value in by_group.items()}
                for key, by_group in each["rates"].items()
            }
            for each in document["classes"]
        },
        "conflicts": {
            each["class_label"]: each["conflict"]
            for each in document["classes"]
            if each["conflict"]
        },
        "too_small": document["too_small"],
        "n_suppressed": document["n_suppressed"],
        "n_without_value": document["n_without_value"],
    }
    return frame
