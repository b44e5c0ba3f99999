"""What scores would decide under costs, and keeping that as a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.texts import CostName
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.records.decision import decisions_at
from offdiag.records.runs.curve import curves_document
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.curves import browse_curves
from offdiag.services.decisions.rules import (
    CHOSEN_HERE,
    Choice,
    Chosen,
    NoDecision,
    cost_basis_of,
    decisions_of,
    default_costs,
    requested_cost_basis,
    save_choice,
    try_rule,
)
from offdiag.services.verification.verify import verify
from offdiag.services.what_if.runs import Question
from offdiag.store.database import Database
from support.dashboard import counted_statements, log_counts
from support.filled_once import filled_once
from support.logging_runs import correct_labels, counts_of, log, work_off
from support.optional import present

LABELS = ["well", "ill"]
VISITS = {"well": {"well": 0, "ill": 1}, "ill": {"well": 10, "ill": 0}}
THREE = ["a", "b", "c"]
DEAR_B = {
    "a": {"a": 0, "b": 1, "c": 1},
    "b": {"a": 9, "b": 0, "c": 9},
    "c": {"a": 1, "b": 1, "c": 0},
}
N = 400


def log_clinic(database: Database, **given: Any) -> str:
    """A run that flags from 0.5 on; the true probability of being ill is its score."""
    rng = np.random.default_rng(8)
    p = rng.beta(1, 4, N).astype(np.float32)
    is_ill = rng.random(N) < p
    cases: dict[str, Any] = {
        "y_true": np.where(is_ill, "ill", "well"),
        "y_pred": np.where(p >= 0.5, "ill", "well"),
        "y_score": p,
        "labels": LABELS,
        "positive_label": "ill",
        "dataset": "clinic",
        "sample_ids": [f"s{place:03}" for place in range(N)],
    }
    run = log(database, **(cases | given))
    work_off(database)
    return run.id


clinic = filled_once(log_clinic)
"""The run as it is, in an empty registry."""


def log_three(database: Database, *, scale: float = 1.0) -> tuple[str, NDArray[np.float32]]:
    rng = np.random.default_rng(4)
    p = rng.dirichlet([1, 1, 1], N).astype(np.float32)
    actual = [THREE[rng.choice(3, p=row / row.sum())] for row in p.astype(np.float64)]
    run = log(
        database,
        y_true=actual,
        y_pred=[THREE[code] for code in p.argmax(axis=1)],
        y_score=p * np.float32(scale),
        labels=THREE,
        dataset="letters",
    )
    work_off(database)
    return run.id, p


def add_visits(database: Database) -> None:
    add_costs(database, project="default", dataset="clinic", name="visits", weights=VISITS)


def test_thresholds_in_documents_flag_the_scores_of_the_user_as_they_say(
    sqlite_database: Database,
) -> None:
    """Scores are stored in single precision, where 0.6 is more than in double precision."""
    scores = np.random.default_rng(8).beta(1, 4, N).round(1)
    run = log_clinic(sqlite_database, y_score=scores)
    add_visits(sqlite_database)

    found = decisions_of(sqlite_database, run, Question(costs="visits"))
    costs = decisions_at(found, url="").thresholds
    (curve,) = (
        each.points for each in curves_document(browse_curves(sqlite_database, run)).curves
    )

    assert costs is not None
    listed = [
        (each.threshold, each.flagged) for each in costs.points if each.threshold is not None
    ]
    reported = np.add(curve.true_positives, curve.false_positives).tolist()
    listed += zip(curve.thresholds, reported, strict=True)
    cost_basis = requested_cost_basis(sqlite_database, run, Question(costs="visits"))
    trial = try_rule(sqlite_database, run, cost_basis, Choice(Chosen.CHEAPEST))
    flagged_by_it = trial.change.joint.second_matrix.counts[:, 1].sum()
    listed.append((trial.recipe["threshold"], int(flagged_by_it)))
    assert len(listed) > 10
    for kept in (scores, scores.astype(np.float32)):
        assert [np.count_nonzero(kept >= np.float64(at)) for at, _ in listed] == [
            flagged for _, flagged in listed
        ]


def test_the_cheapest_threshold_stands_beside_the_one_in_use_and_the_implied_one(
    database: Database,
) -> None:
    run = clinic(database)
    add_visits(database)

    found = decisions_of(database, run, Question(costs="visits")).thresholds

    assert found is not None
    assert found.implied == pytest.approx(1 / 11)
    assert found.best is not None
    assert found.at_implied is not None
    best, in_use, at_implied = (
        cost.value or 0.0 for cost in (found.best.cost, found.in_use, found.at_implied.cost)
    )
    assert best == pytest.approx(found.means.min())
    assert best < in_use
    assert found.points.thresholds[present(found.in_use_place)] >= 0.5
    assert present(found.crossfitted).mean_cost > best
    assert present(found.change).difference.value == pytest.approx(best - in_use)
    # The scores are the true probabilities, so what the costs imply is hardly dearer.
    assert at_implied < 1.1 * present(found.crossfitted).mean_cost


def test_class_shares_move_the_implied_threshold_and_every_cost(database: Database) -> None:
    run = clinic(database)
    add_visits(database)

    rare = decisions_of(database, run, Question(costs="visits", shares="ill:0.01")).thresholds

    assert rare is not None
    assert present(rare.implied) > 0.5
    assert rare.nothing == pytest.approx(0.1)
    assert rare.everything == pytest.approx(0.99)


def test_scores_of_both_classes_are_flagged_by_the_rarer_one_or_the_stated_one(
    database: Database,
) -> None:
    p = np.array([0.9, 0.2, 0.4, 0.1, 0.3], dtype=np.float32)
    run = log_clinic(
        database,
        y_true=["ill", "well", "well", "well", "ill"],
        y_pred=["ill", "well", "well", "well", "well"],
        y_score=np.stack([1 - p, p], axis=1),
        positive_label=None,
        sample_ids=None,
    )

    by_default = decisions_of(database, run, Question()).thresholds
    stated = decisions_of(database, run, Question(), positive="well").thresholds

    assert (present(by_default).positive, present(stated).positive) == (1, 0)
    assert min(present(by_default).means) == pytest.approx(min(present(stated).means))


def test_more_classes_get_the_answer_that_is_cheapest_to_expect(database: Database) -> None:
    run, p = log_three(database)
    add_costs(database, project="default", dataset="letters", name="dear b", weights=DEAR_B)

    found = decisions_of(database, run, Question(costs="dear b")).change

    weights = np.array([[DEAR_B[a][j] for j in THREE] for a in THREE], dtype=float)
    expected = (p.astype(np.float64) @ weights).argmin(axis=1)
    assert found is not None
    assert (
        found.joint.second_matrix.predicted.tolist() == np.bincount(expected, minlength=3).tolist()
    )
    assert found.joint.first_matrix.predicted.tolist() == np.bincount(p.argmax(axis=1)).tolist()
    assert (found.difference.ci_high or 0) < 0
    recall = {each.label: each.difference.value or 0 for each in found.classes}
    assert recall["b"] > 0.2
    assert recall["a"] < 0


def test_scores_that_are_no_probabilities_say_why(database: Database) -> None:
    run, _ = log_three(database, scale=0.5)

    found = decisions_of(database, run, Question())

    assert found.missing is NoDecision.NO_PROBABILITIES
    assert "those of a sample add up to 0.5" in present(found.problem)


def test_without_scores_there_is_nothing_to_decide(database: Database) -> None:
    run = log_clinic(database, y_score=None)
    matrix = log_counts(database, [[3, 1], [2, 9]], LABELS)

    for each in (run, matrix):
        assert decisions_of(database, each, Question()).missing is NoDecision.NO_SCORES
    with pytest.raises(InvalidInput, match="no scores"):
        try_rule(
            database, run, requested_cost_basis(database, run, Question()), Choice(Chosen.EXPECTED)
        )


def test_what_is_saved_is_what_was_shown(database: Database) -> None:
    run = clinic(database)
    add_visits(database)
    question = Question(costs="visits", edits="ill>well:20")
    shown = decisions_of(database, run, question).thresholds
    cost_basis = requested_cost_basis(database, run, question)

    saved = save_choice(
        database, run, cost_basis, Choice(Chosen.CHEAPEST), name="cheapest", author="ana"
    )

    assert shown is not None
    assert shown.change is not None
    assert counts_of(database, saved.id) == shown.change.joint.second_matrix.counts.tolist()
    assert dict(present(saved.derivation).recipe) == {
        "rule": "threshold",
        "positive": "ill",
        "threshold": shown.best_threshold,
        "costs": "visits@1",
        "changes": "ill>well:20",
        "chosen": CHOSEN_HERE,
    }
    again = save_choice(
        database, run, cost_basis, Choice(Chosen.CHEAPEST), name="again", author=None
    )
    assert (again.id, again.name) == (saved.id, "cheapest")
    assert [each.id for each in decisions_of(database, run, question).derived] == [saved.id]
    assert decisions_of(database, saved.id, question).missing is NoDecision.NO_SCORES
    assert verify(database).findings == ()


def test_a_corrected_truth_reaches_derived_runs(database: Database) -> None:
    run = clinic(database)
    cost_basis = requested_cost_basis(database, run, Question(costs="@0-1"))
    saved = save_choice(
        database, run, cost_basis, Choice(Chosen.STATED, 0.3), name="from 0.3 on", author=None
    )
    before = counts_of(database, saved.id)
    trial = try_rule(database, run, cost_basis, Choice(Chosen.STATED, 0.3))
    assert trial.change.joint.second_matrix.counts.tolist() == before

    correct_labels(database, {f"s{place:03}": "ill" for place in range(20)}, dataset="clinic")
    after = counts_of(database, saved.id)

    assert after != before
    assert sum(after[1]) > sum(before[1])
    corrected = try_rule(database, run, cost_basis, Choice(Chosen.STATED, 0.3))
    assert corrected.change.joint.second_matrix.counts.tolist() == after
    assert verify(database).findings == ()


def test_without_cases_of_the_class_the_cheapest_is_to_flag_nothing(
    database: Database,
) -> None:
    run = log_clinic(database, y_true=["well"] * N)
    add_visits(database)

    found = decisions_of(database, run, Question(costs="visits", shares="ill:0.1"))

    assert len(found.scenario.problems) == 1
    assert found.thresholds is not None
    assert found.thresholds.best is not None
    assert found.thresholds.best_threshold is None
    assert (found.thresholds.nothing, found.thresholds.everything) == (0.0, 1.0)
    assert found.thresholds.crossfitted is None


def test_a_threshold_for_three_classes_is_refused(database: Database) -> None:
    run, _ = log_three(database)
    cost_basis = requested_cost_basis(database, run, Question())

    with pytest.raises(InvalidInput, match="3 classes"):
        try_rule(database, run, cost_basis, Choice(Chosen.CHEAPEST))


def test_costs_of_ones_own_leave_no_name_behind(database: Database) -> None:
    run = clinic(database)
    costs = cost_matrix([[0, 1], [3, 0]], labels=LabelSet.declared(LABELS))

    trial = try_rule(database, run, cost_basis_of(costs, None, None), Choice(Chosen.EXPECTED))

    assert "costs" not in trial.recipe
    assert trial.recipe["weights"]["ill"] == {"well": 3.0, "ill": 0.0}


def test_the_costs_of_the_dataset_are_the_default(database: Database) -> None:
    run = clinic(database)
    add_visits(database)
    with pytest.raises(Conflict, match="has no default cost matrix"):
        default_costs(database, run, None)
    set_default_costs(database, project="default", dataset="clinic", wanted=CostName("visits"))
    work_off(database)

    assert default_costs(database, run, None)[1] == "visits@1"


def test_answers_take_six_statements_at_most(database: Database) -> None:
    two, (three, _) = clinic(database), log_three(database)
    add_visits(database)
    counted = []

    for run, costs in ((two, "visits"), (three, "@0-1")):
        with counted_statements() as statements:
            decisions_of(database, run, Question(costs=costs))
        counted.append(len(statements))

    assert max(counted) <= 6, counted
