"""Checks that published numbers can come from whole numbers of samples, for known class sizes.

Each class adds its hits to the accuracy and its hits over its size to macro recall. Few sums
of such fractions fall into a narrow interval, so eight printed decimals of macro recall can be
refuted by the class sizes alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor, lcm

import numpy as np
from numpy.typing import NDArray

from offdiag.audit.checks import Check, CheckKind, held_against
from offdiag.audit.feasible import Constraint, FeasibleTables, feasible_tables, table_values
from offdiag.audit.printed import ROUNDING, UNIT, Interval, mean_of
from offdiag.audit.quantities import Quantities
from offdiag.audit.reported_values import Claim

MOST_SUMS = 200_000
"""With more different sums than this, nothing is refuted."""
LARGEST_SUM = 2**62

Sums = NDArray[np.int64]


@lru_cache(maxsize=256)
def is_reachable(
    sizes: tuple[int, ...],
    hits: tuple[tuple[int, ...], ...],
    *,
    correct: tuple[int, int],
    macro_recall: Interval,
) -> bool | None:
    """Whether some hits give this many correct samples in all and this mean recall.

    `sizes` are the classes with samples and `hits` the possible hits of each; `correct` are the
    fewest and most correct samples. None if there are too many sums to try.
    """
    unit = lcm(*sizes)
    if unit * len(sizes) >= LARGEST_SUM:
        return None
    totals, recalls = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for size, possible in zip(sizes, hits, strict=True):
        if len(totals) * len(possible) > MOST_SUMS:
            return None
        own = np.array(possible, np.int64)
        totals, recalls = _distinct(
            (totals[:, np.newaxis] + own).ravel(),
            (recalls[:, np.newaxis] + own * (unit // size)).ravel(),
            most=correct[1],
        )
    mean = recalls / (unit * len(sizes))
    met = (totals >= correct[0]) & (mean >= macro_recall.low - ROUNDING)
    return bool((met & (mean <= macro_recall.high + ROUNDING)).any())


def _distinct(totals: Sums, recalls: Sums, *, most: int) -> tuple[Sums, Sums]:
    """The pairs that occur, each once, without those that already have too many hits."""
    kept = totals <= most
    pairs = np.unique(np.stack([totals[kept], recalls[kept]], axis=-1).view("i8,i8"))
    return pairs["f0"].copy(), pairs["f1"].copy()


Intervals = Sequence[Interval | None]


@dataclass(frozen=True)
class _OneClass:
    """The hits and predictions that the claims about a class leave possible.

    `places` are the positions of those claims. Without claims, `tables` is not complete:
    everything is possible.
    """

    size: int
    tables: FeasibleTables
    places: frozenset[int]

    @property
    def hits(self) -> tuple[int, int]:
        """Fewest and most samples found."""
        if not self.tables.is_complete:
            return 0, self.size
        hits, _ = self.tables.corners()
        return int(hits.min()), int(hits.max())

    @property
    def predictions(self) -> tuple[int, int]:
        """Fewest and most predictions of the class."""
        if not self.tables.is_complete:
            return 0, sum(self.tables.sizes)
        hits, alarms = self.tables.corners()
        return int((hits + alarms).min()), int((hits + alarms).max())

    def possible_hits(self) -> range | list[int]:
        """Every number of samples that may have been found."""
        if not self.tables.is_complete:
            return range(self.size + 1)
        runs = self.tables.runs
        return sorted({n for run in runs for n in range(run.fewest_hits, run.most_hits + 1)})

    def values(self, metric: str) -> Interval:
        """Values of a metric of the class; undefined ones count as 0, as in the averages."""
        if not self.tables.is_complete:
            return UNIT
        values = table_values(metric, 0, *self.tables.corners(), self.tables.sizes)
        defined = np.nan_to_num(values, nan=0.0)
        return Interval(float(defined.min()), float(defined.max()))


def class_tables(
    claims: Sequence[Claim],
    intervals: Intervals,
    quantities: Quantities,
    *,
    correct: tuple[int, int],
) -> Iterator[Check]:
    """Checks on the classes of known sizes; `correct` are the fewest and most correct samples."""
    sizes = quantities.facts.class_counts or ()
    classes = [_one_class(claims, intervals, sizes, code) for code in range(len(sizes))]
    for one in classes:
        if one.places:
            yield Check(
                CheckKind.COUNTS,
                f"the values of a class come from whole numbers of hits and predictions, here "
                f"of {one.size} examples in {sum(sizes)}",
                one.places,
                holds=not one.tables.is_impossible,
            )
    if any(one.tables.is_impossible for one in classes):
        return
    if any(one.places for one in classes):
        yield from _sums(classes, quantities)
        yield from _means(classes, quantities)
    if quantities.facts.every_class_occurs:
        yield from _accuracy_with_macro_recall(classes, quantities, correct)


def _one_class(
    claims: Sequence[Claim], intervals: Intervals, sizes: Sequence[int], code: int
) -> _OneClass:
    places = frozenset(place for place, claim in enumerate(claims) if claim.code == code)
    against_rest = (sizes[code], sum(sizes) - sizes[code])
    if not places:
        anything = FeasibleTables(against_rest, (), is_complete=False)
        return _OneClass(sizes[code], anything, places)
    constraints = tuple(Constraint(claims[p].key, 0, intervals[p]) for p in sorted(places))
    return _OneClass(sizes[code], feasible_tables(against_rest, constraints), places)


def _places(classes: Sequence[_OneClass]) -> frozenset[int]:
    return frozenset[int]().union(*(one.places for one in classes))


def _sums(classes: Sequence[_OneClass], quantities: Quantities) -> Iterator[Check]:
    total, of_classes = sum(one.size for one in classes), _places(classes)
    fewest, most = (sum(one.predictions[end] for one in classes) for end in (0, 1))
    yield Check(
        CheckKind.COUNTS,
        f"the predictions of all classes add up to {total}",
        of_classes,
        holds=fewest <= total <= most,
    )
    low, high = (sum(one.hits[end] for one in classes) / total for end in (0, 1))
    yield from held_against(
        quantities,
        ("overall_accuracy", None),
        Interval(low, high),
        of_classes,
        statement="accuracy = hits of all classes / examples",
        kind=CheckKind.IDENTITY if high - low <= ROUNDING else CheckKind.COUNTS,
    )


def _means(classes: Sequence[_OneClass], quantities: Quantities) -> Iterator[Check]:
    """Averages of the values that the whole numbers leave for each class."""
    total, of_classes = sum(one.size for one in classes), _places(classes)
    weights = {"weighted": [one.size / total for one in classes]}
    if quantities.facts.every_class_occurs:
        weights["macro"] = [1 / len(classes)] * len(classes)
    for metric in ("precision", "recall", "f1", "jaccard"):
        parts = [one.values(metric) for one in classes]
        for average, shares in weights.items():
            key = f"{average}_{metric}"
            yield from held_against(
                quantities,
                (key, None),
                mean_of(parts, shares),
                of_classes,
                statement=f"{key} = {average} mean of the {metric} that whole numbers of examples "
                "leave for each class",
                kind=CheckKind.COUNTS,
            )


def _accuracy_with_macro_recall(
    classes: Sequence[_OneClass], quantities: Quantities, correct: tuple[int, int]
) -> Iterator[Check]:
    recall, accuracy = quantities.known("macro_recall"), quantities.known("overall_accuracy")
    if recall is None or quantities.facts.is_balanced:
        return
    if any(one.hits[1] - one.hits[0] >= MOST_SUMS for one in classes):
        return
    reachable = is_reachable(
        tuple(one.size for one in classes),
        tuple(tuple(one.possible_hits()) for one in classes),
        correct=correct,
        macro_recall=recall[0],
    )
    if reachable is None:
        return
    of_accuracy = frozenset[int]() if accuracy is None else accuracy[1]
    yield Check(
        CheckKind.COUNTS,
        "accuracy and macro recall come from the same whole numbers of hits",
        recall[1] | of_accuracy | _places(classes),
        holds=reachable,
    )


def two_class_tables(
    claims: Sequence[Claim], intervals: Intervals, class_counts: Sequence[int]
) -> FeasibleTables:
    """All tables of two classes that fit every claim; class metrics must name their class."""
    first, second = class_counts
    constraints = tuple(
        Constraint(claim.key, claim.code, interval)
        for claim, interval in zip(claims, intervals, strict=True)
    )
    return feasible_tables((first, second), constraints)


def whole_numbers(
    claims: Sequence[Claim], intervals: Intervals, quantities: Quantities
) -> Iterator[Check]:
    """Every check that needs the class sizes; none without them."""
    sizes = quantities.facts.class_counts
    if sizes is None or sum(sizes) == 0:
        return
    yield from _majority_baseline(quantities, sizes)
    correct = _correct_samples(quantities, sum(sizes))
    if correct is not None:
        fewest, most, places = correct
        yield Check(
            CheckKind.COUNTS,
            f"accuracy is a whole number of {sum(sizes)} examples",
            places,
            holds=fewest <= most,
        )
        if fewest > most:
            return
        yield from _macro_recall_within_reach(quantities, sizes, (fewest, most), places)
    if len(sizes) == 2:
        tables = two_class_tables(claims, intervals, sizes)
        yield Check(
            CheckKind.COUNTS,
            f"all values come from one matrix of {sizes[0]} and {sizes[1]} examples",
            frozenset(range(len(claims))),
            holds=not tables.is_impossible,
        )
        return
    fewest, most = (0, sum(sizes)) if correct is None else correct[:2]
    yield from class_tables(claims, intervals, quantities, correct=(fewest, most))


def _majority_baseline(quantities: Quantities, sizes: Sequence[int]) -> Iterator[Check]:
    share = max(sizes) / sum(sizes)
    yield from held_against(
        quantities,
        ("majority_baseline", None),
        Interval(share, share),
        frozenset(),
        statement="majority baseline = share of the largest class",
        kind=CheckKind.IDENTITY,
    )


def _correct_samples(quantities: Quantities, total: int) -> tuple[int, int, frozenset[int]] | None:
    """Fewest and most correct samples that round to the accuracy; reversed if there are none."""
    accuracy = quantities.known("overall_accuracy")
    if accuracy is None:
        return None
    slack = ROUNDING * total
    share, places = accuracy
    return ceil(share.low * total - slack), floor(share.high * total + slack), places


def _macro_recall_within_reach(
    quantities: Quantities,
    sizes: Sequence[int],
    correct: tuple[int, int],
    places: frozenset[int],
) -> Iterator[Check]:
    rising = sorted(size for size in sizes if size > 0)
    found = held_against(
        quantities,
        ("macro_recall", None),
        Interval(
            _mean_recall_when_filled(correct[0], rising[::-1]),
            _mean_recall_when_filled(correct[1], rising),
        ),
        places,
        statement="macro recall is lowest if all errors fall on the smallest classes and highest "
        "if they fall on the largest",
    )
    yield from (check for check in found if check.about not in places)


def _mean_recall_when_filled(correct: int, sizes: Sequence[int]) -> float:
    """Mean recall if the classes are found one after the other in the given order."""
    recalls, left = 0.0, correct
    for size in sizes:
        hits = min(size, left)
        recalls += hits / size
        left -= hits
    return recalls / len(sizes)
