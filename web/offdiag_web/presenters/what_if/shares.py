"""Fields for the share of each class at deployment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.edits import cost_text

MOST_SHARES = 30
"""Classes up to which each has a field for its share at deployment."""


@dataclass(frozen=True, slots=True)
class ShareField:
    """The share of a class at deployment; `tested` is that in the test set."""

    code: int
    label: str
    value: str
    tested: str


def share_fields(
    matrix: ConfusionMatrix, stated: Mapping[int, float], order: Sequence[int]
) -> tuple[ShareField, ...]:
    """A field for each class in an order, with what was stated; none for too many classes."""
    if matrix.n_classes > MOST_SHARES:
        return ()
    return tuple(
        ShareField(
            code,
            matrix.labels.names[code],
            cost_text(stated[code]) if code in stated else "",
            f"{int(matrix.actual[code]) / max(matrix.total, 1):.3g}",
        )
        for code in order
    )
