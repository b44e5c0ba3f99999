"""The controls of a confusion matrix: links to other views of it, never to another matrix."""

from __future__ import annotations

from dataclasses import replace

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.presenters.class_groups import Grouping
from offdiag_web.presenters.class_order import default_order
from offdiag_web.presenters.segments import Segment
from offdiag_web.urls.matrix import ClassOrder, MatrixAddress, Norm

_NORM_TEXTS: tuple[tuple[Norm, str], ...] = (
    ("row", "% of actual"),
    ("col", "% of predicted"),
    ("all", "% of all"),
    ("none", "counts"),
)
_ORDER_TEXTS: tuple[tuple[ClassOrder, str], ...] = (
    ("support", "by support"),
    ("label", "by label"),
    ("cluster", "confused together"),
)
_BY_GROUP: tuple[ClassOrder, str] = ("group", "by group")


def norm_segments(address: MatrixAddress) -> tuple[Segment, ...]:
    """What the second number may be; `n` leads to the next one."""
    names = [norm for norm, _ in _NORM_TEXTS]
    following = names[(names.index(address.norm) + 1) % len(names)]
    return tuple(
        Segment(
            text,
            replace(address, norm=norm).url(),
            norm == address.norm,
            "n" if norm == following else None,
        )
        for norm, text in _NORM_TEXTS
    )


def order_segments(
    matrix: ConfusionMatrix, address: MatrixAddress, grouping: Grouping | None
) -> tuple[Segment, ...]:
    """How classes may be ordered; `o` leads to the next one."""
    default = default_order(matrix.labels, grouping)
    texts = _ORDER_TEXTS if grouping is None else (_BY_GROUP, *_ORDER_TEXTS)
    names = [order for order, _ in texts]
    current = address.order if address.order in names else default
    following = names[(names.index(current) + 1) % len(names)]
    return tuple(
        Segment(
            text,
            replace(address, order=None if order == default else order).url(),
            order == current,
            "o" if order == following else None,
        )
        for order, text in texts
    )


def transpose_segment(address: MatrixAddress) -> Segment:
    """The switch between the stored orientation and its transposed view."""
    other = replace(address, transposed=not address.transposed)
    return Segment("Transpose view", other.url(), address.transposed, "t")
