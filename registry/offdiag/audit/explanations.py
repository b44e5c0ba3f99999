"""Ways in which contradictory numbers may be true: definitions, axes, orders, zeros, digits.

Digits that are cut off are mostly cut off throughout, so the whole table is tried that way first.
Then single numbers are tried, the fewest that make everything fit: some tables come from several
sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from offdiag.audit.checks import Check
from offdiag.audit.definitions import Definition, alternatives, described, when_swapped
from offdiag.audit.examination import (
    MOST_TO_BLAME,
    Places,
    allowed_intervals,
    consistent,
    deciding,
    examinations_for,
    examined,
    expected_by,
    failed_checks,
    is_supported,
    speaks_for,
    stated,
    supporting,
    within_range,
)
from offdiag.audit.feasible import Constraint, feasible_tables
from offdiag.audit.findings import AuditVerdict, Diagnosis, Finding
from offdiag.audit.printed import Printed, Rounding
from offdiag.audit.reported_values import Claim, Facts
from offdiag.extras import optional


def as_transposed(claims: Sequence[Claim], facts: Facts) -> Diagnosis | None:
    """Everything fits if actual and predicted classes trade places.

    Metrics that have no name after the swap cannot be tested and are left out.
    """
    swapped = [when_swapped(claim.key) for claim in claims]
    kept = [place for place, key in enumerate(swapped) if key is not None]
    understood = [
        claims[place].redefined(key, claims[place].code)
        for place, key in enumerate(swapped)
        if key is not None
    ]
    moved = [place for place in kept if swapped[place] != claims[place].key]
    # A swap shows in pairs: any misprint could be explained by calling recall precision.
    published = {claim.key for claim in claims}
    if not any(swapped[place] in published for place in moved):
        return None
    # Nothing may contradict it, and at least one number that it moves must support it.
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
        return Finding(claim, AuditVerdict.CONSISTENT, why, own, is_checked=False)
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
    """Everything fits if a few numbers are other metrics that share their names.

    `blamed` are the sets of numbers that otherwise must be wrong.
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
    """The claims, with each given position read as the first other metric that fits the rest."""
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
    """The finding on a number that only fits as another metric, as the others are read."""
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


MOST_ACCIDENTAL_FITS = 0.1
"""Share of all printed values that a class of some size may match by chance; if it is larger, a
match says nothing."""
MOST_CLASSES = 20
"""With more classes, any of which may stand for any other, no order is searched for."""


def as_other_order(claims: Sequence[Claim], facts: Facts) -> Diagnosis | None:
    """Everything fits if the class values are listed in another order of the classes.

    Known class sizes decide: values of a class of 19 samples rarely come from one of 14.
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
    if not moved or not all(_is_informative(understood[place], facts) for place in moved):
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


def _is_informative(claim: Claim, facts: Facts) -> bool:
    """Whether few values printed this precisely can come from a class of this size."""
    size = 0 if facts.class_counts is None else facts.class_counts[claim.code or 0]
    return claim.printed.unit * size <= MOST_ACCIDENTAL_FITS


def _order_by_sizes(claims: Sequence[Claim], facts: Facts) -> list[int] | None:
    """For each class, the one whose size allows its values, if there is such an order."""
    with optional:
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


MOST_CUT_OFF = 4
"""If more numbers than this were cut off among rounded ones, they are not searched one by one."""


def cut_off(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims, read as those of a table whose numbers were all cut off."""
    return tuple(claim.printed_by(Rounding.CUT_OFF) for claim in claims)


def as_mixed(claims: Sequence[Claim], facts: Facts, effort: int) -> Diagnosis | None:
    """Everything fits if some of the rounded numbers were cut off; finds the fewest."""
    everywhere = _either(claims, frozenset(range(len(claims))))
    if failed_checks(examined(everywhere, facts, stop_early=True)):
        return None
    understood = _fewest_cut_off(claims, facts, effort) or _few_either(claims, facts, effort)
    checks = examined(understood, facts)
    findings = (consistent(claim, place, checks) for place, claim in enumerate(understood))
    return Diagnosis(tuple(findings), checks, tuple(understood))


def _fewest_cut_off(claims: Sequence[Claim], facts: Facts, effort: int) -> list[Claim] | None:
    """The claims with the fewest of them cut off; None if the search ends before one is found.

    Of the numbers in a failed check, at least one more must have been cut off.
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
    """Numbers of the narrowest failed check that may have been cut off but are not yet."""
    narrowest = min((check.places for check in failed), key=len)
    return [place for place in sorted(narrowest - cut) if claims[place].printed.may_be_cut_off]


def _few_either(claims: Sequence[Claim], facts: Facts, effort: int) -> list[Claim]:
    """The claims, with some either rounded or cut off; no tried one of these can be left out."""
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


COUNTED_AS = (0, 1)


def counted_value(printed: Printed) -> int | None:
    """The 0 or 1 that a printed number may stand for; None if it is neither."""
    fits = (number for number in COUNTED_AS if printed.rounding_of(float(number)) is not None)
    return next(fits, None)


def counted_note(counted: int) -> str:
    """The note for such a value."""
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
    # None of these can be a number while the others may be undefined, so all are undefined.
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
