"""All checks of a list of claims: the fewest numbers that must be wrong, and support for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from offdiag.audit.checks import Check, CheckKind, bounds, identities, ranges
from offdiag.audit.definitions import Definition, described
from offdiag.audit.findings import AuditVerdict, Finding
from offdiag.audit.printed import Interval, Rounding
from offdiag.audit.quantities import Quantities
from offdiag.audit.reported_values import Claim, Facts
from offdiag.audit.whole_numbers import whole_numbers

Places = frozenset[int]
NOWHERE: Places = frozenset()


def examined(
    claims: Sequence[Claim],
    facts: Facts,
    *,
    or_undefined: Places = NOWHERE,
    stop_early: bool = False,
) -> tuple[Check, ...]:
    """Every check that can be made, in the order identities, bounds, whole numbers.

    The numbers at the positions `or_undefined` may stand for undefined values. A number outside
    the range of its metric fails that check alone and is left out of the others. With
    `stop_early`, whole numbers, which take longest, are tried only if nothing else fails.
    """
    wide = allowed_intervals(claims, or_undefined=or_undefined)
    in_range = tuple(ranges(claims, wide))
    inside = [within_range(claim, interval) for claim, interval in zip(claims, wide, strict=True)]
    quantities = Quantities.of(claims, inside, facts)
    broken = frozenset[int]().union(*(c.places for c in in_range if not c.holds))
    checks = (*in_range, *identities(quantities), *bounds(quantities))
    if broken or (stop_early and not all(check.holds for check in checks)):
        return checks
    return (*checks, *whole_numbers(claims, inside, quantities))


def allowed_intervals(
    claims: Sequence[Claim], *, or_undefined: Places = NOWHERE
) -> list[Interval | None]:
    """The exact values that each printed number may stand for, None for "undefined"."""
    found = []
    for place, claim in enumerate(claims):
        interval = claim.printed.interval
        if interval is not None and place in or_undefined:
            interval = replace(interval, or_undefined=True)
        found.append(interval)
    return found


def within_range(claim: Claim, interval: Interval | None) -> Interval | None:
    """The part of an interval that lies in the range of the metric; None if there is none."""
    if interval is None:
        return None
    spec = described(claim.key)
    part = interval.intersection(Interval(spec.low, spec.high))
    return None if part.is_empty else replace(part, or_undefined=interval.or_undefined)


MOST_TO_BLAME = 4
MOST_EXAMINATIONS = 400
MOST_CLAIMS_EXAMINED = 6_000
"""Budget of a search: examinations of long tables take longer, so there are fewer of them."""


def smallest_to_blame(
    claims: Sequence[Claim], facts: Facts, effort: int = MOST_CLAIMS_EXAMINED
) -> tuple[Places, ...]:
    """All smallest sets of positions without whose numbers no check fails.

    At least one number of a failed check must go, so the search branches on these only
    (Reiter 1987, Artif. Intell. 32, 57). If it gets out of hand, all numbers of failed checks
    are returned as one set. `effort` is the number of claims it may examine.
    """
    level: list[Places] = [frozenset()]
    n_examined, most = 0, examinations_for(claims, effort)
    for _ in range(MOST_TO_BLAME + 1):
        found: list[Places] = []
        branches: dict[Places, None] = {}
        for blamed in level:
            n_examined += 1
            if n_examined > most:
                return (_all_suspects(claims, facts),)
            failed = failed_without(claims, blamed, facts)
            if not failed:
                found.append(blamed)
                continue
            narrowest = min(failed, key=len)
            branches |= dict.fromkeys(blamed | {place} for place in sorted(narrowest))
        if found:
            return tuple(found)
        level = list(branches)
    return (_all_suspects(claims, facts),)


def examinations_for(claims: Sequence[Claim], effort: int) -> int:
    """How often this many claims may be examined in a search."""
    return min(MOST_EXAMINATIONS, max(10, effort // max(1, len(claims))))


def without(claims: Sequence[Claim], places: Iterable[int]) -> list[Claim]:
    """The claims at all other positions."""
    left_out = set(places)
    return [claim for place, claim in enumerate(claims) if place not in left_out]


def failed_checks(checks: Sequence[Check]) -> tuple[Check, ...]:
    return tuple(check for check in checks if not check.holds)


def failed_without(claims: Sequence[Claim], blamed: Places, facts: Facts) -> list[Places]:
    """Positions, in the full list, of the numbers of each check that fails without `blamed`."""
    kept = [place for place in range(len(claims)) if place not in blamed]
    # Any failed check will do for branching, so the quick ones may decide.
    checks = examined([claims[place] for place in kept], facts, stop_early=True)
    return [frozenset(kept[place] for place in check.places) for check in failed_checks(checks)]


def _all_suspects(claims: Sequence[Claim], facts: Facts) -> Places:
    """Every number of every failed check, including the slow checks."""
    failed = failed_checks(examined(claims, facts))
    return frozenset[int]().union(*(check.places for check in failed))


CONFUSED_WITHOUT_IDENTITY = frozenset({"macro_f1", "weighted_f1"})
"""A failed harmonic F1 is read as the mean of class F1 because of a bound alone: only the class
values or a matrix could prove it, and the two are confused all the time."""


def supporting(place: int, checks: Sequence[Check], *, by_bounds: bool = False) -> Check | None:
    """The check with the fewest numbers that holds and ties the number to others.

    Only equations and counts, unless `by_bounds`: a bound leaves room for almost anything. A
    repetition of the number does not support it.
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
    """Whether no check fails, and one that could have failed supports each of the positions.

    Without the second condition any number could be declared to be a metric about which nothing
    else says anything.
    """
    checks = examined(claims, facts, stop_early=True)
    return not failed_checks(checks) and all(
        speaks_for(claims[place], place, checks) for place in places
    )


def speaks_for(claim: Claim, place: int, checks: Sequence[Check]) -> bool:
    """Whether a check that could have failed supports the claim at this position."""
    by_bounds = claim.key in CONFUSED_WITHOUT_IDENTITY
    return supporting(place, checks, by_bounds=by_bounds) is not None


def deciding(place: int, checks: Sequence[Check]) -> Check | None:
    """The failed check most specific to a number: about it alone, or with the fewest others."""
    failed = [check for check in failed_checks(checks) if place in check.places]
    return min(failed, key=lambda check: (len(check.places), check.about != place), default=None)


def stated(check: Check | None) -> str:
    """The statement of a check; callers only ask where there is one."""
    return "the other numbers" if check is None else check.statement


def expected_by(check: Check | None, place: int) -> Interval | None:
    """The values that a check leaves for the number, if it is about this one."""
    return check.expected if check is not None and check.about == place else None


def consistent(claim: Claim, place: int, checks: Sequence[Check]) -> Finding:
    """The finding on a number that no check contradicts; `place` is its position in the checks."""
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
        is_checked=support is not None,
    )
