"""Conditions on slices of stored runs: what is measured, and what fails closed."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.errors import InvalidInput, UnknownKey
from offdiag.flags.thresholds import Thresholds
from offdiag.gate.conditions import parse_condition
from offdiag.gate.evaluate_conditions import Finding
from offdiag.metrics.intervals.proportions import clopper_pearson, wilson
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.gates.gate import gate_matrix
from offdiag.stats import paired_difference
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.gates import judged
from support.logging_runs import work_off
from support.matrices import matrix_of
from support.optional import present
from support.sites import FOUND, log_sites


def finding(database: Database, run: RunRecord, text: str, **options: Any) -> Finding:
    work_off(database)
    (found,) = judged(database, run.id, text, **options).findings
    return found


def test_a_slice_is_judged_by_its_own_evaluation(database: Database) -> None:
    run = log_sites(database)

    found = finding(database, run, "low(recall[ill]@site=z) >= 0.3")

    expected = evaluation_of_slice(database, run.id, "site=z").per_class["recall"][0]
    assert found.value == expected
    assert (found.measured, found.passed) == (expected.ci_low, False)
    assert finding(database, run, "recall@site=z >= 0.4").passed, "ill is the positive class"
    assert not finding(database, run, "recall@site=z >= 0.41").passed


def test_the_worst_group_and_the_gap_are_found_and_named(database: Database) -> None:
    run = log_sites(database)

    worst = finding(database, run, "worst(recall, by=site) >= 0.7")
    assert (worst.measured, worst.passed) == (0.4, False)
    assert worst.note == ("site=z; left out: fewer than 12 labelled examples: tiny (5)")

    gap = finding(database, run, "gap(recall, by=site) <= 0.1")
    assert gap.measured == pytest.approx(0.9 - 0.4)
    assert gap.note.startswith("site: 0.4 for z, 0.9 for x; left out")

    assert finding(database, run, "worst(fpr, by=site) <= 0.15").note.startswith("site=y")


def test_the_worst_group_is_named_as_it_is_written_in_a_slice(database: Database) -> None:
    run = log_sites(database, {"=north, 1": FOUND["z"], "south": FOUND["x"]})

    found = finding(database, run, "worst(recall, by=site) >= 0.7")

    assert found.note == 'site="=north, 1"'
    own = evaluation_of_slice(database, run.id, found.note)
    assert own.per_class["recall"][own.matrix.labels.index["ill"]].value == found.measured


def test_every_group_is_that_good_where_the_lowest_end_is(database: Database) -> None:
    run = log_sites(database)

    low = finding(database, run, "low(worst(recall, by=site)) >= 0.2")
    high = finding(database, run, "high(worst(recall, by=site)) <= 0.7")

    assert low.measured == pytest.approx(float(wilson(8, 20).low))
    corrected = clopper_pearson(8, 20, confidence=1 - 0.05 / 3)
    assert high.measured == pytest.approx(float(corrected.high))


def test_metrics_of_the_whole_matrix_are_resampled_in_each_group(database: Database) -> None:
    run = log_sites(database)

    found = finding(database, run, "low(worst(mcc, by=site)) >= 0")

    of_z = evaluation_of_slice(database, run.id, "site=z").aggregate["mcc"]
    assert present(found.value).value == of_z.value
    assert present(found.measured) == present(of_z.ci_low)


@pytest.mark.parametrize("text", ["low(gap(mcc, by=site)) <= 0.5", "high(gap(mcc, by=site)) <= 2"])
def test_no_end_of_a_gap_is_compared_where_a_group_has_no_interval(
    database: Database, text: str
) -> None:
    few = {"x": (27, 3, 36, 4), "y": (2, 1, 17, 3), "z": (8, 12, 38, 2)}

    found = finding(database, log_sites(database, found=few), text)

    assert found.value is not None
    assert found.value.value is not None
    assert (found.value.ci_low, found.value.ci_high) == (None, None)
    assert (found.passed, found.measured, found.reason) == (False, None, "no_interval")


def test_what_cannot_be_judged_fails(database: Database) -> None:
    n = sum(map(sum, FOUND.values()))
    predicts_ill = [
        answer == "ill"
        for counts in FOUND.values()
        for many, answer in zip(counts, ("ill", "well", "ill", "well"), strict=True)
        for _ in range(many)
    ]
    run = log_sites(
        database,
        slices={
            "site": [site for site, counts in FOUND.items() for _ in range(sum(counts))],
            "one": [str(at // 10) for at in range(n)],
            "single": ["all"] * n,
            "age": ["50"] * (n - 1) + ["91"],
            "never": ["y" if each else "n" for each in predicts_ill],
        },
    )
    cases: list[tuple[str, str, str]] = [
        ("overall_accuracy@site=tiny>=0", "too_few_examples", "site=tiny has 5 labelled"),
        ("recall@site=tiny>=0", "too_few_examples", "site=tiny has 2 labelled examples of 'ill'"),
        ("worst(recall, by=one)>=0", "too_few_examples", "fewer than 12"),
        ("gap(recall, by=single)<=1", "too_few_examples", "single: 0.736 for all"),
        ("overall_accuracy@age=91>=0", "too_few_examples", "age=91 has 1 labelled example, "),
        ("worst(precision, by=never)>=0", "group_value_undefined", "undefined for never=n"),
    ]
    for text, reason, note in cases:
        found = finding(database, run, text)

        assert (found.passed, found.measured, found.reason) == (False, None, reason)
        assert note in found.note
        assert found.note.count("for all") < 2


def test_weights_and_sets_of_labels_do_not_change_how_many_examples_a_slice_has(
    database: Database,
) -> None:
    n = sum(map(sum, FOUND.values()))
    light, heavy = (
        log_sites(database, name=f"{weight}", sample_weight=[weight] * n)
        for weight in (0.01, 100.0)
    )
    uneven = log_sites(database, name="uneven", sample_weight=[100.0] + [0.01] * (n - 1))
    sets = log_sites(
        database,
        name="sets",
        dataset="sets",
        y_true=[["ill"]] * n,
        y_pred=[["ill", "well"]] * n,
        labels=["ill", "well"],
        positive_label=None,
    )

    assert finding(database, light, "recall@site=z >= 0.4").passed
    for run, text, note in (
        (heavy, "overall_accuracy@site=tiny>=0", "an effective sample size of 5, less than 12"),
        (heavy, "recall@site=tiny>=0", "an effective sample size of 2 of 'ill'"),
        (uneven, "recall@site=x>=0", "an effective sample size of 1 of 'ill'"),
        (sets, "subset_accuracy@site=tiny>=0", "5 labelled examples, fewer than 12"),
    ):
        found = finding(database, run, text)

        assert (found.passed, found.reason) == (False, "too_few_examples")
        assert note in found.note


def test_groups_of_weighted_examples_are_not_judged_and_the_other_conditions_are(
    database: Database,
) -> None:
    run = log_sites(database, sample_weight=[2.0] * sum(map(sum, FOUND.values())))
    work_off(database)

    texts = ("recall[ill]>=0.5", "worst(recall[ill], by=site)>=0", "gap(recall, by=site)<=1")
    found = judged(database, run.id, *texts).findings

    assert [each.passed for each in found] == [True, False, False]
    assert [each.reason for each in found] == [None, *["groups_not_weighted"] * 2]
    assert all("a condition on one group, written with @, is judged" in f.note for f in found[1:])
    with pytest.raises(UnknownKey, match="no slice column 'siet'"):
        judged(database, run.id, "worst(recall[ill], by=siet)>=0")
    with pytest.raises(UnknownKey, match="no metric 'recal' of a class"):
        judged(database, run.id, "worst(recal[ill], by=site)>=0")


def test_what_cannot_be_meant_is_an_error_and_no_failed_condition(database: Database) -> None:
    run = log_sites(database)
    cases: list[tuple[str, type[Exception], str]] = [
        ("recall@sight=z>=0", InvalidInput, "no slice column 'sight'"),
        ("recall@site=zz>=0", InvalidInput, "no sample has site 'zz'"),
        ("worst(recall, by=sites)>=0", UnknownKey, "Did you mean 'site'"),
        ("worst(support, by=site)>=0", InvalidInput, "no worst value"),
        ("worst(mean_cost, by=site)>=0", InvalidInput, "'mean_cost' is not counted by group"),
        ("worst(macro_f2, by=site)>=0", UnknownKey, "no metric 'macro_f2'"),
    ]
    for text, error, says in cases:
        with pytest.raises(error, match=says):
            finding(database, run, text)


def test_differences_on_a_slice_are_paired_inside_it(database: Database) -> None:
    baseline = log_sites(database, name="before")
    n = sum(map(sum, FOUND.values()))
    run = log_sites(
        database,
        name="after",
        y_pred=["ill"] * n,
    )

    found = finding(database, run, "low(diff(recall))@site=z>=0.3", baseline_id=baseline.id)

    before, after = [1] * 8 + [0] * 12 + [1] + [0] * 19, [1] * 40
    actual = [1] * 20 + [0] * 20
    expected = paired_difference(y_true=actual, pred_a=before, pred_b=after, seed=1)
    assert present(found.value).value == pytest.approx(0.6)
    assert found.measured == expected.per_class["recall"]["1"].ci_low


def test_a_matrix_has_no_slices() -> None:
    condition = parse_condition("mcc@site=z>=0")

    with pytest.raises(InvalidInput, match="not known of a matrix"):
        gate_matrix(matrix_of([[5, 1], [1, 5]]), [condition], thresholds=Thresholds())
