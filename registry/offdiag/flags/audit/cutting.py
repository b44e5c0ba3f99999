"""Numbers whose last digits were cut off instead of rounded.

Whoever cuts off does so throughout, so the whole table is tried that way first. Then single
numbers are, the fewest that make everything fit: some tables come from several sources.
"""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.flags.audit.blame import Places, examinations_for, failed_checks
from offdiag.flags.audit.checks import Check
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.examination import examined
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.findings import Diagnosis
from offdiag.flags.audit.printed import Rounding
from offdiag.flags.audit.support import consistent

MOST_CUT_OFF = 4
"""With more numbers cut off among rounded ones, which these are is not searched for one by one."""


def cut_off(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims as those of a table whose numbers were all cut off."""
    return tuple(claim.printed_by(Rounding.CUT_OFF) for claim in claims)


def as_mixed(claims: Sequence[Claim], facts: Facts, effort: int) -> Diagnosis | None:
    """Everything fits if some of the rounded numbers were cut off, the fewest there can be."""
    everywhere = _either(claims, frozenset(range(len(claims))))
    if failed_checks(examined(everywhere, facts, stop_early=True)):
        return None
    understood = _fewest_cut_off(claims, facts, effort) or _few_either(claims, facts, effort)
    checks = examined(understood, facts)
    findings = (consistent(claim, place, checks) for place, claim in enumerate(understood))
    return Diagnosis(tuple(findings), checks, tuple(understood))


def _fewest_cut_off(claims: Sequence[Claim], facts: Facts, effort: int) -> list[Claim] | None:
    """The claims with the fewest of them cut off; None if the search ends before one is found.

    Of the numbers in a check that fails, one more must have been cut off than are so far.
    """
    level: list[Places] = [frozenset()]
    n_examined, most = 0, examinations_for(claims, effort)
    for _ in range(MOST_CUT_OFF + 1):
        branches: dict[Places, None] = {}
        for cut in level:
            n_examined += 1
            if n_examined > most:
                return None
            attempt = [
                claim.printed_by(Rounding.CUT_OFF) if place in cut else claim
                for place, claim in enumerate(claims)
            ]
            failed = failed_checks(examined(attempt, facts, stop_early=True))
            if not failed:
                return attempt
            branches |= dict.fromkeys(cut | {place} for place in _open_places(failed, claims, cut))
        level = list(branches)
    return None


def _open_places(failed: Sequence[Check], claims: Sequence[Claim], cut: Places) -> list[int]:
    """Numbers of the narrowest failed check that may have been cut off and are not yet."""
    narrowest = min((check.places for check in failed), key=len)
    return [place for place in sorted(narrowest - cut) if claims[place].printed.may_be_cut_off]


def _few_either(claims: Sequence[Claim], facts: Facts, effort: int) -> list[Claim]:
    """The claims with some of them rounded or cut off; of those tried none can do without."""
    either = frozenset(range(len(claims)))
    for place in range(len(claims))[: examinations_for(claims, effort)]:
        fewer = either - {place}
        if not failed_checks(examined(_either(claims, fewer), facts, stop_early=True)):
            either = fewer
    return _either(claims, either)


def _either(claims: Sequence[Claim], places: Places) -> list[Claim]:
    return [
        claim.printed_by(Rounding.NEAREST, Rounding.CUT_OFF)
        if place in places and claim.printed.may_be_cut_off
        else claim
        for place, claim in enumerate(claims)
    ]
