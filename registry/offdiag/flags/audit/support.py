"""What speaks for a number, and what against it."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.flags.audit.blame import failed_checks
from offdiag.flags.audit.checks import Check, CheckKind
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.definitions import Definition
from offdiag.flags.audit.examination import examined
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.findings import AuditVerdict, Finding
from offdiag.flags.audit.interval import Interval
from offdiag.flags.audit.printed import Rounding

CONFUSED_WITHOUT_IDENTITY = frozenset({"macro_f1", "weighted_f1"})
"""A failed harmonic F1 is taken for the mean of class F1 on a bound alone: only the class
values or a matrix could prove it, and the two are confused all the time."""


def supporting(place: int, checks: Sequence[Check], *, by_bounds: bool = False) -> Check | None:
    """The shortest statement that ties the number to others and holds.

    Equations and counts only, unless `by_bounds`: a bound leaves room for almost anything. That
    a number stands there twice says nothing for it.
    """
    too_weak = {CheckKind.REPEAT} if by_bounds else {CheckKind.REPEAT, CheckKind.BOUND}
    tied = [
        check
        for check in checks
        if check.holds
        and place in check.places
        and len(check.places) > 1
        and check.kind not in too_weak
    ]
    return min(
        tied,
        key=lambda check: (check.kind is CheckKind.COUNTS, len(check.statement)),
        default=None,
    )


def is_supported(claims: Sequence[Claim], facts: Facts, places: frozenset[int]) -> bool:
    """Whether no check fails, and one that could have failed speaks for each of the places.

    Without the second condition any number could be declared a metric that nothing else says
    anything about.
    """
    checks = examined(claims, facts, stop_early=True)
    return not failed_checks(checks) and all(
        speaks_for(claims[place], place, checks) for place in places
    )


def speaks_for(claim: Claim, place: int, checks: Sequence[Check]) -> bool:
    """Whether a check that could have failed speaks for the claim at this place."""
    by_bounds = claim.key in CONFUSED_WITHOUT_IDENTITY
    return supporting(place, checks, by_bounds=by_bounds) is not None


def deciding(place: int, checks: Sequence[Check]) -> Check | None:
    """The failed check that says most about a number: about it alone, else with fewest others."""
    failed = [check for check in failed_checks(checks) if place in check.places]
    return min(failed, key=lambda check: (len(check.places), check.about != place), default=None)


def stated(check: Check | None) -> str:
    """What a check says; there is always one where it is asked for."""
    return "the other numbers" if check is None else check.statement


def expected_by(check: Check | None, place: int) -> Interval | None:
    """The values a check leaves for the number, if it is about this one."""
    return check.expected if check is not None and check.about == place else None


def consistent(claim: Claim, place: int, checks: Sequence[Check]) -> Finding:
    """The finding on a number that no check contradicts; `place` is its place in the checks."""
    support = supporting(place, checks)
    is_cut = Rounding.CUT_OFF in claim.printed.ways
    why = "nothing contradicts it" if support is None else support.statement
    return Finding(
        claim,
        AuditVerdict.CONSISTENT,
        "fits if the digits after the last one were cut off instead of rounded" if is_cut else why,
        Definition(claim.key, claim.code),
        expected=expected_by(support, place),
        rounding=Rounding.CUT_OFF if is_cut else None,
    )
