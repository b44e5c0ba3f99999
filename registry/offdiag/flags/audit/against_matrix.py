"""Published numbers beside the values that their matrix gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.definitions import Definition, alternatives
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.findings import AuditVerdict, Finding, MatrixReading
from offdiag.flags.audit.matrix_reading import matrix_reading
from offdiag.flags.audit.matrix_values import BothWays, MatrixValues, both_ways
from offdiag.flags.audit.printed import Rounding
from offdiag.flags.audit.zero_division import counted_note

COARSEST_UNIT = 0.001
"""With fewer decimals it is no evidence that the value of another class was printed."""
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

    The matrix is read with actual classes along its rows, unless only its columns have the
    class counts. A number that fits only the other way round is transposed.
    """
    both = both_ways(counts, facts.class_counts)
    order = _class_order(claims, both.taken, len(counts))
    findings = tuple(_finding(claim, both, facts, order) for claim in claims)
    names = None
    if order is not None and facts.labels is not None:
        names = tuple(facts.labels.names[code] for code in order)
    return Comparison(findings, matrix_reading(claims, both, names))


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

    None if the values stand where they belong, or no order explains every one of them.
    """
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
