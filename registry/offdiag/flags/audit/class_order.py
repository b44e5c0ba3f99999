"""Class values that stand beside the wrong labels, found out by the sizes of the classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offdiag.flags.audit.blame import failed_checks
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.definitions import Definition
from offdiag.flags.audit.examination import allowed_intervals, examined, within_range
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.feasible import Constraint
from offdiag.flags.audit.findings import AuditVerdict, Diagnosis, Finding
from offdiag.flags.audit.support import consistent
from offdiag.flags.audit.table_search import feasible_tables

MOST_ACCIDENTAL_FITS = 0.1
"""Share of all printed values that a class of some size may have by chance; with more, that it
allows a value says nothing."""
MOST_CLASSES = 20
"""With more classes, each of which may stand for any other, no order is looked for."""


def as_other_order(claims: Sequence[Claim], facts: Facts) -> Diagnosis | None:
    """Everything fits if the class values are listed in another order of the classes.

    Known class sizes tell: values of a class of 19 cases rarely come from one of 14.
    """
    order = _order_by_sizes(claims, facts)
    if order is None:
        return None
    understood = [
        claim if claim.code is None else claim.redefined(claim.key, order[claim.code])
        for claim in claims
    ]
    moved = frozenset(
        place for place, claim in enumerate(claims) if claim.code != understood[place].code
    )
    if not moved or not all(_is_telling(understood[place], facts) for place in moved):
        return None
    after = examined(understood, facts, stop_early=True)
    if failed_checks(after):
        return None
    findings = [consistent(claim, place, after) for place, claim in enumerate(understood)]
    for place in moved:
        definition = Definition(understood[place].key, understood[place].code)
        why = (
            f"the size of its class rules it out; with the classes in another order it is the "
            f"{definition.name(facts.labels)}"
        )
        findings[place] = Finding(claims[place], AuditVerdict.OTHER_DEFINITION, why, definition)
    return Diagnosis(tuple(findings), after, tuple(understood))


def _is_telling(claim: Claim, facts: Facts) -> bool:
    """Whether few values printed so finely come from a class of this size."""
    size = 0 if facts.class_counts is None else facts.class_counts[claim.code or 0]
    return claim.printed.unit * size <= MOST_ACCIDENTAL_FITS


def _order_by_sizes(claims: Sequence[Claim], facts: Facts) -> list[int] | None:
    """For each class the one whose size allows its values, if there is such an order."""
    from scipy.optimize import linear_sum_assignment

    sizes = facts.class_counts
    if sizes is None or len(sizes) > MOST_CLASSES:
        return None
    if not any(claim.code is not None for claim in claims):
        return None
    intervals = [
        within_range(claim, interval)
        for claim, interval in zip(claims, allowed_intervals(claims), strict=True)
    ]
    is_ruled_out = np.zeros((len(sizes), len(sizes)), np.int64)
    for code in range(len(sizes)):
        constraints = tuple(
            Constraint(claim.key, 0, interval)
            for claim, interval in zip(claims, intervals, strict=True)
            if claim.code == code
        )
        for other, size in enumerate(sizes):
            tables = feasible_tables((size, sum(sizes) - size), constraints)
            is_ruled_out[code, other] = tables.is_impossible
    printed_as, comes_from = linear_sum_assignment(is_ruled_out)
    if is_ruled_out[printed_as, comes_from].any():
        return None
    return [int(code) for code in comes_from]
