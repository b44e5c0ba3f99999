"""The life of a flag: what people settle, what evaluations change, and who wins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from offdiag.errors import Conflict
from offdiag.flags.lifecycle import (
    FlagEventKind,
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

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
OPEN = FlagStatus(FlagState.OPEN, Severity.HIGH)
ACKNOWLEDGED = FlagStatus(FlagState.ACKNOWLEDGED, Severity.HIGH, Severity.HIGH)
SNOOZED = FlagStatus(FlagState.SNOOZED, Severity.HIGH, Severity.HIGH, NOW + timedelta(days=1))
DISMISSED = FlagStatus(FlagState.DISMISSED, Severity.HIGH, Severity.HIGH, None, "known noise")
CLOSED = FlagStatus(FlagState.CLOSED, Severity.HIGH)
CLOSED_AFTER_DISMISSAL = FlagStatus(
    FlagState.CLOSED, Severity.HIGH, Severity.HIGH, None, "known noise"
)
SETTLED = (ACKNOWLEDGED, SNOOZED, DISMISSED)


def test_a_rule_that_fires_for_the_first_time_opens_a_flag() -> None:
    assert first_raised(Severity.HIGH) == Step(OPEN, FlagEventKind.OPENED)


@pytest.mark.parametrize("status", [OPEN, *SETTLED])
def test_firing_again_as_before_changes_nothing_and_is_not_told(status: FlagStatus) -> None:
    assert raised_again(status, Severity.HIGH) == Step(status)


def test_an_open_flag_takes_its_new_severity() -> None:
    step = raised_again(OPEN, Severity.CRITICAL)

    assert step.after == FlagStatus(FlagState.OPEN, Severity.CRITICAL)
    assert (step.kind, step.text) == (FlagEventKind.UPDATED, "high before, critical now")


@pytest.mark.parametrize("status", SETTLED)
def test_what_was_settled_is_open_again_once_it_is_graver(status: FlagStatus) -> None:
    step = raised_again(status, Severity.CRITICAL)

    assert step.after == FlagStatus(FlagState.OPEN, Severity.CRITICAL)
    assert step.kind is FlagEventKind.REOPENED


@pytest.mark.parametrize("status", SETTLED)
def test_what_was_settled_stays_settled_when_it_gets_milder(status: FlagStatus) -> None:
    milder = raised_again(status, Severity.MEDIUM).after

    assert (milder.state, milder.triaged) == (status.state, Severity.HIGH)
    assert raised_again(milder, Severity.HIGH).after == status


@pytest.mark.parametrize("status", [OPEN, ACKNOWLEDGED, SNOOZED])
def test_a_rule_that_no_longer_fires_closes_its_flag(status: FlagStatus) -> None:
    assert gone(status) == Step(CLOSED, FlagEventKind.CLOSED)


def test_a_closed_flag_opens_when_its_rule_fires_again() -> None:
    step = raised_again(CLOSED, Severity.HIGH)

    assert (step.after, step.kind) == (OPEN, FlagEventKind.REOPENED)


def test_a_dismissed_flag_that_was_closed_comes_back_dismissed() -> None:
    closed = gone(DISMISSED).after

    assert closed == CLOSED_AFTER_DISMISSAL
    assert raised_again(closed, Severity.HIGH).after == DISMISSED
    assert raised_again(closed, Severity.MEDIUM).after.state is FlagState.DISMISSED


def test_a_dismissed_flag_that_was_closed_comes_back_open_if_it_is_graver() -> None:
    step = raised_again(CLOSED_AFTER_DISMISSAL, Severity.CRITICAL)

    assert step.after == FlagStatus(FlagState.OPEN, Severity.CRITICAL)


def test_settling_keeps_the_severity_it_was_settled_at() -> None:
    until = NOW + timedelta(days=1)

    assert acknowledged(OPEN) == Step(ACKNOWLEDGED, FlagEventKind.ACKNOWLEDGED)
    assert snoozed(OPEN, until) == Step(
        SNOOZED, FlagEventKind.SNOOZED, "until 2026-11-21T12:00:00+00:00"
    )
    assert dismissed(OPEN, "known noise") == Step(
        DISMISSED, FlagEventKind.DISMISSED, "known noise"
    )


def test_settling_twice_alike_is_told_once() -> None:
    assert acknowledged(ACKNOWLEDGED) == Step(ACKNOWLEDGED)
    assert dismissed(DISMISSED, "known noise") == Step(DISMISSED)


def test_another_decision_takes_the_place_of_the_one_before() -> None:
    assert acknowledged(DISMISSED).after == ACKNOWLEDGED
    assert dismissed(SNOOZED, "known noise").after == DISMISSED


@pytest.mark.parametrize("status", SETTLED)
def test_what_was_settled_can_be_taken_back(status: FlagStatus) -> None:
    assert reopened(status) == Step(OPEN, FlagEventKind.REOPENED)


def test_an_open_flag_need_not_be_opened() -> None:
    assert reopened(OPEN) == Step(OPEN)


def test_a_closed_flag_cannot_be_settled() -> None:
    for settle in (acknowledged, reopened):
        with pytest.raises(Conflict, match="no longer raises it"):
            settle(CLOSED)
    with pytest.raises(Conflict):
        dismissed(CLOSED, "noise")
    with pytest.raises(Conflict):
        snoozed(CLOSED, NOW)


def test_a_rest_that_is_over_leaves_a_flag_open() -> None:
    assert SNOOZED.state_at(NOW) is FlagState.SNOOZED
    assert SNOOZED.state_at(NOW + timedelta(days=1)) is FlagState.OPEN
    assert ACKNOWLEDGED.state_at(NOW) is FlagState.ACKNOWLEDGED


def test_a_rest_that_is_over_is_told_once_and_settles_nothing() -> None:
    until = NOW + timedelta(days=1)

    step = after_snooze(SNOOZED, until)

    assert step == Step(OPEN, FlagEventKind.REOPENED, "the snooze has ended")
    assert after_snooze(step.after, until) == Step(step.after)


@pytest.mark.parametrize("status", [OPEN, *SETTLED, CLOSED, CLOSED_AFTER_DISMISSAL])
def test_time_alone_changes_nothing_else(status: FlagStatus) -> None:
    assert after_snooze(status, NOW) == Step(status)
