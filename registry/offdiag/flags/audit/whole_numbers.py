"""Numbers that whole numbers of cases must be able to give, for known class sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor

from offdiag.flags.audit.checks import Check, CheckKind
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.class_tables import Intervals, class_tables
from offdiag.flags.audit.feasible import Constraint, FeasibleTables
from offdiag.flags.audit.interval import ROUNDING, Interval
from offdiag.flags.audit.quantities import Quantities
from offdiag.flags.audit.table_search import feasible_tables


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
    """Every test that needs the class sizes; none without them."""
    sizes = quantities.facts.class_counts
    if sizes is None or sum(sizes) == 0:
        return
    yield from _majority_baseline(quantities, sizes)
    correct = _correct_cases(quantities, sum(sizes))
    if correct is not None:
        fewest, most, places = correct
        yield Check(
            CheckKind.COUNTS,
            f"accuracy is a whole number of {sum(sizes)} cases",
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
            f"all values come from one matrix of {sizes[0]} and {sizes[1]} cases",
            frozenset(range(len(claims))),
            holds=not tables.is_impossible,
        )
        return
    fewest, most = (0, sum(sizes)) if correct is None else correct[:2]
    yield from class_tables(claims, intervals, quantities, correct=(fewest, most))


def _majority_baseline(quantities: Quantities, sizes: Sequence[int]) -> Iterator[Check]:
    share = max(sizes) / sum(sizes)
    for claimed in quantities.claims_about("majority_baseline", None):
        yield Check(
            CheckKind.IDENTITY,
            "majority baseline = share of the largest class",
            frozenset({claimed.place}),
            holds=claimed.value.meets(Interval(share, share)),
            about=claimed.place,
            expected=Interval(share, share),
        )


def _correct_cases(quantities: Quantities, total: int) -> tuple[int, int, frozenset[int]] | None:
    """Fewest and most correct cases that round to the accuracy; crossed if there are none."""
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
    expected = _possible_macro_recall(correct, sizes)
    for claimed in quantities.claims_about("macro_recall", None):
        if claimed.place in places:
            continue
        yield Check(
            CheckKind.BOUND,
            "macro recall is lowest if all errors fall on the smallest classes and highest if "
            "they fall on the largest",
            places | {claimed.place},
            holds=claimed.value.meets(expected),
            about=claimed.place,
            expected=claimed.in_own_terms(expected),
        )


def _possible_macro_recall(correct: tuple[int, int], sizes: Sequence[int]) -> Interval:
    """Extremes of the mean recall for so many correct cases."""
    rising = sorted(size for size in sizes if size > 0)
    lowest = _mean_recall_when_filled(correct[0], rising[::-1])
    highest = _mean_recall_when_filled(correct[1], rising)
    return Interval(lowest, highest)


def _mean_recall_when_filled(correct: int, sizes: Sequence[int]) -> float:
    """Mean recall if the classes are found one after the other in the given order."""
    recalls, left = 0.0, correct
    for size in sizes:
        hits = min(size, left)
        recalls += hits / size
        left -= hits
    return recalls / len(sizes)
