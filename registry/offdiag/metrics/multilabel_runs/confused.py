"""Which labels are missed or added where another one is present, and which replace each other.

Krstinic et al. (2020, section 5) read sentences such as "sea is predicted as sky" from the
confusion matrix of labels. Shares of mass cannot distinguish them from chance, so each is tested
here on the examples themselves, one-sided, by Fisher's exact test:

* a label is *missed* where another one is present: among examples with the label;
* it is *added* where another one is present: among examples without it;
* it is *predicted as* another one: among examples with the first and without the second, missing
  the first and adding the second go together;
* and that happens *when* a third one is present: among the same examples.

Each of the first three kinds has a quarter of the error rate, with Holm's adjustment over all
pairs of labels. The last quarter is for the third labels of the replacements that were found,
again with Holm's adjustment. Finding a replacement says nothing about a third label that does
not matter, so the last tests hold their level too. In all, at most 5 of 100 runs whose errors do
not depend on other labels get any sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.number_text import p_value, percent
from offdiag.domain.sentences import name
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.paired.hypothesis_tests import holm
from offdiag.metrics.slices.gaps import lower_tail

SHARE = 0.25
"""Share of the error rate for each kind of sentence."""
SAMPLE_AXIS, LABEL_AXIS = 0, 1

Sets = NDArray[np.bool_]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


class Confusion(StrEnum):
    """What goes wrong with a label."""

    MISSED = "missed"
    ADDED = "added"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A two-by-two table: errors among examples that have a property, and among the others.

    `p_adjusted` accounts for all sentences of the kind and its share of the error rate.
    """

    errors_with: int
    n_with: int
    errors_without: int
    n_without: int
    p: float
    p_adjusted: float

    @property
    def rate_with(self) -> float:
        return self.errors_with / self.n_with

    @property
    def rate_without(self) -> float:
        return self.errors_without / self.n_without if self.n_without else 0.0


@dataclass(frozen=True, slots=True)
class ConfusedLabel:
    """A significant sentence about a label; `other` is present, or predicted in its place.

    `when` is a third label that makes a replacement more frequent, with evidence of its own.
    """

    kind: Confusion
    label: str
    other: str
    evidence: Evidence
    when: str | None = None
    evidence_when: Evidence | None = None


def confused_labels(
    actual: Sets, predicted: Sets, labels: LabelSet, *, confidence: float = 0.95
) -> tuple[ConfusedLabel, ...]:
    """All significant sentences of two (n, q) indicator arrays, the most certain first by kind.

    Replacements come first, then missed and added labels. Raises `InvalidInput` for a confidence
    outside (0, 1).
    """
    level = 1 - confidence_level(confidence)
    names, size = labels.names, (len(labels), len(labels))
    counts = _counted(actual, predicted)
    replaced = _significant(
        counts["missed", "added"],
        counts["missed", "absent"],
        counts["true", "added"],
        counts["true", "absent"],
        level,
    )
    found = [
        _with_third(each, actual, predicted, names, level, n_tested=len(replaced))
        for each in _sentences(Confusion.REPLACED, replaced, names)
    ]
    for kind, errors, members in (
        (Confusion.MISSED, "missed", "true"),
        (Confusion.ADDED, "added", "absent"),
    ):
        # A fact together with itself is that fact.
        n_errors, total = (
            np.broadcast_to(np.diagonal(counts[fact, fact])[:, np.newaxis], size)
            for fact in (errors, members)
        )
        both, present = counts[errors, "true"], counts[members, "true"]
        found += _sentences(kind, _significant(both, n_errors, present, total, level), names)
    return tuple(found)


_PAIRS = (
    *(("missed", "added"), ("missed", "absent"), ("true", "added"), ("true", "absent")),
    *(("missed", "missed"), ("added", "added"), ("true", "true"), ("absent", "absent")),
    *(("missed", "true"), ("added", "true"), ("absent", "true")),
)
BLOCK = 16_384
"""Samples processed together."""


def _counted(actual: Sets, predicted: Sets) -> dict[tuple[str, str], Counts]:
    """Examples with a fact of one label and a fact of another, (q, q) for each pair of facts."""
    size = actual.shape[LABEL_AXIS]
    found = {pair: np.zeros((size, size), np.int64) for pair in _PAIRS}
    for start in range(0, len(actual), BLOCK):
        true, guessed = (sets[start : start + BLOCK] for sets in (actual, predicted))
        # Whole numbers of so few samples are exact in four bytes.
        facts = {
            "true": true.astype(np.float32),
            "absent": (~true).astype(np.float32),
            "missed": (true & ~guessed).astype(np.float32),
            "added": (guessed & ~true).astype(np.float32),
        }
        for pair in _PAIRS:
            one, other = facts[pair[0]], facts[pair[1]]
            found[pair] += np.einsum("na,nb->ab", one, other, optimize=True).astype(np.int64)
    return found


Tables = dict[tuple[int, int], Evidence]
"""Evidence by the codes of two labels."""


