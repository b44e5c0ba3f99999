"""Gates on stored runs: paired where the samples are the same, honest where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.domain.runs import RunFacts
from offdiag.errors import InvalidInput, NotFound
from offdiag.flags.thresholds import Thresholds
from offdiag.gate.conditions import parse_condition
from offdiag.gate.evaluate_conditions import Finding
from offdiag.services.champions.promotions import approve
from offdiag.services.gates.gate import GateResult, StatedCosts, gate_matrix
from offdiag.services.ingest.batch import GivenMatrix
from offdiag.services.ingest.log_counts import log_matrix
from offdiag.services.truth.revise import revise_truth
from offdiag.stats import paired_difference
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.gates import judged
from support.logging_runs import log, work_off
from support.matrices import matrix_of

COSTS = StatedCosts({"0": {"0": 0, "1": 10}, "1": {"0": 1, "1": 0}}, "EUR")


def gate(database: Database, run: RunRecord, *texts: str, **options: Any) -> GateResult:
    work_off(database)
    return judged(database, run.id, *texts, **options)


def answers(*, right: float, seed: int) -> tuple[list[int], list[int]]:
    """200 cases of two classes, and predictions of which a share is right."""
    rng = np.random.default_rng(seed)
    actual = np.arange(200) % 2
    predicted = np.where(rng.random(200) < right, actual, 1 - actual)
    return actual.tolist(), predicted.tolist()


def log_answers(
    database: Database, *, right: float, seed: int, dataset: str = "holdout"
) -> RunRecord:
    y_true, y_pred = answers(right=right, seed=seed)
    facts = RunFacts(name=f"right {right}")
    return log(database, y_true=y_true, y_pred=y_pred, dataset=dataset, facts=facts)


def log_counts(database: Database, counts: list[list[int]], **changes: Any) -> RunRecord:
    given = {"labels": ["0", "1"], "dataset": "holdout"} | changes
    dataset = given.pop("dataset")
    matrix = GivenMatrix(counts, "actual_rows", **given)
    return log_matrix(database, facts=RunFacts(name="matrix"), dataset=dataset, given=matrix)


def measured(result: GateResult) -> list[float | None]:
    return [finding.measured for finding in result.findings]


def test_the_values_are_those_of_the_current_evaluation(database: Database) -> None:
    run = log(database)

    result = gate(database, run, "overall_accuracy>=0.6", "recall[a]>=0.9", "low(f1[b])>=0.5")

    assert measured(result)[:2] == [pytest.approx(4 / 6), 0.5]
    assert [finding.passed for finding in result.findings] == [True, False, False]
    assert not result.passed
    assert (result.run, result.baseline, result.not_paired) == (run.id, None, None)
    assert gate(database, run, "overall_accuracy>=0.6", "no-flag F1").passed
    with pytest.raises(NotFound):
        gate(database, run, "diff(mcc)>=0", baseline_id="r_missing")


def test_a_gate_names_the_champion_and_compares_with_it_where_that_is_asked(
    database: Database,
) -> None:
    first = log_answers(database, right=0.9, seed=1)
    second = log_answers(database, right=0.7, seed=2)
    condition = "diff(overall_accuracy)>=0"
    with pytest.raises(InvalidInput, match="no champion"):
        gate(database, second, condition, baseline_id="champion")
    approve(database, first.id, reason="good", author=None)

    found = gate(database, second, condition, baseline_id="champion")

    assert (found.baseline, found.champion, found.passed) == (first.id, first.id, False)
    assert found == gate(database, second, condition, baseline_id=first.id)
    of_its_own = gate(database, first, "n=200", baseline_id="champion")
    assert (of_its_own.baseline, of_its_own.champion) == (None, first.id)
    of_nothing = gate(database, second, "n=200")
    assert (of_nothing.baseline, of_nothing.champion) == (None, first.id)


def test_a_run_that_nobody_evaluated_is_evaluated_first(sqlite_database: Database) -> None:
    # In an embedded registry; elsewhere a worker does it.
    run = log(sqlite_database)

    result = judged(sqlite_database, run.id, "n=6")

    assert result.passed


def test_differences_on_the_same_cases_are_paired(database: Database) -> None:
    before = log_answers(database, right=0.9, seed=1)
    after = log_answers(database, right=0.7, seed=2)

    result = gate(
        database,
        after,
        "diff(recall[1])>=-0.5",
        "low(diff(recall[1]))>=-0.1",
        "high(diff(mcc))<0",
        baseline_id=before.id,
    )

    actual, first = answers(right=0.9, seed=1)
    _, second = answers(right=0.7, seed=2)
    expected = paired_difference(y_true=actual, pred_a=first, pred_b=second, seed=1)
    recall, mcc = expected.per_class["recall"]["1"], expected.aggregate["mcc"]
    assert measured(result) == [recall.value, recall.ci_low, mcc.ci_high]
    assert [finding.passed for finding in result.findings] == [True, False, True]
    assert (result.baseline, result.not_paired) == (before.id, None)


def test_a_class_lost_against_the_baseline_raises_a_flag(database: Database) -> None:
    before = log_answers(database, right=0.95, seed=1)
    after = log_answers(database, right=0.6, seed=2)

    result = gate(database, after, "no-flag F14", "no-flag F14[1]", baseline_id=before.id)

    assert [finding.reason for finding in result.findings] == ["flag_raised", "flag_raised"]
    assert "right 0.95" in result.findings[1].note


def test_matrices_and_runs_on_other_ground_truth_are_not_paired(database: Database) -> None:
    before = log_answers(database, right=0.9, seed=1)
    matrix = log_counts(database, [[80, 20], [10, 90]])
    other = log(database, y_true=[0, 1, 1], y_pred=[0, 1, 0])
    letters = log(database, dataset="letters")

    result = gate(
        database, matrix, "diff(recall[1])>=-0.1", "low(diff(mcc))>=-1", baseline_id=before.id
    )
    assert [finding.reason for finding in result.findings] == [None, "runs_not_paired"]
    assert result.not_paired == f"run {matrix.id} is a matrix without predictions"

    result = gate(database, other, "low(diff(mcc))>=-1", "diff(mcc)>=-1", baseline_id=before.id)
    assert result.not_paired == "the runs were evaluated on different ground truth"
    assert [finding.reason for finding in result.findings] == ["difference_other_labels"] * 2

    with pytest.raises(InvalidInput, match="classes"):
        gate(database, before, "diff(mcc)>=0", baseline_id=letters.id)


def test_no_difference_to_a_baseline_on_other_labels_passes(database: Database) -> None:
    matrix = log_counts(database, [[1, 0], [0, 1]])
    before = log_answers(database, right=0.9, seed=1)
    old = log_counts(database, [[95, 5], [5, 95]])
    revise_truth(
        database,
        project="default",
        dataset="holdout",
        labels={0: "1"},
        reason="second reading",
        author=None,
    )

    found = gate(
        *(database, before, "diff(overall_accuracy)<=1", "high(diff(recall[1]))<=1"),
        *("diff(total_cost)<=1000", "overall_accuracy>=0"),
        baseline_id=old.id,
        costs=COSTS,
    )

    reasons = [each.reason for each in found.findings]
    assert reasons == [*["difference_other_labels"] * 3, None]
    why = f"run {old.id} was evaluated on labels v1, run {before.id} on labels v2"
    assert found.not_paired == why
    with pytest.raises(InvalidInput, match="F15 is not applicable"):
        gate(database, before, "no-flag F15", baseline_id=old.id, costs=COSTS)
    without_labels = gate(database, before, "diff(mcc)<=1", baseline_id=matrix.id)
    assert without_labels.passed


def test_rules_that_compare_are_not_checked_against_a_weighted_baseline(
    database: Database,
) -> None:
    actual = [0] * 100 + [1] * 20
    cheap, accurate = (
        log(database, y_true=actual, y_pred=predicted, sample_weight=weights)
        for predicted, weights in (
            ([0] * 95 + [1] * 5 + [0] * 12 + [1] * 8, [1.0] * 120),
            ([0] * 93 + [1] * 7 + [0] * 2 + [1] * 18, None),
        )
    )
    work_off(database)

    found = gate(
        *(database, accurate, "no-flag F15", "no-flag F14", "diff(total_cost)<=1000"),
        baseline_id=cheap.id,
        costs=COSTS,
    )

    reasons = [each.reason for each in found.findings]
    assert reasons == ["weighted", "weighted", "difference_not_weighted"]


def test_costs_and_their_differences_can_be_bounded(database: Database) -> None:
    before = log_counts(database, [[90, 10], [2, 8]])
    after = log_counts(database, [[90, 10], [4, 6]])

    result = gate(
        database,
        after,
        "total_cost<=110",
        "mean_cost<=1",
        "diff(total_cost)<=1",
        "no-flag F11",
        "no-flag F15",
        baseline_id=before.id,
        costs=COSTS,
    )

    # 10 false alarms at 10 and four or two misses at 1; always answering 1 would cost 1,000,
    # always answering 0 only 10.
    assert measured(result)[:3] == [104.0, 104 / 110, 2.0]
    assert [finding.passed for finding in result.findings] == [True, True, False, False, True]


def test_a_run_with_sets_of_labels_is_not_advised_to_have_what_it_cannot_have(
    database: Database,
) -> None:
    run = log(
        database, y_true=[["a"], ["b"]] * 20, y_pred=[["a"], ["a", "b"]] * 20, labels=["a", "b"]
    )

    with pytest.raises(
        InvalidInput, match="needs a cost matrix, and runs with sets of labels have none"
    ) as costs:
        gate(database, run, "mean_cost<=2")
    with pytest.raises(InvalidInput, match="rule F11 is not applicable") as rule:
        gate(database, run, "no-flag F11")
    with pytest.raises(InvalidInput, match="rule F14 is not applicable") as baseline:
        gate(database, run, "no-flag F14")

    assert str(costs.value.hint) == (
        "Bound a metric of a label, such as 'recall[label]>=0.8'. `offdiag cost labels` shows "
        "costs of single labels."
    )
    assert str(rule.value.hint).startswith("Of sets of labels F2, F3,")
    assert "--baseline" in str(baseline.value.hint)


def test_the_most_accurate_run_may_not_be_the_cheapest(database: Database) -> None:
    cheap = log_counts(database, [[95, 5], [12, 8]])
    accurate = log_counts(database, [[93, 7], [2, 18]])

    result = gate(database, accurate, "no-flag F15", baseline_id=cheap.id, costs=COSTS)

    assert [finding.reason for finding in result.findings] == ["flag_raised"]


def test_thresholds_of_rules_are_those_of_the_settings(database: Database) -> None:
    run = log_counts(database, [[900, 100], [400, 600]])
    work_off(database)

    def f4(thresholds: Thresholds) -> Finding:
        (found,) = judged(database, run.id, "no-flag F4", thresholds=thresholds).findings
        return found

    assert not f4(Thresholds()).passed
    assert f4(Thresholds(recall_gap=0.35)).passed


def test_a_matrix_that_is_stored_nowhere_is_judged_alike(database: Database) -> None:
    texts = ["low(mcc)>=0.5", "recall[1]>=0.5", "no-warning", "total_cost<=5", "no-flag F11"]
    stored = gate(database, log_counts(database, [[90, 10], [2, 8]]), *texts, costs=COSTS)

    result = gate_matrix(
        matrix_of([[90, 10], [2, 8]]),
        [parse_condition(text) for text in texts],
        costs=COSTS,
        thresholds=Thresholds(),
    )

    assert result.findings == stored.findings
    assert result.to_dict()["run"] is None
