"""Published numbers compared with the values of their matrix, read in either orientation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.audit.definitions import Definition, alternatives
from offdiag.audit.explanations import counted_note, counted_value
from offdiag.audit.findings import AuditVerdict, Finding, MatrixReading, Orientation
from offdiag.audit.printed import Rounding
from offdiag.audit.reported_values import CLASS_KEYS, Claim, Facts
from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.extras import optional
from offdiag.metrics.orientation import swap_axes, verify_orientation
from offdiag.metrics.suite import Suite, evaluate_stack


@dataclass(frozen=True)
class MatrixValues:
    """The suite of a matrix (K, K) with actual classes along the first axis."""

    counts: NDArray[np.int64]

    @cached_property
    def _suite(self) -> Suite:
        # Weighted kappas follow the order of the labels; there is no other order to try.
        return evaluate_stack(self.counts, ordinal=True)

    def value(self, key: str, code: int | None) -> float | None:
        """A metric of the matrix or of one class; None if it is undefined."""
        if key in CLASS_KEYS and code is not None:
            return self._suite.per_class[key].at(code).value
        return self._suite.aggregate[key].at().value

    def rounding(self, claim: Claim) -> Rounding | None:
        """How the value of the claimed metric came to be printed this way; None if it cannot."""
        return claim.printed.rounding_of(self.value(claim.key, claim.code))

    def counted_as(self, claim: Claim) -> int | None:
        """The 0 or 1 that was printed for an undefined value, as libraries do; else None."""
        is_defined = self.value(claim.key, claim.code) is not None
        return None if is_defined else counted_value(claim.printed)

    def explains(self, claim: Claim) -> bool:
        """Whether the number was computed from this matrix, with or without 0/0 as a number."""
        return self.rounding(claim) is not None or self.counted_as(claim) is not None


@dataclass(frozen=True)
class BothWays:
    """A printed matrix in its assumed orientation, and with its axes exchanged.

    `by_counts` is what the class counts of the data say about the orientation.
    """

    taken: MatrixValues
    exchanged: MatrixValues
    orientation: Orientation
    by_counts: OrientationVerdict


def both_ways(counts: NDArray[np.int64], class_counts: Sequence[int] | None) -> BothWays:
    """Read rows as actual classes unless only the columns match the class counts."""
    evidence = verify_orientation(
        counts, source=SourceOrientation.ACTUAL_ROWS, class_counts=class_counts
    )
    rows, columns = MatrixValues(counts), MatrixValues(swap_axes(counts))
    if evidence.verdict is OrientationVerdict.TRANSPOSED:
        return BothWays(columns, rows, Orientation.ACTUAL_COLUMNS, evidence.verdict)
    return BothWays(rows, columns, Orientation.ACTUAL_ROWS, evidence.verdict)


_AXIS = {Orientation.ACTUAL_ROWS: "rows", Orientation.ACTUAL_COLUMNS: "columns"}
_OTHER = {
    Orientation.ACTUAL_ROWS: Orientation.ACTUAL_COLUMNS,
    Orientation.ACTUAL_COLUMNS: Orientation.ACTUAL_ROWS,
}


def _orientation(claims: Sequence[Claim], both: BothWays) -> tuple[Orientation | None, str, str]:
    """Decide by the class counts, otherwise by the numbers that fit one way only."""
    if both.by_counts is OrientationVerdict.INCONSISTENT:
        return None, "contradiction", "neither margin of the matrix has the class counts"
    taken_only = _fitting_only(claims, both, exchanged=False)
    exchanged_only = _fitting_only(claims, both, exchanged=True)
    taken, exchanged = _AXIS[both.orientation], _AXIS[_OTHER[both.orientation]]
    if taken_only and exchanged_only:
        why = (
            f"{', '.join(taken_only)} need actual classes along the {taken} of the matrix, "
            f"{', '.join(exchanged_only)} along its {exchanged}"
        )
        return None, "contradiction", why
    if both.by_counts in {OrientationVerdict.CANONICAL, OrientationVerdict.TRANSPOSED}:
        return both.orientation, "class_counts", f"the class counts are the sums of the {taken}"
    if exchanged_only:
        return (
            _OTHER[both.orientation],
            "numbers",
            _fitting_only_along(exchanged_only, exchanged),
        )
    if taken_only:
        return (
            both.orientation,
            "numbers",
            _fitting_only_along(taken_only, taken),
        )
    return None, "nothing", "the numbers are the same in both orientations"


def _fitting_only_along(names: Sequence[str], axis: str) -> str:
    verb = "fits" if len(names) == 1 else "fit"
    return f"{', '.join(names)} {verb} only with actual classes along the {axis}"


def _fitting_only(claims: Sequence[Claim], both: BothWays, *, exchanged: bool) -> list[str]:
    """Names of the numbers that fit one way and not the other, each once."""
    one, other = both.taken, both.exchanged
    if exchanged:
        one, other = other, one
    names = (claim.name for claim in claims if one.explains(claim) and not other.explains(claim))
    return list(dict.fromkeys(names))


COARSEST_UNIT = 0.001
"""Coarser numbers are no evidence that the value of another class was printed."""
_NOT_NEAREST = {
    Rounding.CUT_OFF: ", cut off instead of rounded",
    Rounding.PADDED: ", with zeros added after the last digit computed",
}


@dataclass(frozen=True)
class Comparison:
    """Findings in the order of the claims, and how the matrix is to be read."""

    findings: tuple[Finding, ...]
    matrix: MatrixReading


def compared(claims: Sequence[Claim], counts: NDArray[np.int64], facts: Facts) -> Comparison:
    """Compare claims whose classes are all named with a matrix (K, K) as it was printed.

    The matrix is read with actual classes along its rows, unless only its columns match the
    class counts. A number that fits only the other way round is transposed.
    """
    both = both_ways(counts, facts.class_counts)
    order = _class_order(claims, both.taken, len(counts))
    findings = tuple(_finding(claim, both, facts, order) for claim in claims)
    names = None
    if order is not None and facts.labels is not None:
        names = tuple(facts.labels.names[code] for code in order)
    return Comparison(findings, MatrixReading(*_orientation(claims, both), names))


def _finding(claim: Claim, both: BothWays, facts: Facts, order: Sequence[int] | None) -> Finding:
    exact = both.taken.value(claim.key, claim.code)
    own = Definition(claim.key, claim.code)
    rounding = both.taken.rounding(claim)
    if rounding is not None:
        why = f"the matrix gives {_text(exact)}{_NOT_NEAREST.get(rounding, '')}"
        return Finding(claim, AuditVerdict.CONSISTENT, why, own, exact, rounding=rounding)
    counted = both.taken.counted_as(claim)
    if counted is not None:
        definition = Definition(claim.key, claim.code, counted_note(counted))
        why = f"the matrix gives {_text(exact)}, so this is {definition.name(facts.labels)}"
        return Finding(claim, AuditVerdict.OTHER_DEFINITION, why, definition)
    rounding = both.exchanged.rounding(claim)
    if rounding is not None:
        swapped = both.exchanged.value(claim.key, claim.code)
        why = f"the matrix gives {_text(exact)}, and {_text(swapped)} with its axes exchanged"
        return Finding(claim, AuditVerdict.TRANSPOSED, why, own, exact, rounding=rounding)
    for definition, value in _other_definitions(claim, both.taken, facts, order):
        rounding = claim.printed.rounding_of(value)
        if rounding is not None:
            name = definition.name(facts.labels)
            why = f"the matrix gives {_text(exact)}; {_text(value)} is its {name}"
            return Finding(
                claim, AuditVerdict.OTHER_DEFINITION, why, definition, exact, rounding=rounding
            )
    why = f"the matrix gives {_text(exact)}, in no orientation or definition {claim.printed.text}"
    return Finding(claim, AuditVerdict.IMPOSSIBLE, why, own, exact)


def _other_definitions(
    claim: Claim, values: MatrixValues, facts: Facts, order: Sequence[int] | None
) -> Iterator[tuple[Definition, float | None]]:
    """Definitions with their values, the likeliest first."""
    if order is not None and claim.code is not None:
        printed_for = order[claim.code]
        yield Definition(claim.key, printed_for), values.value(claim.key, printed_for)
    is_telling = float(claim.printed.unit) <= COARSEST_UNIT
    for key, code in alternatives(claim, facts.n_classes):
        if key == claim.key and code != claim.code and not is_telling:
            continue
        yield Definition(key, code), values.value(key, code)


def _class_order(
    claims: Sequence[Claim], values: MatrixValues, n_classes: int
) -> list[int] | None:
    """For each class the one whose values were printed for it, if some order fits them all.

    None if the values are where they belong, or no order explains every one of them.
    """
    with optional:
        from scipy.optimize import linear_sum_assignment

    of_classes = [claim for claim in claims if claim.code is not None]
    misfits = np.zeros((n_classes, n_classes), np.int64)
    for claim in of_classes:
        for code in range(n_classes):
            rounding = claim.printed.rounding_of(values.value(claim.key, code))
            misfits[claim.code, code] += rounding is None
    if not np.diagonal(misfits).any():
        return None
    printed_as, comes_from = linear_sum_assignment(misfits)
    if misfits[printed_as, comes_from].any():
        return None
    return [int(code) for code in comes_from]


def _text(value: float | None) -> str:
    return "no value (0/0)" if value is None else f"{value:.9g}"
