"""The fewest numbers that have to be wrong for the others to be possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from offdiag.flags.audit.checks import Check
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.examination import examined
from offdiag.flags.audit.facts import Facts

MOST_TO_BLAME = 4
MOST_EXAMINATIONS = 400
MOST_CLAIMS_EXAMINED = 6_000
"""An examination takes longer the more claims there are, so long tables get fewer of them."""

Places = frozenset[int]


def smallest_to_blame(
    claims: Sequence[Claim], facts: Facts, effort: int = MOST_CLAIMS_EXAMINED
) -> tuple[Places, ...]:
    """All smallest sets of places without whose numbers no check fails.

    A failed check needs one of its numbers to go, so the search branches on these only
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
    """How often so many claims may be examined in a search."""
    return min(MOST_EXAMINATIONS, max(10, effort // max(1, len(claims))))


def without(claims: Sequence[Claim], places: Iterable[int]) -> list[Claim]:
    """The claims at all other places."""
    left_out = set(places)
    return [claim for place, claim in enumerate(claims) if place not in left_out]


def failed_checks(checks: Sequence[Check]) -> tuple[Check, ...]:
    return tuple(check for check in checks if not check.holds)


def failed_without(claims: Sequence[Claim], blamed: Places, facts: Facts) -> list[Places]:
    """Places, in the full list, of the numbers of each check that fails without the blamed."""
    kept = [place for place in range(len(claims)) if place not in blamed]
    # Any failed check will do to branch on, so the quick ones may decide.
    checks = examined([claims[place] for place in kept], facts, stop_early=True)
    return [frozenset(kept[place] for place in check.places) for check in failed_checks(checks)]


def _all_suspects(claims: Sequence[Claim], facts: Facts) -> Places:
    """Every number of every failed check, the slow ones included."""
    failed = failed_checks(examined(claims, facts))
    return frozenset[int]().union(*(check.places for check in failed))
