"""Small groups of samples: too few to be judged, or suppressed because they identify people.

With `slices.suppress_below` = k no figure of a group of fewer than k labelled samples is shown
(k-anonymity, Sweeney 2002, Int. J. Uncertainty Fuzziness 10, 557), and none from which the figures
of such a group could be computed (complementary suppression, Cox 1980, JASA 75, 377):

* In one column, further groups are hidden, the smallest first, until at least two are hidden
  with at least k samples together. The same holds for the values that lie within one value of
  another column, such as sites within a country. If they leave fewer than k of its samples, these
  count as a hidden group.
* In crosses of columns, all groups are hidden if any of them is too small, or if one column has
  tags.

Hidden groups are counted but not named: that someone has a rare value already says something.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.slices import UNKNOWN, Slice
from offdiag.errors import Forbidden
from offdiag.inputs.partial_labels import is_labelled
from offdiag.inputs.slice_columns import SliceColumn, SliceColumns
from offdiag.settings import load_settings
from offdiag.store import logged_counts, slices, truths
from offdiag.store.database import Session
from offdiag.store.dataset_page import SliceFacts
from offdiag.store.runs import RunRecord
from offdiag.store.truths import TruthRecord

Counts = NDArray[np.int64]
SUPPRESSED = "suppressed"
"""Shown instead of a value or a figure that is hidden."""


class Family(NamedTuple):
    """Values of a column within one value of another `column`.

    That value has `n_others` further samples. Without a column these are all values.
    """

    levels: Sequence[str]
    n_others: int = 0
    column: str = ""
    value: str = ""


@dataclass(frozen=True, eq=False)
class GroupSizes:
    """Slice columns of n samples or kinds of samples; `labelled` (n,) is how many of each count.

    `k` is the size below which a group is suppressed, 0 for no suppression.
    """

    columns: SliceColumns
    labelled: Counts
    k: int

    def hidden(self, name: str) -> frozenset[str]:
        """Values of a column that are not shown, including values without labelled samples."""
        return frozenset(self._hidden[name])

    @cached_property
    def _hidden(self) -> Mapping[str, set[str]]:
        """The hidden values of each column: small ones, and those that would reveal them."""
        if not self.k:
            return {name: set() for name in self.columns}
        sizes = self._sizes
        found = {
            name: {level for level, size in of_levels.items() if size < self.k}
            for name, of_levels in sizes.items()
        }
        # Inner families first: what is hidden in them often protects the whole column as well.
        families = {
            name: [*self._inside_others(name), Family(tuple(of_levels))]
            for name, of_levels in sizes.items()
        }
        n_before = -1
        while sum(map(len, found.values())) > n_before:
            n_before = sum(map(len, found.values()))
            for name, hidden in found.items():
                for family in families[name]:
                    is_shown = family.value not in found.get(family.column, ())
                    n_others = family.n_others if is_shown else 0
                    _complete(hidden, family.levels, sizes[name], self.k, n_others=n_others)
            if not any(found.values()):
                break
            for group in self._equal_groups:
                if any(level in found[name] for name, level in group):
                    for name, level in group:
                        found[name].add(level)
        return found

    @cached_property
    def _sizes(self) -> Mapping[str, Mapping[str, int]]:
        """How many labelled samples each value of each column has."""
        return {
            name: {each: int(self.labelled[column.has(each)].sum()) for each in _values(column)}
            for name, column in self.columns.items()
        }

    @cached_property
    def _equal_groups(self) -> list[list[tuple[str, str]]]:
        """Values of different columns that have the same samples: hiding one hides all of them."""
        found: dict[bytes, list[tuple[str, str]]] = {}
        for name, column in self.columns.items():
            for level in _values(column):
                members = column.has(level) & (self.labelled > 0)
                found.setdefault(blake2b(members.tobytes()).digest(), []).append((name, level))
        return [group for group in found.values() if len(group) > 1]

    def is_hidden(self, part: Slice) -> bool:
        """Whether the figures of a slice are hidden."""
        if not self.k:
            return False
        known = [term for term in part.terms if term.name in self.columns]
        if any(term.value in self.hidden(term.name) for term in known):
            return True
        if len(known) < 2:
            return False
        if any(self.columns[term.name].of_tags for term in known):
            return True
        codes = [self._codes[term.name] for term in known]
        shape = [len(_values(self.columns[term.name])) + 1 for term in known]
        cells = np.bincount(np.ravel_multi_index(codes, shape), weights=self.labelled)
        return bool(((cells > 0) & (cells < self.k)).any())

    def without(self, positions: NDArray[np.int64]) -> GroupSizes:
        """The groups of the samples that are not at these positions."""
        rest = self.labelled.copy()
        rest[positions] = 0
        return replace(self, labelled=rest)

    def is_hidden_rest(self, part: Slice | None) -> bool:
        """Whether the samples that remain after others are shown are too few to show.

        With a slice, only the remaining samples in it count.

        A slice without any of them is not hidden, as it reveals nothing.
        """
        members = np.ones(len(self.labelled), np.bool_)
        known = () if part is None else part.terms
        for term in known:
            if term.name not in self.columns:
                return False
            members &= self.columns[term.name].has(term.value)
        size = int(self.labelled[members].sum())
        if part is None:
            return 0 < size < self.k
        return size > 0 and self.is_hidden(part)

    @cached_property
    def _codes(self) -> Mapping[str, NDArray[np.int64]]:
        """For each column, the place of each sample's value, counted from 1; 0 if it has none."""
        return {name: _codes_of(column) for name, column in self.columns.items()}

    def _inside_others(self, name: str) -> Iterator[Family]:
        """Values of a column that lie within one value of another column, for each such value.

        Tags, which overlap, are taken one by one as well.
        """
        column, sizes = self.columns[name], self._sizes[name]
        for other, outer in self.columns.items():
            if other == name:
                continue
            shape = len(outer.levels), len(column.levels)
            pairs = np.ravel_multi_index((outer.codes, column.codes), shape)
            cells = np.bincount(pairs, self.labelled, minlength=shape[0] * shape[1])
            by_level: NDArray[np.float64] = cells.reshape(shape).astype(np.float64)
            table = _by_value(outer, _by_value(column, by_level, axis=1), axis=0)
            outer_sizes = self._sizes[other].items()
            for (value, size), shared in zip(outer_sizes, table.tolist(), strict=True):
                found = [
                    each for each, n in zip(sizes, shared, strict=True) if n == sizes[each] > 0
                ]
                if not column.of_tags:
                    n_others = size - sum(sizes[each] for each in found)
                    yield Family(found, n_others, other, value)
                    continue
                yield Family(found)
                yield from (Family([each], size - sizes[each], other, value) for each in found)


