"""In which order classes are listed."""

from __future__ import annotations

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.addresses.matrix import ClassOrder


def default_order(labels: LabelSet) -> ClassOrder:
    """Large classes first, unless the declared order means something."""
    return "label" if labels.ordinal else "support"


def class_order(matrix: ConfusionMatrix, order: ClassOrder | None) -> list[int]:
    """Codes of all classes in display order; equal supports keep the declared order."""
    codes = list(range(matrix.n_classes))
    if (order or default_order(matrix.labels)) == "label":
        return codes
    supports: list[int] = matrix.actual.tolist()
    return sorted(codes, key=lambda code: -supports[code])
