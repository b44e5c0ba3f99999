"""Decisions about flags that meet other decisions, evaluations, or the end of a rest."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
import pytest

from offdiag.errors import Conflict
from offdiag.flags.lifecycle import Action, FlagEventKind, FlagState
from offdiag.services.flags import triage
from offdiag.services.flags.page import browse_flag
from offdiag.services.flags.triage import Seen
from offdiag.store import codec
from offdiag.store.database import Database
from offdiag.store.flags import FlagRecord
from offdiag.store.models import UploadedMatrixRow
from support.filled_once import filled_once
from support.flagged import GOOD, MAJORITY, evaluate_again, flags_of, history, upload_counts
from support.logging_runs import work_off

A_DAY = timedelta(days=1)


@pytest.fixture
@filled_once
def flag(database: Database) -> FlagRecord:
    """An open flag of a run that always gives the same answer."""
    run = upload_counts(database, MAJORITY)
    work_off(database)
    return flags_of(database, run)["F5", None]


def as_seen(database: Database, *flag_ids: int) -> Seen:
    """What somebody knows who looks at flags now."""
    return {flag_id: browse_flag(database, flag_id).entry.revision for flag_id in flag_ids}


def state_of(database: Database, flag_id: int) -> FlagState:
    return browse_flag(database, flag_id).entry.flag.status.state


Change = Callable[[Database, int], object]
CHANGES: dict[str, Change] = {
    "acknowledged by kim": lambda d, i: triage.decide_flags(
        d, [i], Action.ACKNOWLEDGE, author="kim"
    ),
    "snoozed by kim": lambda d, i: triage.decide_flags(
        d, [i], Action.SNOOZE, until=d.clock() + A_DAY, author="kim"
    ),
    "dismissed by kim": lambda d, i: triage.decide_flags(
        d, [i], Action.DISMISS, reason="no", author="kim"
    ),
    "assigned to lee by kim": lambda d, i: triage.decide_flags(
        d, [i], Action.ASSIGN, assignee="lee", author="kim"
    ),
}


def test_a_decision_about_what_has_changed_since_is_refused(
    database: Database, flag: FlagRecord
) -> None:
    for said, change in CHANGES.items():
        seen = as_seen(database, flag.id)
        change(database, flag.id)
        before = history(database, flag.id)

        with pytest.raises(
            Conflict, match=f"flag {flag.id} was {said} in the meantime"
        ) as refused:
            triage.decide_flags(
                database, [flag.id], Action.DISMISS, reason="mine", author="ana", seen=seen
            )

        assert refused.value.hint == "Look again, then decide. Nothing was changed."
        assert history(database, flag.id) == before


def test_a_remark_is_no_change_that_a_decision_could_miss(
    database: Database, flag: FlagRecord
) -> None:
    seen = as_seen(database, flag.id)
    triage.decide_flags(database, [flag.id], Action.COMMENT, text="why?", author="kim")

    triage.decide_flags(database, [flag.id], Action.ACKNOWLEDGE, author="ana", seen=seen)

    assert state_of(database, flag.id) is FlagState.ACKNOWLEDGED


def test_two_people_who_decide_alike_do_not_contradict_each_other(
    database: Database, flag: FlagRecord
) -> None:
    seen = as_seen(database, flag.id)

    for author in ("kim", "ana"):
        triage.decide_flags(database, [flag.id], Action.ACKNOWLEDGE, author=author, seen=seen)

    assert history(database, flag.id) == [FlagEventKind.OPENED, FlagEventKind.ACKNOWLEDGED]


def test_a_flag_that_closed_since_cannot_be_settled(database: Database) -> None:
    run = upload_counts(database, MAJORITY)
    work_off(database)
    flag = flags_of(database, run)["F5", None]
    seen = as_seen(database, flag.id)
    _replace_by_good_counts(database, run.id)
    evaluate_again(database, run)

    with pytest.raises(Conflict, match=f"flag {flag.id} is closed"):
        triage.decide_flags(database, [flag.id], Action.ACKNOWLEDGE, author="ana", seen=seen)


def test_one_of_many_that_changed_stops_them_all(database: Database) -> None:
    run = upload_counts(database, MAJORITY)
    work_off(database)
    first, second, *_ = (flag.id for flag in flags_of(database, run).values())
    seen = as_seen(database, first, second)
    triage.decide_flags(database, [second], Action.ACKNOWLEDGE, author="kim")

    with pytest.raises(Conflict, match=f"^flag: flag {second} was acknowledged by kim in the"):
        triage.decide_flags(
            database, [first, second], Action.DISMISS, reason="mine", author="ana", seen=seen
        )

    assert state_of(database, first) is FlagState.OPEN


def test_a_change_of_hands_is_refused_like_any_other(database: Database, flag: FlagRecord) -> None:
    seen = as_seen(database, flag.id)
    triage.decide_flags(database, [flag.id], Action.ASSIGN, assignee="kim", author="kim")

    with pytest.raises(Conflict, match="assigned to kim by kim"):
        triage.decide_flags(
            database, [flag.id], Action.ASSIGN, assignee="lee", author="ana", seen=seen
        )
    triage.decide_flags(
        database, [flag.id], Action.ASSIGN, assignee="kim", author="ana", seen=seen
    )

    assert history(database, flag.id).count(FlagEventKind.ASSIGNED) == 1


def test_the_end_of_a_rest_stands_in_the_history_before_anybody_writes_it_down(
    database: Database, flag: FlagRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = database.clock() + A_DAY
    triage.decide_flags(database, [flag.id], Action.SNOOZE, until=until, author="lee")
    assert history(database, flag.id)[-1] is FlagEventKind.SNOOZED

    _let_pass(database, monkeypatch, until + A_DAY)

    last = browse_flag(database, flag.id).history[-1]
    assert (last.kind, last.at, last.author) == (FlagEventKind.REOPENED, until, None)
    assert last.text == "the snooze has ended"


@pytest.mark.parametrize("change", ["people", "evaluation"])
def test_the_end_of_a_rest_stays_in_its_place_once_more_has_happened(
    database: Database, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    run = upload_counts(database, MAJORITY)
    work_off(database)
    flag = flags_of(database, run)["F5", None]
    until = database.clock() + A_DAY
    triage.decide_flags(database, [flag.id], Action.SNOOZE, until=until, author="lee")
    _let_pass(database, monkeypatch, until + A_DAY)

    if change == "people":
        triage.decide_flags(database, [flag.id], Action.ACKNOWLEDGE, author="kim")
    else:
        evaluate_again(database, run)

    told = [(event.kind, event.at) for event in browse_flag(database, flag.id).history[2:]]
    assert told[0] == (FlagEventKind.REOPENED, until)
    assert len(told) == (2 if change == "people" else 1)


def test_a_rest_that_is_over_settles_nothing_any_more(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = upload_counts(database, MAJORITY)
    work_off(database)
    flag = flags_of(database, run)["F5", None]
    until = database.clock() + A_DAY
    triage.decide_flags(database, [flag.id], Action.SNOOZE, until=until, author="lee")
    _let_pass(database, monkeypatch, until + A_DAY)

    evaluate_again(database, run)

    standing = flags_of(database, run)["F5", None].status
    assert (standing.state, standing.triaged) == (FlagState.OPEN, None)


def _let_pass(database: Database, monkeypatch: pytest.MonkeyPatch, now: datetime) -> None:
    monkeypatch.setattr(database, "clock", lambda: now)


def _replace_by_good_counts(database: Database, run_id: str) -> None:
    """As if the matrix had been a good one: stands for whatever makes a rule fall silent."""
    with database.write() as session:
        row = session.get_one(UploadedMatrixRow, run_id)
        row.cells = codec.encode_counts(np.array(GOOD))
