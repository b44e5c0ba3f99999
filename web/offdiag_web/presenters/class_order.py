"""Classes in lists and heads: their order and their names."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix, clustered_order
from offdiag_web.presenters.class_groups import Grouping
from offdiag_web.presenters.numbers import shortened
from offdiag_web.urls.matrix import ClassOrder

LONGEST_HEAD = 22
"""Characters of a name that fit beside a table."""


@dataclass(frozen=True, slots=True)
class ClassHead:
    """Name of a class; `short` where the whole would not fit."""

    name: str
    short: str


def class_head(name: str) -> ClassHead:
    """A name with its short form."""
    return ClassHead(name, shortened(name, longest=LONGEST_HEAD))


def quoted_name(name: str) -> str:
    """A name inside a sentence, where “2” must not be read as a number."""
    return f"“{shortened(name)}”"


def default_order(labels: LabelSet, grouping: Grouping | None = None) -> ClassOrder:
    """Group by group, else large classes first unless the declared order means something."""
    if grouping is not None:
        return "group"
    return "label" if labels.ordinal else "support"


def class_order(
    matrix: ConfusionMatrix, order: ClassOrder | None, grouping: Grouping | None = None
) -> list[int]:
    """Codes of all classes in display order; equal supports keep the declared order.

    `grouping` is about the classes of the matrix.
    """
    codes = list(range(matrix.n_classes))
    wanted = order or default_order(matrix.labels, grouping)
    if wanted == "group" and grouping is not None:
        return grouping.order
    if wanted == "group":
        wanted = default_order(matrix.labels)
    if wanted == "label":
        return codes
    if wanted == "cluster":
        return clustered_order(matrix.counts)
    supports: list[int] = matrix.actual.tolist()
    return sorted(codes, key=lambda code: -supports[code])