def _by_value(
    column: SliceColumn, table: NDArray[np.float64], *, axis: int
) -> NDArray[np.float64]:
    """Sums over the levels of a column, one axis of a table, by the values of its slices."""
    place = {level: at for at, level in enumerate(column.levels)}
    if not column.of_tags:
        return table.take([place[each] for each in _values(column)], axis=axis)
    members = column.membership
    sums = members @ table if axis == 0 else np.inner(table, members)
    unknown = [place[UNKNOWN]] if UNKNOWN in place else []
    return np.concatenate([sums, table.take(unknown, axis=axis)], axis=axis)


def _codes_of(column: SliceColumn) -> NDArray[np.int64]:
    codes = np.zeros(len(column), np.int64)
    for place, value in enumerate(_values(column), start=1):
        codes[column.has(value)] = place
    return codes


def _values(column: SliceColumn) -> tuple[str, ...]:
    """The values that a slice can ask for, including the unknown one if it occurs."""
    return (*column.choices, *((UNKNOWN,) if UNKNOWN in column.levels else ()))


def _complete(
    hidden: set[str], family: Sequence[str], sizes: Mapping[str, int], k: int, *, n_others: int
) -> None:
    """Hide more values of a family until none that is hidden can be inferred.

    The sum of the family and `n_others` further samples is known.
    """
    shown = sorted(
        (each for each in family if each not in hidden and sizes[each]),
        key=lambda each: sizes[each],
    )
    parts = [sizes[each] for each in family if each in hidden and sizes[each]]
    if 0 < n_others < k:
        parts.append(n_others)
    while parts and shown and (len(parts) == 1 or sum(parts) < k):
        more = shown.pop(0)
        hidden.add(more)
        parts.append(sizes[more])


