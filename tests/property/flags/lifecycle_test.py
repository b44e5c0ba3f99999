"""Laws of the life of a flag over all sequences of what can happen to it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from offdiag.errors import Conflict
from offdiag.flags.lifecycle import (
    FlagState,
    FlagStatus,
    Step,
    acknowledged,
    after_snooze,
    dismissed,
    first_raised,
    gone,
    raised_again,
    reopened,
    snoozed,
)
from offdiag.flags.verdict import Severity

Happening = Callable[[FlagStatus], Step]

UNTIL = datetime(2026, 11, 21, tzinfo=UTC)
SEVERITIES = st.sampled_from(Severity)
PEOPLE: tuple[Happening, ...] = (
    acknowledged,
    reopened,
    lambda status: snoozed(status, UNTIL),
    lambda status: dismissed(status, "noise"),
)
HAPPENINGS = st.one_of(
    st.sampled_from((*PEOPLE, gone, lambda status: after_snooze(status, UNTIL))),
    SEVERITIES.map(lambda severity: lambda status: raised_again(status, severity)),
)


@st.composite
def statuses(draw: st.DrawFn) -> FlagStatus:
    """Any standing that a flag can get into."""
    status = first_raised(draw(SEVERITIES)).after
    for happening in draw(st.lists(HAPPENINGS, max_size=8)):
        try:
            status = happening(status).after
        except Conflict:
            continue
    return status


@given(status=statuses())
def test_a_standing_is_one_that_the_table_accepts(status: FlagStatus) -> None:
    assert (status.state is FlagState.SNOOZED) == (status.snoozed_until is not None)
    assert status.state is not FlagState.DISMISSED or status.reason is not None
    triaged = {FlagState.ACKNOWLEDGED, FlagState.SNOOZED, FlagState.DISMISSED}
    assert status.state not in triaged or status.triaged is not None


@given(status=statuses(), severity=SEVERITIES)
def test_a_rule_that_fires_never_leaves_its_flag_closed(
    status: FlagStatus, severity: Severity
) -> None:
    after = raised_again(status, severity).after

    assert after.state is not FlagState.CLOSED
    assert after.severity is severity


@given(status=statuses(), severity=SEVERITIES)
def test_evaluating_twice_with_the_same_outcome_changes_nothing_more(
    status: FlagStatus, severity: Severity
) -> None:
    once = raised_again(status, severity).after

    assert raised_again(once, severity) == Step(once)
    assert gone(gone(status).after) == Step(gone(status).after)


@given(status=statuses(), severity=SEVERITIES)
def test_no_flag_stays_settled_that_is_graver_than_when_it_was(
    status: FlagStatus, severity: Severity
) -> None:
    after = raised_again(status, severity).after

    if after.state is not FlagState.OPEN:
        assert after.triaged is not None
        assert severity.rank <= after.triaged.rank


@given(status=statuses(), happening=st.sampled_from(PEOPLE))
def test_what_people_do_never_changes_the_severity(
    status: FlagStatus, happening: Happening
) -> None:
    if status.state is not FlagState.CLOSED:
        assert happening(status).after.severity is status.severity
