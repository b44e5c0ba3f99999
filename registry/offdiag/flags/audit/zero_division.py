"""Undefined values printed as 0 or 1, as most libraries do without saying so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from offdiag.flags.audit.blame import failed_checks
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.definitions import Definition, described
from offdiag.flags.audit.examination import examined
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.findings import AuditVerdict, Diagnosis, Finding
from offdiag.flags.audit.printed import Printed
from offdiag.flags.audit.support import consistent

COUNTED_AS = (0, 1)


def counted_value(printed: Printed) -> int | None:
    """The 0 or 1 that a printed number may stand for; None if it is neither."""
    fits = (number for number in COUNTED_AS if printed.rounding_of(float(number)) is not None)
    return next(fits, None)


def counted_note(counted: int) -> str:
    """How such a value is named."""
    return f"0/0 counted as {counted}"


def as_zero_division(claims: Sequence[Claim], facts: Facts) -> Diagnosis | None:
    """Everything fits if some zeros or ones stand for metrics that are undefined."""
    undefined = frozenset(
        place
        for place, claim in enumerate(claims)
        if described(claim.key).undefined_when and counted_value(claim.printed) is not None
    )
    if failed_checks(examined(claims, facts, or_undefined=undefined, stop_early=True)):
        return None
    for place in sorted(undefined):
        fewer = undefined - {place}
        if not failed_checks(examined(claims, facts, or_undefined=fewer, stop_early=True)):
            undefined = fewer
    understood = [
        replace(claim, printed=Printed(claim.printed.text, None)) if place in undefined else claim
        for place, claim in enumerate(claims)
    ]
    # None of these can be a number while the others may be undefined, so all of them are.
    checks = examined(understood, facts)
    findings = tuple(
        _counted(claim) if place in undefined else consistent(claim, place, checks)
        for place, claim in enumerate(claims)
    )
    return Diagnosis(findings, checks, tuple(understood))


def _counted(claim: Claim) -> Finding:
    note = counted_note(counted_value(claim.printed) or 0)
    return Finding(
        claim,
        AuditVerdict.OTHER_DEFINITION,
        f"beside the other numbers it is undefined; printed is {note}",
        Definition(claim.key, claim.code, note),
    )