def suppressed_below() -> int:
    """The size below which groups are hidden, from the current settings; 0 for no suppression."""
    return load_settings().slices.suppress_below


def smallest_judged() -> int:
    """The number of labelled samples from which a group is judged, from the current settings."""
    return load_settings().slices.min_size


def sizes_in_truth(session: Session, truth: TruthRecord, k: int) -> GroupSizes:
    """The groups of samples of a ground truth by its slice columns."""
    codes = truths.truth_codes(session, truth.id)
    labelled = is_labelled(codes, len(truth.class_counts)).astype(np.int64)
    return GroupSizes(slices.slice_columns(session, truth.root_id), labelled, k)


def sizes_of_run(session: Session, run: RunRecord, k: int) -> GroupSizes | None:
    """The groups of a run on its newest labels; None for a run without slice columns."""
    if not run.has_predictions:
        counted = logged_counts.find_counted_samples(session, run.id)
        return None if counted is None else GroupSizes(counted.slices, counted.sizes, k)
    if run.truth_version_id is None:
        return None
    truth = truths.head_of(session, run.truth_version_id)
    return sizes_in_truth(session, truth, k)


def without_hidden(
    session: Session, dataset_id: int, columns: Sequence[SliceFacts]
) -> tuple[SliceFacts, ...]:
    """Slice columns of a dataset without the hidden values, which are only counted."""
    k = suppressed_below()
    if not k:
        return tuple(columns)
    hidden: dict[tuple[int, str], frozenset[str]] = {}
    for root in {column.root for column in columns}:
        first = truths.numbered_truth(session, dataset_id=dataset_id, number=root)
        if first is None:
            raise LookupError(root)
        sizes = sizes_in_truth(session, truths.head_of(session, first.id), k)
        hidden |= {(root, name): sizes.hidden(name) for name in sizes.columns}
    return tuple(
        replace(
            column,
            levels=tuple(each for each in column.levels if each not in of_column),
            n_suppressed=sum(each in of_column for each in column.levels),
        )
        for column in columns
        for of_column in (hidden[column.root, column.name],)
    )


def require_shown(session: Session, run: RunRecord, part: Slice) -> None:
    """Raise `Forbidden` if a slice is suppressed among the samples of a run."""
    k = suppressed_below()
    sizes = sizes_of_run(session, run, k) if k else None
    if sizes is not None and sizes.is_hidden(part):
        raise suppressed(part, k)


def suppressed(part: Slice, k: int) -> Forbidden:
    """The error for a slice that is hidden."""
    return Forbidden(
        f"{part} is suppressed: groups of fewer than {k} labelled examples, and those from which "
        "they could be computed, are hidden.",
        field="slice",
        hint="Ask for a larger group. The limit is the setting slices.suppress_below.",
    )


def not_by_slice() -> Forbidden:
    """The error for listing the samples of a slice.

    The lists of two slices would show who is in both, even if that group is small.
    """
    return Forbidden(
        "single examples are not listed by slice here: small groups are hidden, and lists of two "
        "slices would give every cross of them.",
        field="slice",
        hint="List all examples. The limit is the setting slices.suppress_below.",
    )
