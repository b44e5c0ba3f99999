"""Laws of the life of a flag over all sequences of what can happen to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from offdiag.errors import Conflict
from offdiag.flags.lifecycle import (
    FlagState,
    Standing,
    Step,
    acknowledged,
    dismissed,
    first_seen,
    gone,
    reopened,
    rested,
    seen_again,
    snoozed,
)
from offdiag.flags.verdict import Severity

Happening = Callable[[Standing], Step]

UNTIL = datetime(2026, 11, 21, tzinfo=UTC)
SEVERITIES = st.sampled_from(Severity)
PEOPLE: tuple[Happening, ...] = (
    acknowledged,
    reopened,
    lambda standing: snoozed(standing, UNTIL),
    lambda standing: dismissed(standing, "noise"),
)
HAPPENINGS = st.one_of(
    st.sampled_from((*PEOPLE, gone, lambda standing: rested(standing, UNTIL))),
    SEVERITIES.map(lambda severity: lambda standing: seen_again(standing, severity)),
)


@st.composite
def standings(draw: st.DrawFn) -> Standing:
    """Any standing that a flag can get into."""
    standing = first_seen(draw(SEVERITIES)).after
    for happening in draw(st.lists(HAPPENINGS, max_size=8)):
        try:
            standing = happening(standing).after
        except Conflict:
            continue
    return standing


@given(standing=standings())
def test_a_standing_is_one_that_the_table_accepts(standing: Standing) -> None:
    assert (standing.state is FlagState.SNOOZED) == (standing.snoozed_until is not None)
    assert standing.state is not FlagState.DISMISSED or standing.reason is not None
    settled = {FlagState.ACKNOWLEDGED, FlagState.SNOOZED, FlagState.DISMISSED}
    assert standing.state not in settled or standing.settled is not None


@given(standing=standings(), severity=SEVERITIES)
def test_a_rule_that_fires_never_leaves_its_flag_closed(
    standing: Standing, severity: Severity
) -> None:
    after = seen_again(standing, severity).after

    assert after.state is not FlagState.CLOSED
    assert after.severity is severity


@given(standing=standings(), severity=SEVERITIES)
def test_evaluating_twice_with_the_same_outcome_changes_nothing_more(
    standing: Standing, severity: Severity
) -> None:
    once = seen_again(standing, severity).after

    assert seen_again(once, severity) == Step(once)
    assert gone(gone(standing).after) == Step(gone(standing).after)


@given(standing=standings(), severity=SEVERITIES)
def test_no_flag_stays_settled_that_is_graver_than_when_it_was(
    standing: Standing, severity: Severity
) -> None:
    after = seen_again(standing, severity).after

    if after.state is not FlagState.OPEN:
        assert after.settled is not None
        assert severity.rank <= after.settled.rank


@given(standing=standings(), happening=st.sampled_from(PEOPLE))
def test_what_people_do_never_changes_the_severity(
    standing: Standing, happening: Happening
) -> None:
    if standing.state is not FlagState.CLOSED:
        assert happening(standing).after.severity is standing.severity
