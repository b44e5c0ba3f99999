"""All checks of a list of claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from offdiag.flags.audit.bounds import bounds, ranges
from offdiag.flags.audit.checks import Check
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.definitions import described
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.identities import identities
from offdiag.flags.audit.interval import Interval
from offdiag.flags.audit.quantities import Quantities
from offdiag.flags.audit.whole_numbers import whole_numbers

Places = frozenset[int]
NOWHERE: Places = frozenset()


def examined(
    claims: Sequence[Claim],
    facts: Facts,
    *,
    or_undefined: Places = NOWHERE,
    stop_early: bool = False,
) -> tuple[Check, ...]:
    """Everything that can be tested, in the order identities, bounds, whole numbers.

    The numbers at the places `or_undefined` may stand for undefined values. A number outside the
    range of its metric fails that check alone and is left out of the others. With `stop_early`
    whole numbers, which take longest, are tried only where nothing else fails.
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
    """The exact values each printed number stands for, None for "undefined"."""
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
