"""Numbers that limit each other without being equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from offdiag.flags.audit.checks import Check, CheckKind
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.definitions import described
from offdiag.flags.audit.interval import Interval, harmonic_mean, rising_in_both
from offdiag.flags.audit.quantities import Quantities

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
        yield from _f1_below_claimed_mean(quantities, key, average)
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
    expected = quantities.in_quantity(key, None, Interval(0.0, limit))
    for claimed in quantities.claims_about(key, None):
        yield Check(
            CheckKind.BOUND,
            f"{average} F1 is at most the harmonic mean of {average} precision and {average} "
            f"recall",
            first[1] | second[1] | {claimed.place},
            holds=claimed.value.meets(expected),
            about=claimed.place,
            expected=claimed.in_own_terms(expected),
        )


def _f1_below_claimed_mean(quantities: Quantities, key: str, average: str) -> Iterator[Check]:
    harmonic = quantities.known(f"{key}_harmonic")
    if harmonic is None:
        return
    expected = quantities.in_quantity(key, None, Interval(0.0, harmonic[0].high))
    for claimed in quantities.claims_about(key, None):
        yield Check(
            CheckKind.BOUND,
            f"the mean of class F1 is at most the harmonic {average} F1",
            harmonic[1] | {claimed.place},
            holds=claimed.value.meets(expected),
            about=claimed.place,
            expected=claimed.in_own_terms(expected),
        )


def _kappa_within_mcc(quantities: Quantities) -> Iterator[Check]:
    """|kappa| <= |MCC| with the same sign.

    They share the numerator; the denominator of kappa is at least the arithmetic mean of the
    two spreads whose geometric mean is that of MCC.
    """
    mcc = quantities.known("mcc")
    if mcc is None:
        return
    expected = Interval(min(0.0, mcc[0].low), max(0.0, mcc[0].high))
    for claimed in quantities.claims_about("cohen_kappa", None):
        yield Check(
            CheckKind.BOUND,
            "Cohen's kappa lies between 0 and MCC",
            mcc[1] | {claimed.place},
            holds=claimed.value.meets(expected),
            about=claimed.place,
            expected=expected,
        )
