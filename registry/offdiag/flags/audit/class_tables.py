"""More than two classes: each against the rest is a 2 x 2 table, and the tables must add up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from offdiag.flags.audit.checks import Check, CheckKind
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.feasible import Constraint, FeasibleTables
from offdiag.flags.audit.interval import ROUNDING, UNIT, Interval, mean_of
from offdiag.flags.audit.quantities import Quantities
from offdiag.flags.audit.reachable_sums import MOST_SUMS, is_reachable
from offdiag.flags.audit.table_search import feasible_tables
from offdiag.flags.audit.table_values import table_values

Intervals = Sequence[Interval | None]


@dataclass(frozen=True)
class _OneClass:
    """What the claims about a class leave of its hits and predictions.

    `places` are those claims. Without any, `tables` is not complete: everything is possible.
    """

    size: int
    tables: FeasibleTables
    places: frozenset[int]

    @property
    def hits(self) -> tuple[int, int]:
        """Fewest and most cases found."""
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
        """Every number of cases that may have been found."""
        if not self.tables.is_complete:
            return range(self.size + 1)
        runs = self.tables.runs
        return sorted({n for run in runs for n in range(run.fewest_hits, run.most_hits + 1)})

    def values(self, metric: str) -> Interval:
        """Values of a metric of the class; undefined ones count 0, as in the averages."""
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
    """Tests on the classes of known sizes; `correct` are the fewest and most correct cases."""
    sizes = quantities.facts.class_counts or ()
    classes = [_one_class(claims, intervals, sizes, code) for code in range(len(sizes))]
    for one in classes:
        if one.places:
            yield Check(
                CheckKind.COUNTS,
                f"the values of a class come from whole numbers of hits and predictions, here "
                f"of {one.size} cases in {sum(sizes)}",
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
    expected = Interval(low, high)
    for claimed in quantities.claims_about("overall_accuracy", None):
        yield Check(
            CheckKind.IDENTITY if high - low <= ROUNDING else CheckKind.COUNTS,
            "accuracy = hits of all classes / cases",
            of_classes | {claimed.place},
            holds=claimed.value.meets(expected),
            about=claimed.place,
            expected=claimed.in_own_terms(expected),
        )


def _means(classes: Sequence[_OneClass], quantities: Quantities) -> Iterator[Check]:
    """Averages of what the whole numbers leave for each class."""
    total, of_classes = sum(one.size for one in classes), _places(classes)
    weights = {"weighted": [one.size / total for one in classes]}
    if quantities.facts.every_class_occurs:
        weights["macro"] = [1 / len(classes)] * len(classes)
    for metric in ("precision", "recall", "f1", "jaccard"):
        parts = [one.values(metric) for one in classes]
        for average, shares in weights.items():
            key = f"{average}_{metric}"
            expected = quantities.in_quantity(key, None, mean_of(parts, shares))
            for claimed in quantities.claims_about(key, None):
                yield Check(
                    CheckKind.COUNTS,
                    f"{key} = {average} mean of the {metric} that whole numbers of cases leave "
                    f"for each class",
                    of_classes | {claimed.place},
                    holds=claimed.value.meets(expected),
                    about=claimed.place,
                    expected=claimed.in_own_terms(expected),
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
