"""Classes on pages: their names, order and groups, and which of them are confused most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, zip_longest

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag.domain.hierarchy import ALL_GROUPS, Collapse, Group, Hierarchy, collapse_groups
from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix, clustered_order
from offdiag.metrics.counted import Counted, class_sizes
from offdiag.metrics.orientation import ACTUAL_AXIS
from offdiag_web.charts.marks import share_bar
from offdiag_web.components import numbers
from offdiag_web.components.numbers import shortened
from offdiag_web.urls.run import ClassOrder, cell_url


@dataclass(frozen=True)
class Grouping:
    """The groups of a dataset's classes, and which of them are collapsed.

    `collapse.labels` are the classes that a page shows: groups and single classes.
    """

    labels: LabelSet
    hierarchy: Hierarchy
    collapse: Collapse

    @classmethod
    def of(cls, labels: LabelSet, hierarchy: Hierarchy, names: Iterable[str]) -> Grouping:
        """Collapse the groups with these names; unknown names are ignored."""
        known = [name for name in names if name == ALL_GROUPS or name in hierarchy.by_name]
        return cls(labels, hierarchy, collapse_groups(labels, hierarchy, known))

    @property
    def collapsed(self) -> tuple[str, ...]:
        """Names of the collapsed groups for an address, as few as possible."""
        if self.collapse.groups == self.hierarchy.groups:
            return (ALL_GROUPS,)
        return tuple(group.name for group in self.collapse.groups)

    @cached_property
    def order(self) -> list[int]:
        """Codes of the displayed classes, group by group."""
        places = self.collapse.places
        return list(dict.fromkeys(places[code] for code in self.hierarchy.order(self.labels)))

    def around(self, code: int) -> tuple[Group, ...]:
        """The groups around a displayed class, outermost first; all of them are expanded."""
        return self.hierarchy.parents.get(self.collapse.labels.names[code], ())

    def group_at(self, code: int) -> Group | None:
        """The collapsed group that a displayed class stands for; None for a single class."""
        return self.hierarchy.by_name.get(self.collapse.labels.names[code])

    @cached_property
    def short_codes(self) -> list[str]:
        """For each displayed class its code in the label set, or "g" and its group's number."""
        groups = {name: f"g{number}" for number, name in enumerate(self.hierarchy.by_name)}
        return [
            groups.get(name) or str(self.labels.index[name]) for name in self.collapse.labels.names
        ]

    @property
    def visible(self) -> tuple[Group, ...]:
        """Every group that can be collapsed or expanded now, in order."""
        hidden = {
            inner
            for group in self.collapse.groups
            for inner, around in self.hierarchy.parents.items()
            if group in around
        }
        return tuple(group for name, group in self.hierarchy.by_name.items() if name not in hidden)

    def toggled(self, group: Group) -> tuple[str, ...]:
        """Names for an address with this group collapsed if it is expanded, and vice versa."""
        names = [each.name for each in self.collapse.groups]
        if group in self.collapse.groups:
            names.remove(group.name)
        else:
            names.append(group.name)
        return Grouping.of(self.labels, self.hierarchy, names).collapsed


def bands(grouping: Grouping, codes: Sequence[int]) -> list[list[tuple[Group | None, int]]]:
    """The groups around classes in order, one line for each level, outermost first.

    Each comes with the number of neighbouring classes that share it, or have none.
    """
    levels = zip_longest(*(grouping.around(code) for code in codes))
    return [[(group, len(list(same))) for group, same in groupby(level)] for level in levels]


LONGEST_HEAD = 22
"""Characters of a name that fit beside a table."""


@dataclass(frozen=True, slots=True)
class ClassHead:
    """The name of a class; `short` if the whole name would not fit."""

    name: str
    short: str


def class_head(name: str, *, longest: int = LONGEST_HEAD) -> ClassHead:
    return ClassHead(name, shortened(name, longest=longest))


def quoted_name(name: str) -> str:
    """A name in quotes for use in a sentence, where “2” must not be read as a number."""
    return f"“{shortened(name)}”"


LARGEST_CHOICE = 200


def listed_choices(names: Sequence[str], *, most: int = LARGEST_CHOICE) -> tuple[str, ...] | None:
    """Names to choose from a list; None if there are so many that one is better typed."""
    return tuple(sorted(names)) if len(names) <= most else None


