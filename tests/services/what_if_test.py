"""What runs would cost under other prices."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from offdiag.domain.texts import CostName
from offdiag.errors import Conflict, NotFound
from offdiag.metrics.costs.matrix import CostOddity
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.what_if.costs import WhatIf, ask
from offdiag.services.what_if.runs import MOST_RUNS, Preset, Question
from offdiag.store.database import Database
from support.dashboard import counted_statements, log_counts
from support.filled_once import filled_once
from support.logging_runs import correct_labels, log, upload_matrix, work_off
from support.optional import present

LABELS = ("ill", "well")
CAREFUL = [[18, 2], [60, 920]]
SLOPPY = [[8, 12], [5, 975]]
VISITS = {"ill": {"ill": 0, "well": 20}, "well": {"ill": 1, "well": 0}}


@filled_once
def log_two(database: Database) -> tuple[str, str]:
    runs = tuple(
        log_counts(database, counts, LABELS, name=name, evaluated=False)
        for name, counts in (("careful", CAREFUL), ("sloppy", SLOPPY))
    )
    work_off(database)
    return runs[0], runs[1]


def add_visits(database: Database) -> None:
    add_costs(database, project="default", dataset="holdout", name="visits", weights=VISITS)


def means(found: WhatIf) -> list[float | None]:
    return [each.mean.value for each in found.answers]


def test_without_costs_errors_count_alike_and_the_choice_flips_where_runs_cost_the_same(
    database: Database,
) -> None:
    runs = log_two(database)

    found = ask(database, runs, Question())

    assert found.scenario.base.preset is Preset.ZERO_ONE
    assert means(found) == [0.062, 0.017]
    assert [each.rank for each in found.answers] == [2, 1]
    # Ten fewer misses against 55 more false alarms.
    assert [stretch.cheapest for stretch in present(found.choice).stretches] == [(1,), (0,)]
    assert present(found.choice).stretches[0].high == pytest.approx(5.5)


def test_changed_costs_change_the_answer_whose_difference_is_paired(database: Database) -> None:
    runs = log_two(database)

    found = ask(database, runs, Question(costs="@0-1", edits="ill>well:20"))

    assert means(found) == [pytest.approx(0.1), pytest.approx(0.245)]
    assert found.cheapest == 0
    behind = found.answers[1].place.behind
    assert behind.value == pytest.approx(0.145)
    assert present(behind.ci_low) < 0.145
    assert behind.ci_method == "simultaneous, slopes at the pooled matrix"
    assert found.answers[0].place.behind.value == 0.0
    assert LABELS[present(found.constant).code] == "well"
    assert present(found.constant).mean == pytest.approx(0.4)
    assert found.answers[0].ratio.value == pytest.approx(0.25)


@pytest.mark.both_databases
def test_the_default_costs_of_the_dataset_are_where_questions_start(database: Database) -> None:
    runs = log_two(database)
    add_visits(database)
    set_default_costs(database, project="default", dataset="holdout", wanted=CostName("visits"))

    found = ask(database, runs, Question())

    assert found.scenario.base.reference == "visits@1"
    assert means(found) == [pytest.approx(0.1), pytest.approx(0.245)]
    assert [(each.rank, each.rank_by_accuracy) for each in found.answers] == [(1, 2), (2, 1)]


def test_a_matrix_without_predictions_is_not_paired(database: Database) -> None:
    runs = log_two(database)
    uploaded = upload_matrix(database, SLOPPY, LABELS, name="uploaded", dataset="holdout")
    work_off(database)

    found = ask(database, (runs[0], uploaded.id), Question())

    assert found.answers[0].place.verdict == "not paired"
    assert found.answers[0].place.behind.value == pytest.approx(0.045)
    assert found.answers[0].place.behind.ci_method is None


def test_shares_merged_classes_levers_and_odd_costs_are_taken_as_typed(
    database: Database,
) -> None:
    runs = log_two(database)

    weighed = ask(database, runs, Question(edits="ill>well:20", shares="ill:0.1"))
    assert weighed.answers[0].mean.value == pytest.approx(0.1 * 2 + 0.9 * 60 / 980)
    assert present(weighed.scenario.prevalence).tolist() == pytest.approx([0.1, 0.9])

    merged = ask(database, runs, Question(merged="ill|well"))
    assert means(merged) == [0.0, 0.0]
    assert [each.accuracy for each in merged.answers] == [1.0, 1.0]

    scenario = ask(database, runs, Question(lever="well>*")).scenario
    assert scenario.lever_is_stated
    assert present(scenario.lever).predicted is None

    odd = ask(database, runs, Question(edits="well>well:1"))
    assert [warning.oddity for warning in odd.warnings] == [
        CostOddity.PREDICTION_DOES_NOT_MATTER,
        CostOddity.CORRECT_PREDICTION_COSTS,
    ]


def test_what_cannot_be_meant_is_named_and_left_out(database: Database) -> None:
    runs = log_two(database)
    cases: list[tuple[Question, str]] = [
        (
            Question(edits="ill>flu:3"),
            "“ill>flu:3” in set= cannot be used: there is no class flu.",
        ),
        (Question(edits="*>*:x0"), "The changes cannot be used: all costs are 0."),
        (
            Question(edits="ill>*:x1e15,ill|well>*:x10"),
            "The changes cannot be used: the costs range",
        ),
        (
            Question(shares="ill:2"),
            "“ill:2” in share= cannot be used: a share is between 0 and 1.",
        ),
        (
            Question(shares="ill:0.9,well:0.9"),
            "The class shares cannot be used: the shares add up to 1.8.",
        ),
        (
            Question(merged="ill"),
            "“ill” in merge= cannot be used: a group is written as class|class.",
        ),
        (Question(lever="ill>ill"), "“ill>ill” names no cost that can be moved."),
        (Question(lever="flu"), "“flu” names no cost that can be moved."),
    ]
    for question, problem in cases:
        found = ask(database, runs, question)

        assert len(found.scenario.problems) == 1
        assert found.scenario.problems[0].startswith(problem)
        assert means(found) == [0.062, 0.017]


def test_runs_that_cannot_be_shown_are_named_with_the_reason(database: Database) -> None:
    runs = log_two(database)
    elsewhere = log_counts(database, CAREFUL, LABELS, dataset="other")
    waiting = log_counts(database, CAREFUL, LABELS, evaluated=False)

    found = ask(database, (runs[0], elsewhere, waiting, "r_none"), Question())

    assert [each.run.id for each in found.answers] == [runs[0]]
    assert dict(found.frame.left_out) == {
        elsewhere: "it is a run on other, not on holdout",
        waiting: "it does not exist or has not been evaluated",
        "r_none": "it does not exist or has not been evaluated",
    }


def test_runs_on_other_labels_are_left_out(database: Database) -> None:
    without = upload_matrix(
        database, [[1, 1], [1, 2]], LABELS, name="unlabelled", dataset="holdout"
    ).id
    predicted = ["ill", "ill", "well", "ill", "well"]
    actual = ["ill", "ill", "ill", "well", "well"]
    run = log(database, y_true=actual, y_pred=predicted, labels=LABELS).id
    old = upload_matrix(database, [[3, 0], [0, 2]], LABELS, name="old", dataset="holdout").id
    work_off(database)
    asked = old, run, without
    before = ask(database, asked, Question())
    correct_labels(database, {3: "ill"})
    work_off(database)

    found = ask(database, asked, Question())
    alone = ask(database, (old,), Question())

    assert before.frame.left_out == ()
    assert [each.run.id for each in found.answers] == [run, without]
    assert found.frame.left_out == ((old, "it was evaluated on labels v1, not v2"),)
    assert [each.run.id for each in alone.answers] == [old]


def test_unknown_runs_and_costs_are_refused(database: Database) -> None:
    runs = log_two(database)

    with pytest.raises(NotFound, match="none of these runs"):
        ask(database, ("r_none",), Question())
    with pytest.raises(NotFound, match="cost matrix"):
        ask(database, runs, Question(costs="visits@3"))


def test_costs_of_other_classes_are_refused(database: Database) -> None:
    runs = log_two(database)
    log_counts(database, CAREFUL, ("yes", "no"), dataset="other")
    weights = {"yes": {"yes": 0, "no": 2}, "no": {"yes": 1, "no": 0}}
    add_costs(database, project="default", dataset="other", name="calls", weights=weights)

    with pytest.raises(Conflict, match="is for the classes"):
        ask(database, runs, Question(costs="calls"))


def test_only_so_many_runs_are_compared_at_once_in_six_statements(database: Database) -> None:
    runs = [
        log_counts(database, SLOPPY, LABELS, name=str(n), evaluated=False)
        for n in range(MOST_RUNS + 1)
    ]
    work_off(database)
    add_visits(database)

    counted = []
    for shown in (runs[:2], runs):
        with counted_statements() as statements:
            found = ask(database, shown, Question(costs="visits"))
        counted.append(len(statements))

    assert counted == [6, 6]
    assert len(found.answers) == MOST_RUNS
    assert [run_id for run_id, _ in found.frame.left_out] == runs[MOST_RUNS:]


def test_by_prevalence_runs_rank_as_by_balanced_accuracy(database: Database) -> None:
    counts = [[[18, 2], [60, 920]], [[8, 12], [5, 975]], [[12, 8], [200, 780]]]
    runs = [
        log_counts(database, each, LABELS, name=str(n), evaluated=False)
        for n, each in enumerate(counts)
    ]
    work_off(database)
    balanced = [float(np.mean(np.diag(each) / np.sum(each, axis=1))) for each in counts]

    for order in permutations(range(3)):
        found = ask(database, [runs[n] for n in order], Question(costs="@prevalence"))

        by_balanced = sorted(order, key=lambda n: -balanced[n])
        ranked = sorted(found.answers, key=lambda each: each.rank or 0)
        assert [each.run.id for each in ranked] == [runs[n] for n in by_balanced]
