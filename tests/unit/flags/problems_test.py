"""Problems: which flags they gather, what they hit, when they close, and that none gets lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.runs import PromotionRole
from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState, FlagStatus
from offdiag.flags.problems import (
    CAUSE_OF,
    MOST_CLASSES,
    Cause,
    Hit,
    Problem,
    ProblemKey,
    ProblemState,
    SeenFlag,
    SeenRun,
    folded,
    in_order,
    problems_of,
)
from offdiag.flags.verdict import SEVERITIES, Severity

NOW = datetime(2026, 11, 23, tzinfo=UTC)
CRITICAL, MEDIUM = Severity.CRITICAL, Severity.MEDIUM


def runs(n: int, **roles: PromotionRole) -> list[SeenRun]:
    """Runs of one model, the newest first and named r0; roles by name."""
    return [
        SeenRun(f"r{i}", f"run {i}", 1, "vit", NOW - timedelta(days=i), roles.get(f"r{i}"))
        for i in range(n)
    ]


def flag(
    run: str,
    rule: str = "F3",
    label: str = "df",
    severity: Severity = CRITICAL,
    state: FlagState = FlagState.OPEN,
    at: datetime = NOW,
) -> SeenFlag:
    is_settled = state not in (FlagState.OPEN, FlagState.CLOSED)
    until = NOW + timedelta(days=1) if state is FlagState.SNOOZED else None
    status = FlagStatus(state, severity, severity if is_settled else None, until)
    return SeenFlag(hash((run, rule, label)) % 10**9, run, rule, label, status, None, at)


def grouped(of: list[SeenRun], *flags: SeenFlag) -> list[Problem]:
    models = {run.id: run.model for run in of}
    keys = {ProblemKey(1, models[f.run_id], CAUSE_OF[f.rule], f.class_label) for f in flags}
    numbers = {key: number for number, key in enumerate(sorted(keys, key=str), 1)}
    return problems_of(numbers, of, flags, now=NOW)


def one(of: list[SeenRun], *flags: SeenFlag) -> Problem:
    (found,) = grouped(of, *flags)
    return found


def test_every_rule_has_a_cause() -> None:
    assert set(CAUSE_OF) == set(RULES), (
        "say in RULES_OF of flags/problems.py what a rule points to"
    )


def test_rules_of_one_class_and_cause_become_reasons() -> None:
    found = one(
        runs(4), flag("r1"), flag("r0", "F4"), flag("r0", "F10", severity=MEDIUM), flag("r3", "F2")
    )
    assert found.reasons == ("F3", "F4", "F10")
    assert [run.id for run in found.affected] == ["r0", "r1", "r3"]
    assert (found.since, found.severity) == (NOW - timedelta(days=3), CRITICAL)


def test_causes_classes_and_models_stay_apart() -> None:
    other = SeenRun("s0", "other", 1, "swin", NOW)
    flags = flag("r0"), flag("r0", "F9"), flag("r0", label="mel"), flag("s0")
    assert len(grouped([*runs(1), other], *flags)) == 4


def test_a_problem_closes_when_three_newest_runs_no_longer_show_it() -> None:
    assert one(runs(3), flag("r2")).state is ProblemState.OPEN
    assert one(runs(4), flag("r3")).state is ProblemState.CLOSED


def test_the_champion_keeps_its_problems_however_old_it_is() -> None:
    found = one(runs(9, r8=PromotionRole.CHAMPION), flag("r8"))
    assert (found.state, found.hits, found.is_low) == (ProblemState.OPEN, (Hit.CHAMPION,), False)


def test_what_is_hit() -> None:
    of = runs(5, r4=PromotionRole.CANDIDATE)
    assert one(of, flag("r4"), flag("r0")).hits == (Hit.CANDIDATE, Hit.NEWEST)
    old = one(of, flag("r1"))
    assert (old.hits, old.is_low) == ((Hit.OLD,), True)
    assert one(of, flag("r0", severity=MEDIUM)).is_low
    assert not one(of, flag("r4", severity=MEDIUM)).is_low
    assert one(of, flag("r4", "F12", severity=Severity.INFO)).is_low


def test_a_later_run_does_not_open_again_what_was_settled() -> None:
    settled = flag("r1", state=FlagState.DISMISSED)
    assert one(runs(3), flag("r0"), settled).state is ProblemState.DISMISSED
    milder = flag("r1", state=FlagState.ACKNOWLEDGED, severity=MEDIUM)
    assert one(runs(3), milder).state is ProblemState.ACCEPTED
    assert one(runs(3), flag("r0"), milder).state is ProblemState.OPEN
    snoozed = flag("r1", state=FlagState.SNOOZED)
    assert one(runs(3), flag("r0"), snoozed).state is ProblemState.SNOOZED


def test_what_is_critical_on_the_champion_has_to_be_settled_itself() -> None:
    of = runs(3, r0=PromotionRole.CHAMPION)
    settled = flag("r1", state=FlagState.DISMISSED)
    assert one(of, flag("r0"), settled).state is ProblemState.OPEN
    both = flag("r0", state=FlagState.DISMISSED), settled
    assert one(of, *both).state is ProblemState.DISMISSED


def test_a_problem_is_news_when_it_comes_back() -> None:
    first, again = NOW - timedelta(days=30), NOW - timedelta(days=1)
    assert one(runs(9), flag("r0", at=again), flag("r1", at=first)).news_at == first
    back = one(runs(9), flag("r0", at=again), flag("r8", at=first))
    assert back.news_at == again
    assert back.is_new(None)
    assert back.is_new(first)
    assert not back.is_new(NOW)


@st.composite
def registries(draw: st.DrawFn) -> list[Problem]:
    n = draw(st.integers(1, 4))
    role = st.sampled_from([None, *PromotionRole])
    of = runs(n, **{f"r{i}": draw(role) for i in range(n)})
    one_flag = st.builds(
        flag,
        st.sampled_from([run.id for run in of]),
        st.sampled_from(["F3", "F4", "F12"]),
        st.sampled_from(list("abcdefgh")),
        st.sampled_from([CRITICAL, *SEVERITIES]),
        st.sampled_from([FlagState.OPEN, FlagState.OPEN, *FlagState]),
    )
    flags = draw(
        st.lists(
            one_flag,
            min_size=8,
            max_size=40,
            unique_by=lambda f: (f.run_id, f.rule, f.class_label),
        )
    )
    return grouped(of, *flags)


@given(registries())
def test_nothing_critical_on_a_champion_is_merged_away(problems: list[Problem]) -> None:
    lines = folded(in_order(problems, None), most=1)
    shown = [line.problem for line in lines]
    hidden = [problem for line in lines for problem in line.folded]
    assert sorted(p.number for p in [*shown, *hidden]) == sorted(p.number for p in problems)
    for problem in problems:
        champions = {run.id for run in problem.runs if run.role is PromotionRole.CHAMPION}
        open_there = [
            f
            for f in problem.flags
            if f.run_id in champions
            and f.status.severity is CRITICAL
            and f.status.state is FlagState.OPEN
        ]
        if open_there:
            assert problem in shown
            assert problem.state is ProblemState.OPEN
            assert problem.severity is CRITICAL
            assert not problem.is_low


def test_many_classes_of_one_cause_share_a_line() -> None:
    flags = [flag("r0", label=f"class {i:02d}") for i in range(12)]
    lines = folded(in_order(grouped(runs(1), *flags), None))
    assert [len(line.folded) for line in lines] == [0] * MOST_CLASSES + [12 - MOST_CLASSES - 1]
    champion = folded(in_order(grouped(runs(1, r0=PromotionRole.CHAMPION), *flags), None))
    assert len(champion) == 12
    assert Cause.MISSED in {line.problem.key.cause for line in champion}
