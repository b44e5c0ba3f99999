"""Problems of stored runs: numbered with their flags, settled through them, few in a long list."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from offdiag.domain.runs import PromotionRole, RunFacts
from offdiag.errors import Conflict, NotFound
from offdiag.flags.lifecycle import Action, FlagState
from offdiag.flags.problems import Cause, Hit, Problem, ProblemState, folded
from offdiag.flags.verdict import Severity
from offdiag.records.problem import chosen_problems
from offdiag.services.flags import triage
from offdiag.services.flags.triage import flags_concerned
from offdiag.services.ingest.batch import GivenMatrix
from offdiag.services.ingest.log_counts import log_matrix
from offdiag.services.jobs.submit import submit_evaluation
from offdiag.store.database import Database
from offdiag.store.problem_values import best_run_on, measure
from offdiag.store.problems import (
    FoundProblems,
    find_problems,
    number_problems,
    problem_of_flag,
    unresolved_problems,
)
from offdiag.store.promotions import add_promotion
from support.dashboard import counted_statements
from support.logging_runs import log, work_off
from support.months import Months, fill_months
from support.once_for_all import filled_for_all

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

BAD, GOOD = [[190, 10], [19, 1]], [[195, 5], [1, 19]]


def upload(database: Database, matrix: list[list[int]], name: str, model: str = "vit") -> str:
    run = log_matrix(
        database,
        facts=RunFacts(name=name, model=model),
        dataset="holdout",
        given=GivenMatrix(matrix, "actual_rows", ["no", "yes"]),
    )
    work_off(database)
    return run.id


def read(database: Database) -> FoundProblems:
    with database.read() as session:
        return find_problems(session, now=database.clock())


def missed(database: Database, model: str = "vit") -> Problem:
    (found,) = [
        each
        for each in read(database).problems
        if (each.key.cause, each.key.class_label, each.key.model) == (Cause.MISSED, "yes", model)
    ]
    return found


def test_runs_of_a_model_share_a_problem_with_a_lasting_number(database: Database) -> None:
    upload(database, BAD, "one")
    first = missed(database)
    upload(database, BAD, "two")
    upload(database, BAD, "other", model="swin")
    for n in range(3):
        upload(database, GOOD, f"good {n}")
    closed = missed(database)
    upload(database, BAD, "again")
    again = missed(database)

    assert {closed.number, again.number} == {first.number}
    assert missed(database, "swin").number != first.number
    states = [each.state for each in (first, closed, again)]
    assert states == [ProblemState.OPEN, ProblemState.CLOSED, ProblemState.OPEN]
    assert (len(again.affected), len(again.runs)) == (3, 6)
    with database.read() as session:
        assert {problem_of_flag(session, flag.id) for flag in again.flags} == {first.number}


@pytest.mark.both_databases
def test_what_was_measured_comes_with_its_course(database: Database) -> None:
    upload(database, GOOD, "one")
    upload(database, BAD, "two")
    found = read(database)
    with database.read() as session, counted_statements() as statements:
        known = find_problems(session, now=database.clock())
        measured = measure(session, known)[missed(database).number]

    assert (measured.evidence["correct"], measured.evidence["actual"]) == (1, 20)
    assert measured.trend == (0.95, 0.05)
    assert len(found.problems) == len(known.problems)
    # Those of `missed` are counted as well.
    assert len(statements) <= 10, statements


@pytest.mark.both_databases
def test_a_decision_holds_for_all_flags_of_a_problem(database: Database) -> None:
    for name in ("one", "two"):
        upload(database, BAD, name)
    problem = missed(database)
    with database.read() as session:
        before = unresolved_problems(session, now=database.clock())

    ids = flags_concerned(database, [problem.number], "dismiss")
    triage.decide_flags(database, list(ids), Action.DISMISS, reason="known", author="ana")

    settled = missed(database)
    assert set(ids) == {flag.id for flag in problem.flags}
    assert {flag.status.state for flag in settled.flags} == {FlagState.DISMISSED}
    assert settled.state is ProblemState.DISMISSED
    with database.read() as session:
        after = unresolved_problems(session, now=database.clock())
    assert {each.number for each in before} - {each.number for each in after} == {problem.number}
    assert flags_concerned(database, [problem.number], "dismiss") == {}
    assert set(flags_concerned(database, [problem.number], "reopen")) == set(ids)
    # A later run that is no worse does not open it again.
    upload(database, BAD, "three")
    assert missed(database).state is ProblemState.DISMISSED


def test_a_problem_that_is_closed_or_unknown_is_not_settled(database: Database) -> None:
    upload(database, BAD, "one")
    for n in range(3):
        upload(database, GOOD, f"good {n}")

    with pytest.raises(Conflict, match="is closed"):
        flags_concerned(database, [missed(database).number], "dismiss")
    with pytest.raises(NotFound, match="P-999"):
        flags_concerned(database, [999], "dismiss")


def test_the_champion_is_looked_at_however_old_it_is(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offdiag.store.problems.MOST_RUNS", 3)
    champion = upload(database, BAD, "champion")
    for n in range(4):
        upload(database, GOOD, f"good {n}")
    assert Cause.MISSED not in {each.key.cause for each in read(database).problems}
    with database.write() as session:
        add_promotion(
            session,
            dataset_id=1,
            role=PromotionRole.CHAMPION,
            run=(champion, "champion"),
            reason="shipped",
            author="ana",
            now=database.clock(),
        )

    found = missed(database)

    assert (found.hits, found.state) == ((Hit.CHAMPION,), ProblemState.OPEN)
    assert (found.severity, len(found.runs)) == (Severity.CRITICAL, 4)


def test_numbering_again_numbers_nothing_twice(database: Database) -> None:
    run_id = upload(database, BAD, "one")
    before = {problem.number: problem.key for problem in read(database).problems}

    with database.write() as session:
        submit_evaluation(session, run_id)
        number_problems(session)
        number_problems(session, run_id=run_id)
    work_off(database)

    assert {problem.number: problem.key for problem in read(database).problems} == before


def test_the_trend_of_a_problem_is_of_weighted_values_or_of_none(database: Database) -> None:
    actual = ["no"] * 200 + ["yes"] * 20
    for name, n_found, weight in (
        ("plain", 10, None),
        ("survey", 1, [1.0] * 200 + [0.5] * 20),
        ("other survey", 8, [1.0] * 200 + [0.5] * 20),
        ("newest", 1, None),
    ):
        predicted = ["no"] * (220 - n_found) + ["yes"] * n_found
        facts = RunFacts(name=name, model="vit")
        given = {"y_true": actual, "y_pred": predicted, "sample_weight": weight}
        log(database, dataset="holdout", facts=facts, sample_ids=range(220), **given)
        work_off(database)

    found = read(database)
    problem = missed(database)
    with database.read() as session:
        shown = measure(session, found)[problem.number]
        asked = measure(session, found, run_id=problem.runs[2].id)[problem.number]
        best = best_run_on(session, problem, found, shown)
        best_of_asked = best_run_on(session, problem, found, asked)

    assert shown.trend == (0.5, None, None, 0.05)
    assert asked.trend == (None, 0.05, 0.4, None)
    assert best is not None
    assert best.name == "plain"
    assert best_of_asked is None


def test_a_long_history_has_few_lines(
    sqlite_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from registry_336 import MOST_LINES, inbox_lines

    filled_for_all(tmp_path_factory, sqlite_database, fill_months, Months)
    n_critical = sum(each.must_show for each in read(sqlite_database).problems)

    assert len(read(sqlite_database).problems) > MOST_LINES
    assert n_critical == 0
    # Four of eight datasets may take half of the lines.
    assert 4 <= inbox_lines(sqlite_database) <= MOST_LINES // 2

    worst = max(
        (each for each in read(sqlite_database).problems if each.key.cause is Cause.MISSED),
        key=lambda each: each.severity.rank,
    )
    with sqlite_database.write() as session:
        add_promotion(
            session,
            dataset_id=worst.key.dataset_id,
            role=PromotionRole.CHAMPION,
            run=(worst.affected[0].id, worst.affected[0].name),
            reason="shipped",
            author="ana",
            now=sqlite_database.clock(),
        )
    with_champion = read(sqlite_database)
    critical = {each.number for each in with_champion.problems if each.must_show}
    lines = folded(chosen_problems(with_champion, state=None, low=False))
    assert worst.number in critical
    assert critical <= {line.problem.number for line in lines}
    assert len(lines) <= MOST_LINES // 2
