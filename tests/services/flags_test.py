"""Flags of stored runs: raised with the evaluation, settled by people, closed by recomputing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from offdiag.domain.texts import CostName
from offdiag.errors import InvalidInput, NotFound
from offdiag.flags.assessment import assess
from offdiag.flags.lifecycle import Action, FlagEventKind, FlagState
from offdiag.flags.rules import MATRIX_RULES
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Severity
from offdiag.metrics.paired.joint_counts import PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.datasets import pin_baseline, unpin_baseline
from offdiag.services.flags import triage
from offdiag.services.flags.alternatives import Gain
from offdiag.services.flags.page import browse_flag, browse_flags
from offdiag.services.flags.rules import RulesInForce
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.retention.deletion import delete_run, restore_run
from offdiag.store import evaluations, flag_inbox
from offdiag.store.database import Database
from offdiag.store.flag_conditions import UNASSIGNED, FlagFilter
from offdiag.store.flag_inbox import FlagEntry, FlagPlace
from offdiag.store.flags import FlagRecord
from offdiag.store.models import EvaluationRow, FlagRow
from offdiag.store.run_search import run_records
from offdiag.store.runs import RunRecord
from support.dashboard import counted_statements
from support.filled_once import filled_once
from support.flagged import (
    GOOD,
    IN_SIGHT,
    MAJORITY,
    evaluate_again,
    flags_of,
    history,
    log_answers,
    upload_counts,
)
from support.logging_runs import POLICY, correct_labels, log, work_off
from support.matrices import matrix_of

A_DAY = timedelta(days=1)


def open_rules(database: Database, run: RunRecord) -> set[str]:
    return {
        rule
        for (rule, _), flag in flags_of(database, run).items()
        if flag.status.state is FlagState.OPEN
    }


@pytest.fixture
@filled_once
def flagged(database: Database) -> RunRecord:
    """A run that always gives the same answer, evaluated."""
    run = upload_counts(database, MAJORITY)
    work_off(database)
    return run


def test_an_evaluation_raises_what_the_rules_say_and_another_one_doubles_nothing(
    database: Database, flagged: RunRecord
) -> None:
    found = flags_of(database, flagged)

    expected = {(v.rule, v.class_label): v for v in assess(matrix_of(MAJORITY)).verdicts}
    assert found.keys() == expected.keys()
    for key, flag in found.items():
        verdict = expected[key].to_dict()
        assert flag.content.message == verdict["message"]
        assert dict(flag.content.evidence) == verdict["evidence"]
        assert list(flag.content.fired) == verdict["fired"]
        assert dict(flag.content.thresholds) == verdict["thresholds"]
        assert flag.status.severity.value == verdict["severity"]
    evaluate_again(database, flagged)
    after = flags_of(database, flagged)
    assert [flag.id for flag in after.values()] == [flag.id for flag in found.values()]
    assert all(flag.first_seen == found[key].first_seen for key, flag in after.items())
    assert all(history(database, f.id) == [FlagEventKind.OPENED] for f in after.values())


def test_a_run_of_one_class_is_not_judged(database: Database) -> None:
    run = upload_counts(database, [[9, 1], [0, 0]])
    work_off(database)

    with database.read() as session:
        evaluation = evaluations.current_evaluation(session, run.id)
    assert evaluation is not None
    assert evaluation.hides_minority is None
    assert flags_of(database, run) == {}


def test_a_corrected_truth_closes_what_no_longer_fires_and_opens_what_does_again(
    database: Database,
) -> None:
    run = log_answers(database, {"common": (50, 50), "rare": (0, 10)}, name="blind")
    work_off(database)
    assert "F3" in open_rules(database, run)
    flag = flags_of(database, run)["F3", "rare"]

    correct_labels(database, dict.fromkeys(range(50, 60), "common"), dataset="cases", author="lee")
    work_off(database)
    closed = flags_of(database, run)["F3", "rare"]
    correct_labels(database, dict.fromkeys(range(50, 60), "rare"), dataset="cases", author="lee")
    work_off(database)

    assert closed.status.state is FlagState.CLOSED
    assert closed.closed_at is not None
    again = flags_of(database, run)["F3", "rare"]
    assert (again.id, again.status.state, again.closed_at) == (flag.id, FlagState.OPEN, None)
    assert history(database, flag.id) == [
        FlagEventKind.OPENED,
        FlagEventKind.CLOSED,
        FlagEventKind.REOPENED,
    ]


def test_costs_that_become_the_default_are_judged_by(database: Database) -> None:
    run = upload_counts(database, GOOD)
    work_off(database)
    assert "F11" not in open_rules(database, run)

    weights = {"0": {"0": 0.0, "1": 100.0}, "1": {"0": 1.0, "1": 0.0}}
    add_costs(database, project="default", dataset="holdout", name="alarms", weights=weights)
    asked = set_default_costs(
        database, project="default", dataset="holdout", wanted=CostName("alarms")
    )
    work_off(database)

    assert asked == 1
    assert "F11" in open_rules(database, run)

    set_default_costs(database, project="default", dataset="holdout", wanted=None)
    work_off(database)
    assert flags_of(database, run)["F11", None].status.state is FlagState.CLOSED


def test_a_pinned_baseline_is_compared_with_case_by_case(database: Database) -> None:
    before = log_answers(database, {"common": (50, 50), "rare": (18, 20)}, name="old")
    after = log_answers(database, {"common": (50, 50), "rare": (5, 20)}, name="new")
    work_off(database)

    repinned = pin_baseline(database, before.id, author="lee")
    work_off(database)

    assert repinned.baseline is not None
    assert (repinned.baseline.run_id, repinned.n_runs) == (before.id, 2)
    assert flags_of(database, after)["F14", "rare"].content.evidence["baseline"] == "old"
    assert ("F14", "rare") not in flags_of(database, before)
    assert pin_baseline(database, before.id, author="kim").n_runs == 0
    with pytest.raises(NotFound):
        pin_baseline(database, "r_missing", author=None)

    unpin_baseline(database, project="default", dataset="cases")
    work_off(database)
    assert flags_of(database, after)["F14", "rare"].status.state is FlagState.CLOSED


def test_other_thresholds_make_a_sweep_judge_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = upload_counts(database, [[900, 100], [400, 600]])
    work_off(database)
    assert ("F4", "1") in flags_of(database, run)
    assert reconcile(database, POLICY).submitted == 0

    monkeypatch.setenv("OFFDIAG_FLAGS__RECALL_GAP", "0.35")
    assert reconcile(database, POLICY).submitted == 1
    work_off(database)

    flag = flags_of(database, run)["F4", "1"]
    assert flag.status.state is FlagState.CLOSED
    assert reconcile(database, POLICY).submitted == 0


def as_raised_by_the_first_version(database: Database, flag: FlagRecord, **changes: Any) -> None:
    """Let a flag look as the rules before stored it, and let its run be judged again."""
    evidence = dict(flag.content.evidence)
    evidence.pop("certainty", None)
    with database.write() as session:
        session.execute(
            update(FlagRow)
            .where(FlagRow.id == flag.id)
            .values(rule_version=1, evidence=evidence, **changes)
        )
        session.execute(update(EvaluationRow).values(rules_digest="0" * 64))


def test_a_new_version_of_a_rule_keeps_what_people_settled(database: Database) -> None:
    run = upload_counts(database, IN_SIGHT)
    work_off(database)
    flag = flags_of(database, run)["F4", "1"]
    as_raised_by_the_first_version(database, flag, severity="high")
    before = flags_of(database, run)["F4", "1"]
    assert (before.content.hides, before.content.may_hide) == (True, False)
    triage.decide_flags(database, [flag.id], Action.DISMISS, reason="known", author="lee")

    assert reconcile(database, POLICY).submitted == 1
    work_off(database)

    after = flags_of(database, run)["F4", "1"]
    assert (after.id, after.status.state) == (flag.id, FlagState.DISMISSED)
    assert (after.content.rule_version, after.status.severity.value) == (3, "medium")
    assert (after.content.hides, after.content.may_hide) == (False, True)
    told = browse_flag(database, flag.id).history[-1]
    assert (told.kind, told.author) == (FlagEventKind.UPDATED, None)
    assert told.text == "high before, medium now; version 1 of F4 before, version 3 now"


def test_a_flag_that_a_new_version_does_not_raise_says_so(database: Database) -> None:
    run = upload_counts(database, MAJORITY)
    work_off(database)
    # Five examples are too few for the second version of F2, not for F1.
    flag = flags_of(database, run)["F1", None]
    as_raised_by_the_first_version(database, flag, rule="F2", class_label="1")

    reconcile(database, POLICY)
    work_off(database)

    closed = flags_of(database, run)["F2", "1"]
    assert closed.status.state is FlagState.CLOSED
    assert closed.content.rule_version == 1
    told = browse_flag(database, flag.id).history[-1]
    assert told.text == "version 1 of F2 before, version 2 now"


def test_flags_of_the_two_badges_are_asked_for_apart(database: Database) -> None:
    in_sight = upload_counts(database, IN_SIGHT, name="in sight")
    proved = upload_counts(database, [[450, 50], [120, 10]], name="proved")
    work_off(database)

    red, amber = entries(database, in_badge=True), entries(database, may_hide=True)

    assert {entry.flag.run_id for entry in red} == {proved.id}
    assert {(e.flag.run_id, e.flag.content.rule) for e in amber} == {(in_sight.id, "F4")}
    assert not {e.flag.id for e in entries(database, may_hide=False)} & {amber[0].flag.id}
    with database.read() as session:
        runs = {run.id: run for run in run_records(session, [in_sight.id, proved.id])}
    badges = {run_id: (run.hides_minority, run.may_hide_minority) for run_id, run in runs.items()}
    assert badges == {in_sight.id: (False, True), proved.id: (True, False)}


def test_an_uploaded_matrix_against_the_truth_is_flagged(database: Database) -> None:
    log(database, y_true=[0] * 90 + [1] * 10, y_pred=[0] * 97 + [1] * 3, dataset="holdout")
    swapped = upload_counts(database, [[88, 9], [2, 1]])
    work_off(database)

    assert "F13" in open_rules(database, swapped)


Settle = Callable[[Database, list[int]], list[FlagRecord]]
SETTLING: dict[FlagState, Settle] = {
    FlagState.ACKNOWLEDGED: lambda d, ids: triage.decide_flags(
        d, ids, Action.ACKNOWLEDGE, author="lee"
    ),
    FlagState.SNOOZED: lambda d, ids: triage.decide_flags(
        d, ids, Action.SNOOZE, until=d.clock() + A_DAY, author="lee"
    ),
    FlagState.DISMISSED: lambda d, ids: triage.decide_flags(
        d, ids, Action.DISMISS, reason="known", author="lee"
    ),
}


@pytest.mark.both_databases
def test_many_flags_are_settled_at_once_and_it_is_remembered_by_whom(
    database: Database, flagged: RunRecord
) -> None:
    ids = [flag.id for flag in flags_of(database, flagged).values()]

    for state, settle in SETTLING.items():
        found = settle(database, ids)

        assert {flag.status.state for flag in found} == {state}
        for flag_id in ids:
            event = browse_flag(database, flag_id).history[-1]
            assert (event.kind.value, event.author) == (state.value, "lee")


def test_flags_are_assigned_and_talked_about(database: Database, flagged: RunRecord) -> None:
    flag = flags_of(database, flagged)["F5", None]

    triage.decide_flags(database, [flag.id], Action.ASSIGN, assignee="kim", author="lee")
    triage.decide_flags(
        database, [flag.id], Action.COMMENT, text=" See the notebook. ", author="kim"
    )
    (found,) = triage.decide_flags(database, [flag.id], Action.ASSIGN, assignee=None, author="lee")

    assert found.assignee is None
    assert [(e.kind.value, e.text) for e in browse_flag(database, flag.id).history[1:]] == [
        ("assigned", "kim"),
        ("commented", "See the notebook."),
        ("assigned", "nobody"),
    ]


MEANT_BY_NOBODY: list[tuple[Callable[[Database, list[int]], Any], str]] = [
    (lambda d, i: triage.decide_flags(d, i, Action.DISMISS, reason=" ", author=None), "no reason"),
    (lambda d, i: triage.decide_flags(d, i, Action.COMMENT, text="", author=None), "no comment"),
    (
        lambda d, i: triage.decide_flags(
            d,
            i,
            Action.SNOOZE,
            until=datetime(2030, 1, 1),  # noqa: DTZ001
            author=None,
        ),
        "no time zone",
    ),
    (
        lambda d, i: triage.decide_flags(
            d, i, Action.SNOOZE, until=datetime(2020, 1, 1, tzinfo=UTC), author=None
        ),
        "is over",
    ),
    (lambda d, _: triage.decide_flags(d, [], Action.ACKNOWLEDGE, author=None), "0 flags"),
    (
        lambda d, i: triage.decide_flags(d, i * 20_001, Action.ACKNOWLEDGE, author=None),
        "20001 flags",
    ),
    (lambda d, i: triage.decide_flags(d, i, Action.ASSIGN, assignee=" ", author=None), "empty"),
]


def test_what_cannot_be_meant_is_refused(database: Database, flagged: RunRecord) -> None:
    flag = flags_of(database, flagged)["F5", None]

    for act, says in MEANT_BY_NOBODY:
        with pytest.raises(InvalidInput, match=says):
            act(database, [flag.id])

    assert history(database, flag.id) == [FlagEventKind.OPENED]


def entries(database: Database, **wanted: Any) -> list[FlagEntry]:
    return list(browse_flags(database, FlagFilter(**wanted)).entries)


def test_rules_and_slices_are_found_as_people_write_them(
    database: Database, flagged: RunRecord
) -> None:
    assert entries(database, rule="f5") == entries(database, rule="F5") != []
    with pytest.raises(InvalidInput, match="there is no rule 'F99'"):
        entries(database, rule="F99")
    with pytest.raises(InvalidInput, match="is not a slice"):
        entries(database, slice="country")


@filled_once
def upload_three(database: Database) -> None:
    for number in range(3):
        upload_counts(database, MAJORITY, name=f"run {number}")
    work_off(database)


@pytest.mark.both_databases
def test_the_inbox_shows_the_gravest_first_page_by_page_and_backwards(
    database: Database,
) -> None:
    upload_three(database)
    pages = [browse_flags(database, FlagFilter(), limit=4)]
    while pages[-1].following is not None:
        pages.append(browse_flags(database, FlagFilter(), after=pages[-1].following, limit=4))

    back = [browse_flags(database, FlagFilter(), after=pages[-1].previous, limit=4)]
    while back[-1].previous is not None:
        back.append(browse_flags(database, FlagFilter(), after=back[-1].previous, limit=4))

    shown = [entry.flag for page in pages for entry in page.entries]
    places = [(flag.status.severity.rank, flag.id) for flag in shown]
    assert places == sorted(set(places), reverse=True)
    assert len(places) == pages[-1].counts[FlagState.OPEN]
    assert pages[0].previous is None
    assert [page.entries for page in back] == [page.entries for page in pages[-2::-1]]


def test_the_inbox_needs_two_statements_and_counts_no_more_than_somebody_could_look_at(
    database: Database, flagged: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flag_inbox, "MOST_COUNTED", 2)
    with counted_statements() as statements:
        page = browse_flags(database, FlagFilter(state=FlagState.OPEN))
    beyond = browse_flags(
        database, FlagFilter(at_least=Severity.CRITICAL), after=FlagPlace(0, 10**6)
    )

    assert len(statements) == 2
    assert page.counts[FlagState.OPEN] == 2
    assert (beyond.entries, beyond.following) == ((), None)


@pytest.mark.both_databases
def test_the_inbox_is_filtered(database: Database, flagged: RunRecord) -> None:
    hits = {"common": (50, 50), "rare": (0, 10)}
    other = log_answers(database, hits, name="blind", model="vit")
    work_off(database)
    assigned = entries(database, rule="F5", dataset="holdout")[0].flag.id
    triage.decide_flags(database, [assigned], Action.ASSIGN, assignee="kim", author="lee")

    for wanted in ({"run_id": other.id}, {"model": "vit"}):
        assert {entry.flag.run_id for entry in entries(database, **wanted)} == {other.id}
    assert {entry.dataset for entry in entries(database, dataset="cases")} == {"cases"}
    assert [entry.flag.id for entry in entries(database, assignee="kim")] == [assigned]
    grave = entries(database, at_least=Severity.CRITICAL)
    assert {entry.flag.status.severity for entry in grave} == {Severity.CRITICAL}
    rare = entries(database, class_label="rare")
    assert {entry.flag.content.class_label for entry in rare} == {"rare"}
    assert {e.flag.content.rule for e in entries(database, in_badge=True)} <= {"F1", "F3", "F4"}
    assert entries(database, project="elsewhere") == []
    unassigned = entries(database, rule="F5", assignee=UNASSIGNED)
    assert assigned not in {entry.flag.id for entry in unassigned}


def test_flags_of_deleted_runs_are_not_shown_but_come_back_with_them(
    database: Database, flagged: RunRecord
) -> None:
    flag = flags_of(database, flagged)["F5", None]

    delete_run(database, flagged.id, by="lee")
    gone = entries(database)
    with pytest.raises(NotFound):
        browse_flag(database, flag.id)
    restore_run(database, flagged.id)

    assert gone == []
    assert browse_flag(database, flag.id).entry.flag == flag


@pytest.mark.both_databases
def test_states_are_counted_and_a_rest_that_is_over_counts_as_open(
    database: Database, flagged: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *rest = (flag.id for flag in flags_of(database, flagged).values())
    triage.decide_flags(database, [first], Action.ACKNOWLEDGE, author="lee")
    triage.decide_flags(
        database, [second], Action.SNOOZE, until=database.clock() + A_DAY, author="lee"
    )

    page = browse_flags(database, FlagFilter(state=FlagState.OPEN))
    assert {entry.flag.id for entry in page.entries} == set(rest)
    assert (page.counts[FlagState.ACKNOWLEDGED], page.counts[FlagState.SNOOZED]) == (1, 1)

    tomorrow = database.clock() + 2 * A_DAY
    monkeypatch.setattr(database, "clock", lambda: tomorrow)
    page = browse_flags(database, FlagFilter(state=FlagState.OPEN))
    assert {entry.flag.id for entry in page.entries} == {second, *rest}
    assert (page.counts[FlagState.OPEN], page.counts[FlagState.SNOOZED]) == (len(rest) + 1, 0)
    assert entries(database, state=FlagState.SNOOZED) == []


def test_runs_that_do_better_on_the_class_are_named_with_what_they_win(
    database: Database,
) -> None:
    blind = log_answers(database, {"common": (50, 50), "rare": (0, 20)}, name="blind")
    best = log_answers(database, {"common": (45, 50), "rare": (20, 20)}, name="best")
    some = log_answers(database, {"common": (50, 50), "rare": (4, 20)}, name="some")
    log_answers(
        database, {"common": (50, 50), "rare": (20, 20)}, name="elsewhere", dataset="other"
    )
    work_off(database)

    found = browse_flag(database, flags_of(database, blind)["F3", "rare"].id).better

    assert [each.run.run_id for each in found.runs] == [best.id, some.id]
    assert [each.recall for each in found.runs] == [
        Gain(1.0, *_tango(20, 0, 20), won=20, lost=0),
        Gain(0.2, *_tango(4, 0, 20), won=4, lost=0),
    ]
    assert found.runs[0].accuracy == Gain(15 / 70, *_tango(20, 5, 70), won=20, lost=5)
    # Exact McNemar, 2 / 2^20 and 2 / 2^4, each the better of two.
    assert found.n_compared == 2
    assert [each.p for each in found.runs] == [2 * 2 / 2**20, 2 * 2 / 2**4]


def test_better_runs_without_predictions_are_named_without_a_comparison(
    database: Database,
) -> None:
    blind = log(database, y_true=["0"] * 50 + ["1"] * 20, y_pred=["0"] * 70, labels=["0", "1"])
    uploaded = upload_counts(database, [[45, 5], [2, 18]], name="uploaded")
    work_off(database)

    (found,) = browse_flag(database, flags_of(database, blind)["F3", "1"].id).better.runs

    assert (found.run.run_id, found.run.recall.value) == (uploaded.id, 0.9)
    assert (found.recall, found.accuracy, found.p) == (None, None, None)


def test_a_flag_needs_six_statements_however_many_runs_are_better(database: Database) -> None:
    blind = log_answers(database, {"common": (50, 50), "rare": (0, 20)}, name="blind")
    for found in range(10, 17):
        log_answers(database, {"common": (50, 50), "rare": (found, 20)}, name=f"{found}")
    work_off(database)
    flag = flags_of(database, blind)["F3", "rare"]

    with counted_statements() as statements:
        detail = browse_flag(database, flag.id)

    assert [each.run.name for each in detail.better.runs] == ["16", "15", "14", "13", "12"]
    assert detail.better.n_compared == 7
    assert len(statements) == 6


def test_runs_are_ranked_among_those_on_the_same_truth(database: Database) -> None:
    blind = log_answers(database, {"common": (50, 50), "rare": (0, 20)}, name="blind")
    log_answers(database, {"common": (45, 50), "rare": (20, 20)}, name="best")
    log_answers(database, {"common": (30, 50), "rare": (20, 20)}, name="also 50 of 70")
    log_answers(database, {"common": (30, 50), "rare": (10, 20)}, name="worse")
    log_answers(database, {"common": (9, 9), "rare": (9, 9)}, name="x", dataset="other")
    work_off(database)

    ranks = browse_flag(database, flags_of(database, blind)["F3", "rare"].id).ranks

    assert {key: (each.rank, each.n_runs) for key, each in ranks.items()} == {
        "overall_accuracy": (2, 4),
        "balanced_accuracy": (4, 4),
    }


def test_a_flag_shows_what_the_silent_rules_measured_by_the_thresholds_of_today(
    database: Database, flagged: RunRecord
) -> None:
    detail = browse_flag(database, flags_of(database, flagged)["F4", "1"].id)

    by_rule = {check.rule: check for check in detail.checks}
    fired = {rule for (rule, label) in flags_of(database, flagged) if label in {None, "1"}}
    assert {rule for rule, check in by_rule.items() if check.fires} == fired
    assert by_rule.keys() == set(MATRIX_RULES)
    assert by_rule["F9"].class_label == "1"
    assert not by_rule["F9"].fires
    assert not detail.judged_by_others
    others = browse_flag(database, detail.entry.flag.id, RulesInForce(Thresholds(recall_gap=0.3)))
    assert others.judged_by_others
    condition = next(check for check in others.checks if check.rule == "F4").conditions[0]
    assert condition.threshold == 0.3


def _tango(won: int, lost: int, cases: int) -> tuple[float, float]:
    """The interval that holds together with that of another run."""
    only_first, only_second, n = (np.asarray(count) for count in (lost, won, cases))
    bounds = paired_score_interval(PairedRates(only_first, only_second, n), confidence=0.975)
    return float(bounds.low), float(bounds.high)
