"""Checks on published numbers that are equal, follow from each other, or limit each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import sqrt
from typing import Any

from offdiag.audit.definitions import described
from offdiag.audit.printed import UNIT, Interval, harmonic_mean, mean_of, rising_in_both
from offdiag.audit.quantities import Quantities, Quantity
from offdiag.audit.reported_values import Claim


class CheckKind(StrEnum):
    """The kind of knowledge that decides a check."""

    IDENTITY = "identity"
    """Two ways to the same value."""
    BOUND = "bound"
    """One value limits another, or a metric has a range."""
    COUNTS = "counts"
    """Whole numbers of samples must give the values."""
    REPEAT = "repeat"
    """One value was printed more than once, such as 55/60 and 91.7 %."""


@dataclass(frozen=True, slots=True)
class Check:
    """A statement that must hold for the claims at these positions in the list of claims.

    `about` is the position of the claim that is compared with `expected`, the values that the
    other claims leave for it; both are None if the statement is about all of them at once.
    """

    kind: CheckKind
    statement: str
    places: frozenset[int]
    holds: bool
    about: int | None = None
    expected: Interval | None = None

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """JSON form; `names` are those of the claims, by position."""
        return {
            "kind": self.kind.value,
            "statement": self.statement,
            "numbers": [names[place] for place in sorted(self.places)],
            "holds": self.holds,
            "about": None if self.about is None else names[self.about],
            "expected": None if self.expected is None else self.expected.to_list(),
        }


@dataclass(frozen=True, slots=True)
class _Formula:
    """A metric computed from two others by a function that falls in neither argument."""

    target: str
    first: str
    second: str
    function: Callable[[float, float], float]
    statement: str


_AGGREGATE_FORMULAS = (
    _Formula(
        "macro_f1_harmonic",
        "macro_precision",
        "macro_recall",
        harmonic_mean,
        "harmonic macro F1 = 2 P R / (P + R) of macro precision and macro recall",
    ),
    _Formula(
        "weighted_f1_harmonic",
        "weighted_precision",
        "overall_accuracy",
        harmonic_mean,
        "harmonic weighted F1 = 2 P R / (P + R) of weighted precision and weighted recall",
    ),
)


def _formulas(
    first: str, second: str, *computed: tuple[str, Callable[[float, float], float], str]
) -> tuple[_Formula, ...]:
    """Metrics computed from the same two others: each with its function and statement."""
    return tuple(_Formula(key, first, second, how, statement) for key, how, statement in computed)


_CLASS_FORMULAS = (
    *_formulas(
        "precision",
        "recall",
        ("f1", harmonic_mean, "F1 = 2 P R / (P + R)"),
        ("f2", lambda p, r: _f_beta(p, r, 4), "F2 = 5 P R / (4 P + R)"),
        ("f0_5", lambda p, r: _f_beta(p, r, 0.25), "F0.5 = 1.25 P R / (0.25 P + R)"),
        ("fowlkes_mallows", lambda p, r: sqrt(p * r), "Fowlkes-Mallows = sqrt(precision recall)"),
    ),
    *_formulas(
        "recall",
        "specificity",
        ("informedness", lambda r, s: r + s - 1, "informedness = recall + specificity - 1"),
        (
            "balanced_accuracy_ovr",
            lambda r, s: (r + s) / 2,
            "balanced accuracy = (recall + specificity) / 2",
        ),
        ("gmean", lambda r, s: sqrt(r * s), "G-mean = sqrt(recall specificity)"),
    ),
    *_formulas(
        "precision",
        "npv",
        ("markedness", lambda p, n: p + n - 1, "markedness = precision + NPV - 1"),
    ),
)
_TWO_CLASS_FORMULAS = (
    _Formula(
        "macro_recall",
        "recall",
        "specificity",
        lambda r, s: (r + s) / 2,
        "macro recall of two classes = (recall + specificity) / 2",
    ),
    _Formula(
        "macro_precision",
        "precision",
        "npv",
        lambda p, n: (p + n) / 2,
        "macro precision of two classes = (precision + NPV) / 2",
    ),
)
_PRINTED_TWICE = "it is printed twice"
_SEEN_FROM_BOTH = "a rate of one of two classes is one of the other class, too"


def identities(quantities: Quantities) -> Iterator[Check]:
    """Every identity that can be tested on these claims."""
    facts = quantities.facts
    yield from _same_quantity(quantities)
    for formula in _AGGREGATE_FORMULAS:
        yield from _computed(quantities, formula, None, None)
    for code in _classes(quantities):
        for formula in _CLASS_FORMULAS:
            yield from _computed(quantities, formula, code, code)
    if facts.n_classes == 2:
        for formula in _TWO_CLASS_FORMULAS:
            yield from _computed(quantities, formula, None, 0)
    if facts.n_classes is not None and facts.every_class_occurs:
        for metric in ("precision", "recall", "f1"):
            yield from _mean_of_classes(quantities, facts.n_classes, metric)


def _classes(quantities: Quantities) -> list[int]:
    """Classes about which there are claims; with two classes both, as they share their rates."""
    if quantities.facts.n_classes == 2:
        return [0, 1]
    return sorted({code for _, code in quantities.reported if code is not None})


def _same_quantity(quantities: Quantities) -> Iterator[Check]:
    """Claims about one quantity must agree, pair by pair."""
    for parts in quantities.reported.values():
        for one, other in combinations(parts, 2):
            synonyms = [part.synonym for part in (one, other) if part.synonym is not None]
            statements = dict.fromkeys(synonym.statement for synonym in synonyms)
            is_repeat = one.metric == other.metric
            yield Check(
                CheckKind.REPEAT if is_repeat else CheckKind.IDENTITY,
                _PRINTED_TWICE if is_repeat else "; ".join(statements) or _SEEN_FROM_BOTH,
                frozenset({one.place, other.place}),
                holds=one.value.meets(other.value),
                about=one.place,
                expected=one.in_own_terms(other.value),
            )


def _computed(
    quantities: Quantities, formula: _Formula, target_code: int | None, code: int | None
) -> Iterator[Check]:
    first = quantities.known(formula.first, code)
    second = quantities.known(formula.second, code)
    if first is None or second is None:
        return
    yield from held_against(
        quantities,
        (formula.target, target_code),
        rising_in_both(formula.function, first[0], second[0]),
        first[1] | second[1],
        statement=formula.statement,
        kind=CheckKind.IDENTITY,
    )


def _mean_of_classes(quantities: Quantities, size: int, metric: str) -> Iterator[Check]:
    """A macro average is the mean of the class values; unknown ones may be anything."""
    known = [
        quantities.known(metric, code) or _f1_of_both_sides(quantities, metric, code)
        for code in range(size)
    ]
    places = frozenset[int]().union(*(part[1] for part in known if part is not None))
    if not places:
        return
    parts = [UNIT if part is None else part[0] for part in known]
    is_complete = all(part is not None for part in known)
    yield from held_against(
        quantities,
        (f"macro_{metric}", None),
        mean_of(parts, [1 / size] * size),
        places,
        statement=f"macro {metric} = mean of the {metric} of the {size} classes",
        kind=CheckKind.IDENTITY if is_complete else CheckKind.BOUND,
    )


def _f1_of_both_sides(
    quantities: Quantities, metric: str, code: int
) -> tuple[Interval, frozenset[int]] | None:
    """The F1 that precision and recall of a class leave for it, with their positions."""
    first, second = quantities.known("precision", code), quantities.known("recall", code)
    if metric != "f1" or first is None or second is None:
        return None
    return rising_in_both(harmonic_mean, first[0], second[0]), first[1] | second[1]


def held_against(
    quantities: Quantities,
    metric: Quantity,
    allowed: Interval,
    places: frozenset[int],
    *,
    statement: str,
    kind: CheckKind = CheckKind.BOUND,
) -> Iterator[Check]:
    """Compare every claim about a metric with the values that other claims leave for it."""
    expected = quantities.in_quantity(*metric, allowed)
    for claimed in quantities.claims_about(*metric):
        yield Check(
            kind,
            statement,
            places | {claimed.place},
            holds=claimed.value.meets(expected),
            about=claimed.place,
            expected=claimed.in_own_terms(expected),
        )


def _f_beta(precision: float, recall: float, beta_squared: float) -> float:
    below = beta_squared * precision + recall
    return (1 + beta_squared) * precision * recall / below if below > 0 else 0.0


_MEAN_OF_F1 = (
    ("macro_f1", "macro_precision", "macro_recall", "macro"),
    ("weighted_f1", "weighted_precision", "overall_accuracy", "weighted"),
)


def ranges(claims: Sequence[Claim], intervals: Sequence[Interval | None]) -> Iterator[Check]:
    """Every metric lies in its range."""
    for place, (claim, interval) in enumerate(zip(claims, intervals, strict=True)):
        if interval is None:
            continue
        spec = described(claim.key)
        allowed = Interval(spec.low, spec.high)
        hint = "; a percentage needs its sign" if 1 < interval.low <= 100 else ""
        yield Check(
            CheckKind.BOUND,
            f"{claim.key} lies between {spec.low:g} and {spec.high:g}{hint}",
            frozenset({place}),
            holds=interval.meets(allowed),
            about=place,
            expected=allowed,
        )


def bounds(quantities: Quantities) -> Iterator[Check]:
    """Every inequality between metrics that can be tested on these claims."""
    for key, precision, recall, average in _MEAN_OF_F1:
        yield from _f1_below_harmonic_mean(quantities, key, precision, recall, average)
        yield from _f1_above_both_sides(quantities, key, precision, recall, average)
        yield from _f1_below_one_side(quantities, (key, None), precision, recall)
        yield from _f1_below_claimed_mean(quantities, key, average)
    for key, code in quantities.reported:
        if key == "f1":
            yield from _f1_below_one_side(quantities, (key, code), "precision", "recall")
    yield from _kappa_within_mcc(quantities)


def _f1_below_harmonic_mean(
    quantities: Quantities, key: str, precision: str, recall: str, average: str
) -> Iterator[Check]:
    """The harmonic mean is concave, so the mean of F1 cannot exceed the F1 of the means.

    Opitz and Burst 2019, "Macro F1 and Macro F1", for equal weights; the argument holds for
    any.
    """
    first, second = quantities.known(precision), quantities.known(recall)
    if first is None or second is None:
        return
    limit = rising_in_both(harmonic_mean, first[0], second[0]).high
    yield from held_against(
        quantities,
        (key, None),
        Interval(0.0, limit),
        first[1] | second[1],
        statement=f"{average} F1 is at most the harmonic mean of {average} precision and "
        f"{average} recall",
    )


def _f1_above_both_sides(
    quantities: Quantities, key: str, precision: str, recall: str, average: str
) -> Iterator[Check]:
    """F1 is at least precision + recall - 1, which is linear, so the same holds for means.

    Yielded only if that fails, as in `_f1_below_one_side`.
    """
    first, second = quantities.known(precision), quantities.known(recall)
    if first is None or second is None:
        return
    checks = held_against(
        quantities,
        (key, None),
        Interval(max(0.0, first[0].low + second[0].low - 1), 1.0),
        first[1] | second[1],
        statement=f"{average} F1 is at least {average} precision + {average} recall - 1",
    )
    yield from (check for check in checks if not check.holds)


def _f1_below_one_side(
    quantities: Quantities, f1: Quantity, precision: str, recall: str
) -> Iterator[Check]:
    """F1 is at most 2x/(1 + x) of precision or recall x, and so are means, as that is concave.

    Yielded only if that fails: nearly every number satisfies it, so it would support anything.
    """
    sides = {key: quantities.known(key, f1[1]) for key in (precision, recall)}
    known = [(key, *found) for key, found in sides.items() if found is not None]
    if len(known) == 1:
        ((key, value, places),) = known
        limit = harmonic_mean(value.high, 1.0)
        checks = held_against(
            quantities,
            f1,
            Interval(0.0, limit),
            places,
            statement=f"{f1[0]} is at most 2x / (1 + x), x being {key}",
        )
        yield from (check for check in checks if not check.holds)


def _f1_below_claimed_mean(quantities: Quantities, key: str, average: str) -> Iterator[Check]:
    harmonic = quantities.known(f"{key}_harmonic")
    if harmonic is None:
        return
    yield from held_against(
        quantities,
        (key, None),
        Interval(0.0, harmonic[0].high),
        harmonic[1],
        statement=f"the mean of class F1 is at most the harmonic {average} F1",
    )


def _kappa_within_mcc(quantities: Quantities) -> Iterator[Check]:
    """|kappa| <= |MCC| with the same sign.

    They share the numerator; the denominator of kappa is at least the arithmetic mean of the
    two spreads whose geometric mean is that of MCC.
    """
    mcc = quantities.known("mcc")
    if mcc is None:
        return
    yield from held_against(
        quantities,
        ("cohen_kappa", None),
        Interval(min(0.0, mcc[0].low), max(0.0, mcc[0].high)),
        mcc[1],
        statement="Cohen's kappa lies between 0 and MCC",
    )
