"""Ways in which contradicting numbers may be true after all."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.flags.audit.blame import (
    MOST_TO_BLAME,
    Places,
    failed_checks,
)
from offdiag.flags.audit.checks import Check
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.definitions import Definition, alternatives, when_swapped
from offdiag.flags.audit.examination import examined
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.findings import AuditVerdict, Diagnosis, Finding
from offdiag.flags.audit.support import (
    consistent,
    deciding,
    expected_by,
    is_supported,
    speaks_for,
    stated,
    supporting,
)


def as_transposed(claims: Sequence[Claim], facts: Facts) -> Diagnosis | None:
    """Everything fits if actual and predicted classes trade places.

    What has no name after the swap cannot be tested and is left out.
    """
    swapped = [when_swapped(claim.key) for claim in claims]
    kept = [place for place, key in enumerate(swapped) if key is not None]
    understood = [
        claims[place].redefined(key, claims[place].code)
        for place, key in enumerate(swapped)
        if key is not None
    ]
    moved = [place for place in kept if swapped[place] != claims[place].key]
    # A swap shows in pairs: recall alone can be called precision to explain any misprint.
    published = {claim.key for claim in claims}
    if not any(swapped[place] in published for place in moved):
        return None
    # Nothing may speak against it, and something for at least one number that it moves.
    after = examined(understood, facts, stop_early=True)
    at = {place: kept.index(place) for place in moved}
    if failed_checks(after) or not any(
        speaks_for(understood[at[place]], at[place], after) for place in moved
    ):
        return None
    findings = tuple(_swapped(claim, key) for claim, key in zip(claims, swapped, strict=True))
    return Diagnosis(findings, after, tuple(understood))


def _swapped(claim: Claim, key: str | None) -> Finding:
    own = Definition(claim.key, claim.code)
    if key is None:
        why = "it has no counterpart with the axes exchanged, so it was left out"
        return Finding(claim, AuditVerdict.CONSISTENT, why, own)
    if key == claim.key:
        why = "it stays the same with the axes exchanged"
        return Finding(claim, AuditVerdict.CONSISTENT, why, own)
    why = (
        f"beside the other numbers it can only be the {key}, which it is if actual and predicted "
        f"classes trade places"
    )
    return Finding(claim, AuditVerdict.TRANSPOSED, why, Definition(key, claim.code))


def as_other_definitions(
    claims: Sequence[Claim], facts: Facts, checks: Sequence[Check], blamed: Sequence[Places]
) -> Diagnosis | None:
    """Everything fits if few numbers are other metrics that share their names.

    `blamed` are the sets of numbers of which one has to be wrong altogether.
    """
    for places in blamed:
        if len(places) > MOST_TO_BLAME:
            continue
        understood = _redefined(claims, facts, places)
        if understood is None:
            continue
        after = examined(understood, facts)
        findings = tuple(
            _redefinition(claim, place, understood, facts, after)
            if place in places
            else consistent(claim, place, after)
            for place, claim in enumerate(claims)
        )
        return Diagnosis(findings, tuple(checks), tuple(understood))
    return None


def _redefined(claims: Sequence[Claim], facts: Facts, places: Places) -> list[Claim] | None:
    """The claims with each of the places as the first other metric that fits the rest."""
    understood = list(claims)
    for place in sorted(places):
        others = [p for p in range(len(claims)) if p == place or p not in places]
        at = others.index(place)
        for key, code in alternatives(claims[place], facts.n_classes):
            attempt = [claims[p] for p in others]
            attempt[at] = claims[place].redefined(key, code)
            if is_supported(attempt, facts, frozenset({at})):
                understood[place] = attempt[at]
                break
        else:
            return None
    return understood if is_supported(understood, facts, places) else None


def _redefinition(
    claim: Claim, place: int, understood: Sequence[Claim], facts: Facts, after: Sequence[Check]
) -> Finding:
    """The finding on a number that only fits as another metric, the others being understood."""
    read = understood[place]
    definition = Definition(read.key, read.code)
    as_published = [claim if p == place else other for p, other in enumerate(understood)]
    against = deciding(place, examined(as_published, facts))
    in_favour = supporting(place, after, by_bounds=True)
    why = (
        f"as {definition.name(facts.labels)} it fits ({stated(in_favour)}); as published it "
        f"contradicts: {stated(against)}"
    )
    expected = expected_by(against, place)
    return Finding(claim, AuditVerdict.OTHER_DEFINITION, why, definition, expected=expected)