def default_order(labels: LabelSet, grouping: Grouping | None = None) -> ClassOrder:
    """Group by group, otherwise large classes first unless the declared order has a meaning."""
    if grouping is not None:
        return "group"
    return "label" if labels.ordinal else "support"


def class_order(
    matrix: Counted, order: ClassOrder | None, grouping: Grouping | None = None
) -> list[int]:
    """Codes of all classes, or labels, in display order; equal supports keep the declared order.

    `grouping` refers to the classes of the matrix.
    """
    codes = list(range(matrix.n_classes))
    wanted = order or default_order(matrix.labels, grouping)
    if wanted == "group" and grouping is not None:
        return grouping.order
    if wanted == "group":
        wanted = default_order(matrix.labels)
    if wanted == "label":
        return codes
    if wanted == "cluster" and isinstance(matrix, ConfusionMatrix):
        return clustered_order(matrix.counts)
    supports = class_sizes(matrix)
    return sorted(codes, key=lambda code: -supports[code])


NO_LABEL = "no label"


def label_head(label: str | None) -> ClassHead:
    """The name of a class, or the words for a sample without labels."""
    return ClassHead(NO_LABEL, NO_LABEL) if label is None else class_head(label)


@dataclass(frozen=True, slots=True)
class Confusion:
    """One kind of error: the actual class, the class predicted instead, and how often.

    `url` leads to the examples if there are any to show.
    """

    actual: ClassHead
    predicted: ClassHead
    count: str
    reverse: str
    share: str
    bar: Markup
    url: str | None = None


def off_diagonal(matrix: ConfusionMatrix) -> NDArray[np.int64]:
    """A copy of the counts without the correct samples, (K, K)."""
    errors = matrix.counts.copy()
    np.fill_diagonal(errors, 0)
    return errors


def most_frequent(
    matrix: ConfusionMatrix,
    *,
    at_most: int,
    run_id: str | None = None,
    part: str | None = None,
) -> tuple[Confusion, ...]:
    """The largest error cells; equal ones in label order.

    With the id of a run that keeps predictions, each has the address of its examples, in the slice
    `part` if there is one.
    """
    errors = off_diagonal(matrix)
    actual_codes, predicted_codes = np.nonzero(errors)
    counts = errors[actual_codes, predicted_codes]
    largest = np.argsort(-counts, kind="stable")[:at_most]
    return tuple(
        _confusion(matrix, int(actual_codes[place]), int(predicted_codes[place]), run_id, part)
        for place in largest
    )


def _confusion(
    matrix: ConfusionMatrix, actual: int, predicted: int, run_id: str | None, part: str | None
) -> Confusion:
    count, support = int(matrix.counts[actual, predicted]), int(matrix.actual[actual])
    names = matrix.labels.names
    share = numbers.whole_percent(count, support)
    return Confusion(
        actual=class_head(names[actual]),
        predicted=class_head(names[predicted]),
        count=numbers.count(count),
        reverse=numbers.count(int(matrix.counts[predicted, actual])),
        share=share,
        bar=share_bar(count / support, name=f"{share} of the class", tone="error"),
        url=None if run_id is None else cell_url(run_id, names[actual], names[predicted], part),
    )


WINDOW_CLASSES = 12


def busiest_class(matrix: ConfusionMatrix) -> int:
    """Code of the actual class of the most frequent error; without errors, the largest class."""
    errors = off_diagonal(matrix)
    if not errors.any():
        return int(np.argmax(matrix.actual))
    return int(np.unravel_index(int(np.argmax(errors)), errors.shape)[ACTUAL_AXIS])


def window_around(matrix: ConfusionMatrix, focus: int) -> list[int]:
    """The class `focus` and those it is most often confused with, in either direction.

    If fewer classes are involved, the largest remaining ones fill the window.
    """
    errors = off_diagonal(matrix)
    missed, taken_for_it = errors[focus, :], errors[:, focus]
    confused = missed + taken_for_it
    supports: list[int] = matrix.actual.tolist()
    others = [code for code in range(matrix.n_classes) if code != focus]
    others.sort(key=lambda code: (-int(confused[code]), -supports[code], code))
    return [focus, *others[: WINDOW_CLASSES - 1]]
