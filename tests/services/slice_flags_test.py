"""Flags on slices: raised with the evaluation, one problem for each class and slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from sqlalchemy import text

from offdiag.domain.runs import RunFacts
from offdiag.flags.lifecycle import Action, FlagState
from offdiag.flags.problems import Cause, Problem, ProblemState
from offdiag.inputs.slice_columns import GivenSlices
from offdiag.services.evaluation.recompute import recompute_stale
from offdiag.services.evaluation.slice_counts import slice_counts_of
from offdiag.services.flags import triage
from offdiag.services.flags.rules import rules_in_force
from offdiag.services.flags.triage import flags_concerned
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.truth.versions import add_slices
from offdiag.store.database import Database
from offdiag.store.flags import flags_of_run
from offdiag.store.problem_values import best_run_on, measure
from offdiag.store.problems import find_problems
from support.gates import judged
from support.logging_runs import evaluate, log, run_step, work_off

SITES = np.repeat(["w", "x", "y", "z"], 200)
ACTUAL = np.tile(["ill", "well"], 400)


def answers(failing: Sequence[str]) -> list[str]:
    """Every tenth answer is wrong, and seven of ten of "ill" at failing sites."""
    found = []
    for place, (site, actual) in enumerate(zip(SITES, ACTUAL, strict=True)):
        tenth = place // 2 % 10
        is_wrong = tenth < 7 if site in failing and actual == "ill" else tenth < 1
        found.append({"ill": "well", "well": "ill"}[actual] if is_wrong else str(actual))
    return found


def logged(
    database: Database, failing: Sequence[str] = ("z",), *, with_slices: bool = True
) -> str:
    run = log(
        database,
        y_true=ACTUAL,
        y_pred=answers(failing),
        sample_ids=np.arange(len(ACTUAL)),
        slices={"site": SITES} if with_slices else None,
        facts=RunFacts(name="run", model="vit"),
    )
    evaluate(database, run.id)
    return run.id


def raised(database: Database, run_id: str) -> Mapping[str | None, str]:
    """State of the flags on slices, by slice."""
    with database.read() as session:
        return {
            flag.content.slice: flag.status.state.value
            for flag in flags_of_run(session, run_id)
            if flag.content.rule == "F16"
        }


def problems(database: Database) -> dict[str, Problem]:
    with database.read() as session:
        found = find_problems(session, now=database.clock()).problems
    return {each.key.slice: each for each in found if each.key.cause is Cause.SLICE}


def test_a_class_missed_on_a_slice_is_a_problem_with_its_numbers(database: Database) -> None:
    first, second = logged(database), logged(database)

    assert raised(database, first) == raised(database, second) == {"site=z": "open"}
    (problem,) = problems(database).values()
    assert (problem.key.class_label, problem.key.model) == ("ill", "vit")
    assert {flag.run_id for flag in problem.flags} == {first, second}
    with database.read() as session:
        found = find_problems(session, now=database.clock())
        evidence = measure(session, found)[problem.number].evidence
    assert (evidence["correct"], evidence["cases"]) == (30, 100)
    assert (evidence["rest_correct"], evidence["rest_cases"]) == (270, 300)


@pytest.mark.both_databases
def test_columns_that_come_with_a_later_run_raise_flags_on_earlier_ones(
    database: Database,
) -> None:
    earlier = logged(database, with_slices=False)
    assert raised(database, earlier) == {}

    later = logged(database)
    work_off(database)

    assert raised(database, earlier) == raised(database, later) == {"site=z": "open"}
    logged(database)
    assert run_step(database) is None


@pytest.mark.both_databases
def test_a_problem_on_a_slice_has_a_trend_and_a_best_run(database: Database) -> None:
    logged(database, [])
    first = logged(database)
    better = log(
        database,
        y_true=ACTUAL,
        y_pred=ACTUAL,
        sample_ids=np.arange(len(ACTUAL)),
        facts=RunFacts(name="other", model="cnn"),
    ).id
    evaluate(database, better)

    (problem,) = problems(database).values()
    with database.read() as session:
        found = find_problems(session, now=database.clock())
        measured = measure(session, found)[problem.number]
        best = best_run_on(session, problem, found, measured)

    assert measured.trend == (0.9, 0.3)
    assert measured.run_id == first
    assert best is not None
    assert (best.id, best.name, best.value.value) == (better, "other", 1.0)
    assert best.value.ci_low == pytest.approx(0.963, abs=0.001)


def test_another_slice_of_the_same_class_is_another_problem(database: Database) -> None:
    logged(database, ["z"])
    ids = flags_concerned(database, [problems(database)["site=z"].number], "dismiss")
    triage.decide_flags(
        database, list(ids), Action.DISMISS, reason="that scanner is gone", author="ann"
    )

    logged(database, ["y", "z"])

    found = problems(database)
    assert found["site=z"].state is ProblemState.DISMISSED
    assert found["site=y"].state is ProblemState.OPEN


def test_adding_slice_columns_raises_flags_of_runs_that_are_there(database: Database) -> None:
    run = logged(database, with_slices=False)
    assert raised(database, run) == {}

    add_slices(
        database,
        project="default",
        dataset="holdout",
        given=GivenSlices({"site": SITES}, ids=np.arange(len(ACTUAL))),
    )
    work_off(database)

    assert raised(database, run) == {"site=z": FlagState.OPEN.value}


@pytest.mark.both_databases
def test_flags_on_added_columns_are_raised_if_their_job_is_lost(database: Database) -> None:
    run, other = (logged(database, failing, with_slices=False) for failing in (["z"], []))
    add_slices(
        database,
        project="default",
        dataset="holdout",
        given=GivenSlices({"site": SITES}, ids=np.arange(len(ACTUAL))),
    )
    with database.write() as session:
        lost = session.execute(text("DELETE FROM work"))
    slice_counts_of(database, run)  # As pages do.

    reconciled = reconcile(database, RetryPolicy())
    work_off(database)

    assert (lost.rowcount, reconciled.submitted) == (2, 2)  # type: ignore[attr-defined]
    assert (raised(database, run), raised(database, other)) == ({"site=z": "open"}, {})
    assert reconcile(database, RetryPolicy()).submitted == 0


def test_a_gate_refuses_a_run_that_is_flagged_on_a_slice(database: Database) -> None:
    failing, passing = logged(database), logged(database, [])

    for run, condition, passes in (
        (failing, "no-flag F16", False),
        (failing, "no-flag F16[ill]", False),
        (failing, "no-flag F16[well]", True),
        (passing, "no-flag F16", True),
    ):
        found = judged(database, run, condition)

        assert found.passed is passes


def test_flags_on_slices_close_where_small_groups_are_hidden_later(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, before = logged(database), rules_in_force().digest

    monkeypatch.setenv("OFFDIAG_SLICES__SUPPRESS_BELOW", "20")
    recompute_stale(database)
    work_off(database)

    assert rules_in_force().digest != before
    assert raised(database, run) == {}
    monkeypatch.delenv("OFFDIAG_SLICES__SUPPRESS_BELOW")
    assert raised(database, run) == {"site=z": FlagState.CLOSED.value}
