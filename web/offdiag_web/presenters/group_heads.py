"""Groups of classes as heads of a matrix, each a link that collapses or expands it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from offdiag.domain.hierarchy import ALL_GROUPS, Group
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_groups import Band, Grouping, bands
from offdiag_web.presenters.class_order import ClassHead, class_head
from offdiag_web.presenters.segments import Segment
from offdiag_web.urls.matrix import MatrixAddress

LARGEST_LIST = 60
"""Groups up to which a list of them stands beside a matrix without their heads."""


@dataclass(frozen=True, slots=True)
class GroupHead:
    """A group, and the address of the same view with it the other way round."""

    head: ClassHead
    url: str
    is_collapsed: bool
    size: str


@dataclass(frozen=True, slots=True)
class BandHead:
    """A group over `length` classes in a row, or nothing over them."""

    group: GroupHead | None
    length: int


@dataclass(frozen=True, slots=True)
class GroupControls:
    """Everything expanded or collapsed at once, and each group where its head is not shown.

    `words` says what is collapsed, None where nothing is.
    """

    segments: tuple[Segment, ...]
    groups: tuple[GroupHead, ...]
    words: str | None


def group_head(grouping: Grouping, group: Group, address: MatrixAddress) -> GroupHead:
    """A group as a link; the class in the middle of attention may be gone after it."""
    other = replace(address, collapse=grouping.toggled(group), focus=None)
    return GroupHead(
        class_head(group.name),
        other.url(),
        group in grouping.collapse.groups,
        numbers.plural(len(group.classes), "class", "classes"),
    )


def band_heads(
    grouping: Grouping, codes: Sequence[int], address: MatrixAddress
) -> tuple[tuple[BandHead, ...], ...]:
    """The groups around classes in their order, one line for each level, outermost first."""
    return tuple(
        tuple(_band_head(grouping, band, address) for band in level)
        for level in bands(grouping, codes)
    )


def bands_by_line(levels: Sequence[Sequence[BandHead]]) -> list[tuple[BandHead, ...]]:
    """For each class in its order the bands that begin with it, outermost first."""
    n_lines = sum(band.length for band in levels[0]) if levels else 0
    begins: list[list[BandHead]] = [[] for _ in range(n_lines)]
    for level in levels:
        at = 0
        for band in level:
            begins[at].append(band)
            at += band.length
    return [tuple(found) for found in begins]


def group_controls(
    grouping: Grouping, address: MatrixAddress, *, with_list: bool
) -> GroupControls:
    """The links above a matrix; `with_list` where heads of the table do not show all groups."""
    everything = replace(address, collapse=(), focus=None)
    outermost = replace(address, collapse=(ALL_GROUPS,), focus=None)
    collapsed = grouping.collapse.groups
    listed = grouping.visible if with_list else ()
    if set(listed) == set(collapsed):
        listed = ()  # Every one of them heads a row and a column.
    return GroupControls(
        segments=(
            Segment("all classes", everything.url(), not collapsed),
            Segment("all groups", outermost.url(), collapsed == grouping.hierarchy.groups),
        ),
        groups=tuple(group_head(grouping, group, address) for group in listed[:LARGEST_LIST]),
        words=grouping.collapse.words if collapsed else None,
    )


def _band_head(grouping: Grouping, band: Band, address: MatrixAddress) -> BandHead:
    if band.group is None:
        return BandHead(None, band.length)
    return BandHead(group_head(grouping, band.group, address), band.length)