def _significant(
    both: Counts, first: Counts, second: Counts, total: Counts, level: float
) -> Tables:
    """Pairs of different labels whose two facts occur together more often than by chance.

    Of `total` examples `first` have the error, `second` the property, `both` have both.
    """
    is_pair = ~np.eye(len(both), dtype=np.bool_) & (second > 0) & (first > 0) & (total > second)
    places = np.argwhere(is_pair)
    if not len(places):
        return {}
    cells = [table[is_pair] for table in (both, first, second, total)]
    p = upper_p(*cells)
    adjusted = np.minimum(holm(p) / SHARE, 1.0)
    return {
        (int(one), int(other)): _evidence([int(part[at]) for part in cells], p[at], adjusted[at])
        for at, (one, other) in enumerate(places.tolist())
        if adjusted[at] < level
    }


def _evidence(cells: Sequence[int], p: float, adjusted: float) -> Evidence:
    both, first, second, total = cells
    return Evidence(both, second, first - both, total - second, float(p), float(adjusted))


def upper_p(both: Counts, first: Counts, second: Counts, total: Counts) -> Floats:
    """P of an overlap of `both` or more between two random parts, Fisher's one-sided p."""
    is_many = both * total > first * second
    # As many of the first part are outside the second as are not in the overlap.
    x = np.where(is_many, first - both, both - 1)
    _, tail = lower_tail(x, first, np.where(is_many, total - second, second), total)
    return np.where(is_many, tail, 1 - tail)


def _sentences(kind: Confusion, tables: Tables, names: tuple[str, ...]) -> list[ConfusedLabel]:
    surest = sorted(tables.items(), key=lambda entry: entry[1].p)
    return [
        ConfusedLabel(kind, names[one], names[other], evidence)
        for (one, other), evidence in surest
    ]


def _with_third(
    found: ConfusedLabel,
    actual: Sets,
    predicted: Sets,
    names: tuple[str, ...],
    level: float,
    *,
    n_tested: int,
) -> ConfusedLabel:
    """The replacement with the most significant third label that goes with it, if any."""
    one, other = names.index(found.label), names.index(found.other)
    meant = actual[:, one] & ~actual[:, other]
    replaced = (~predicted[:, one] & predicted[:, other])[meant]
    third = actual[meant]
    total = np.full(len(names), len(third), np.int64)
    present = third.sum(axis=SAMPLE_AXIS, dtype=np.int64)
    both = third[replaced].sum(axis=SAMPLE_AXIS, dtype=np.int64)
    errors = np.full(len(names), int(np.count_nonzero(replaced)), np.int64)
    is_tested = (present > 0) & (present < total)
    is_tested[[one, other]] = False
    if not is_tested.any():
        return found
    cells = [each[is_tested] for each in (both, errors, present, total)]
    p = upper_p(*cells)
    adjusted = np.minimum(holm(p) * n_tested / SHARE, 1.0)
    at = int(p.argmin())
    if adjusted[at] >= level:
        return found
    evidence = _evidence([int(part[at]) for part in cells], p[at], adjusted[at])
    code = int(np.flatnonzero(is_tested)[at])
    return replace(found, when=names[code], evidence_when=evidence)


def sentence(found: ConfusedLabel) -> str:
    """What goes wrong: "sea is predicted as sky when sand is present"."""
    one, other = name(found.label), name(found.other)
    match found.kind:
        case Confusion.REPLACED:
            when = "" if found.when is None else f" when {name(found.when)} is present"
            return f"{one} is predicted as {other}{when}"
        case Confusion.MISSED:
            return f"{one} is missed more often when {other} is present"
        case Confusion.ADDED:
            return f"{one} is predicted by mistake when {other} is present"


def evidence_text(found: ConfusedLabel) -> str:
    """The counts behind a sentence, with the adjusted p of each."""
    one, other = name(found.label), name(found.other)
    match found.kind:
        case Confusion.REPLACED:
            said = (
                f"Among examples with {one} and without {other}, {one} is missed in "
                f"{_rates(found.evidence, f'where {other} is added', 'elsewhere')}."
            )
            if found.evidence_when is None or found.when is None:
                return said
            third = name(found.when)
            both = _rates(found.evidence_when, f"with {third}", "without")
            return f"{said} Both happen in {both}."
        case Confusion.MISSED:
            return f"{one} is missed in {_rates(found.evidence, f'with {other}', 'without')}."
        case Confusion.ADDED:
            return f"{one} is added in {_rates(found.evidence, f'with {other}', 'without')}."


def _rates(evidence: Evidence, here: str, there: str) -> str:
    """ "24 of 40 (60 %) with sand, 6 of 80 (8 %) without; p < 0.001"."""
    return (
        f"{evidence.errors_with:,} of {evidence.n_with:,} ({percent(evidence.rate_with)}) {here}, "
        f"{evidence.errors_without:,} of {evidence.n_without:,} "
        f"({percent(evidence.rate_without)}) {there} ({p_value(evidence.p_adjusted)})"
    )
