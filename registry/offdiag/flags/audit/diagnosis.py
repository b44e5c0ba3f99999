"""Which of several numbers is wrong, if they cannot all be true, and what it is instead.

Numbers that contradict each other do not say which of them is to blame. The diagnosis looks
for the mildest explanation: digits of the whole table cut off instead of rounded, those of the
fewest numbers, zeros for undefined values, swapped axes, classes in another order, few numbers
that are other metrics, and at last the fewest that have to be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.flags.audit.blame import (
    MOST_CLAIMS_EXAMINED,
    Places,
    failed_checks,
    smallest_to_blame,
    without,
)
from offdiag.flags.audit.checks import Check
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.class_order import as_other_order
from offdiag.flags.audit.cutting import as_mixed, cut_off
from offdiag.flags.audit.definitions import Definition
from offdiag.flags.audit.examination import examined
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.findings import AuditVerdict, Diagnosis, Finding
from offdiag.flags.audit.rereadings import as_other_definitions, as_transposed
from offdiag.flags.audit.support import consistent, deciding, expected_by
from offdiag.flags.audit.zero_division import as_zero_division


def diagnosed(
    claims: Sequence[Claim], facts: Facts, effort: int = MOST_CLAIMS_EXAMINED
) -> Diagnosis:
    """Find the mildest explanation of a list of claims whose classes are all named.

    `effort` is the number of claims that each search for culprits may examine.
    """
    tables = tuple(dict.fromkeys((tuple(claims), cut_off(claims))))
    for table in tables:
        checks = examined(table, facts)
        if not failed_checks(checks):
            findings = tuple(consistent(claim, place, checks) for place, claim in enumerate(table))
            return Diagnosis(findings, checks, table)
    found = as_mixed(claims, facts, effort)
    for table in tables:
        found = (
            found
            or as_zero_division(table, facts)
            or as_transposed(table, facts)
            or as_other_order(table, facts)
        )
    return found or _blaming(tables, facts, effort)


def _blaming(tables: Sequence[tuple[Claim, ...]], facts: Facts, effort: int) -> Diagnosis:
    """Single numbers are other metrics or wrong; of both ways to print, fewer in the better."""
    blamed = [smallest_to_blame(table, facts, effort // len(tables)) for table in tables]
    fewest = [min(map(len, sets)) for sets in blamed]
    place = fewest.index(min(fewest))
    table, checks = tables[place], examined(tables[place], facts)
    return as_other_definitions(table, facts, checks, blamed[place]) or _as_impossible(
        table, facts, checks, blamed[place]
    )


def _as_impossible(
    claims: Sequence[Claim], facts: Facts, checks: Sequence[Check], blamed: Sequence[Places]
) -> Diagnosis:
    """No reading helps: name the numbers of which the fewest have to be wrong."""
    suspects = frozenset[int]().union(*blamed)
    kept = [place for place in range(len(claims)) if place not in suspects]
    after = examined(without(claims, suspects), facts)
    findings = tuple(
        consistent(claim, kept.index(place), after)
        if place in kept
        else _impossible(claims, place, checks, is_certain=all(place in s for s in blamed))
        for place, claim in enumerate(claims)
    )
    return Diagnosis(findings, tuple(checks), tuple(claims))


def _impossible(
    claims: Sequence[Claim], place: int, checks: Sequence[Check], *, is_certain: bool
) -> Finding:
    """The finding on a number that is wrong, or that is one of several that may be."""
    claim, check = claims[place], deciding(place, checks)
    if check is None:
        # It only comes into conflict once another number is taken away.
        why = "it cannot be true together with the other numbers"
    else:
        why = f"it contradicts: {check.statement}"
        if not is_certain:
            others = sorted({claims[p].name for p in check.places if p != place})
            why += f" (it or {' or '.join(others)} is wrong)"
    return Finding(
        claim,
        AuditVerdict.IMPOSSIBLE,
        why,
        Definition(claim.key, claim.code),
        expected=expected_by(check, place),
    )
