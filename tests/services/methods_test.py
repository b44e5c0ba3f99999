"""Runs of one method taken together, by their tags, and compared with other methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.runs import RunFacts
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.decisions import ThresholdRule, described
from offdiag.services.ingest.derive_run import derive_run
from offdiag.services.methods.compared import Methods, methods_of
from offdiag.services.methods.estimates import Design, Method
from offdiag.services.retention.deletion import delete_run
from offdiag.store.database import Database
from support.logging_runs import log, work_off
from support.optional import present

RNG = np.random.default_rng(3)
N = 200
ACTUAL = np.where(RNG.random(N) < 0.3, "ill", "well")
EASY = RNG.random(N)


def predicted(accuracy: float, luck: int = 0) -> np.ndarray[Any, np.dtype[np.str_]]:
    """Mostly the same samples are hard, some by the luck of the run."""
    right = 0.7 * EASY + 0.3 * np.random.default_rng(luck).random(N) < accuracy
    return np.where(right, ACTUAL, np.where(ACTUAL == "ill", "well", "ill"))


def log_method(database: Database, name: str, accuracy: float, *, n_seeds: int = 4) -> list[str]:
    return [
        log(
            database,
            y_true=ACTUAL,
            y_pred=predicted(accuracy, seed + 100 * len(name)),
            dataset="d",
            facts=RunFacts(name=f"{name} {seed}", tags={"group": name, "seed": seed}),
        ).id
        for seed in range(n_seeds)
    ]


def log_weighted(database: Database, name: str, seed: int) -> None:
    facts = RunFacts(name=f"{name} weighted", tags={"group": name, "seed": seed})
    weight = np.linspace(0.1, 3.0, N)
    log(database, y_true=ACTUAL, y_pred=ACTUAL, sample_weight=weight, dataset="d", facts=facts)


def log_folds(database: Database, name: str, accuracy: float, n_folds: int = 5) -> None:
    codes = predicted(accuracy, len(name))
    for fold in range(n_folds):
        part = np.arange(fold, N, n_folds)
        log(
            database,
            y_true=ACTUAL[part],
            y_pred=codes[part],
            sample_ids=part,
            dataset="d",
            facts=RunFacts(name=f"{name} {fold}", tags={"group": name, "fold": fold}),
        )


def found(database: Database, metric: str | None = "accuracy") -> Methods:
    work_off(database)
    return methods_of(database, project="default", name="d", metric=metric)


def by_name(methods: Methods) -> dict[str, Method]:
    return {each.name: each for each in methods.methods}


def test_seeds_of_a_method_have_a_mean_and_the_best_method_is_told(database: Database) -> None:
    log_method(database, "weak", 0.6)
    log_method(database, "strong", 0.9)
    log_method(database, "as strong", 0.9)
    log(database, y_true=ACTUAL, y_pred=predicted(0.9), dataset="d")

    methods = found(database)

    assert methods.metric == "overall_accuracy"
    assert [len(each.runs) for each in methods.methods] == [4, 4, 4]
    of = by_name(methods)
    assert of["weak"].rank_status is RankStatus.BEHIND
    assert {of["strong"].rank_status, of["as strong"].rank_status} == {
        RankStatus.BEST,
        RankStatus.NOT_SEPARABLE,
    }
    assert of["weak"].mean.value == pytest.approx(np.mean([run.value for run in of["weak"].runs]))
    apart = of["weak"].difference
    assert apart is not None
    assert present(apart.ci_high) < 0
    assert 0 < (of["weak"].from_training or 0.0) < 1


@pytest.mark.both_databases
def test_deleted_runs_and_single_ones_are_not_compared(database: Database) -> None:
    ids = log_method(database, "weak", 0.6, n_seeds=2)
    log_method(database, "strong", 0.9)
    delete_run(database, ids[0], by="ada")

    of = by_name(found(database))

    assert (len(of["weak"].runs), of["weak"].why_not_compared) == (1, "it has one run")
    assert of["weak"].mean.ci_low is None


def test_runs_of_other_samples_are_not_compared(database: Database) -> None:
    log_method(database, "strong", 0.9)
    for seed in range(2):
        log(
            database,
            y_true=ACTUAL[:100],
            y_pred=predicted(0.9, seed)[:100],
            dataset="d",
            facts=RunFacts(name="short", tags={"group": "short", "seed": seed}),
        )

    of = by_name(found(database))

    assert of["short"].why_not_compared == "its runs are of other examples"
    assert of["strong"].rank_status is RankStatus.BEST


def test_folds_have_a_pooled_value_and_are_compared_fold_by_fold(database: Database) -> None:
    log_folds(database, "svm", 0.6)
    log_folds(database, "forest", 0.9)
    log_folds(database, "other folds", 0.5, n_folds=2)
    log_folds(database, "one fold", 0.5, n_folds=1)

    of = by_name(found(database))

    assert {each.design for each in of.values()} == {Design.FOLDS}
    # Folds of equal size: the pooled accuracy is the mean.
    pooled = present(of["svm"].pooled)
    assert pooled.value == pytest.approx(of["svm"].mean.value)
    assert of["forest"].rank_status is RankStatus.BEST
    assert of["svm"].rank_status is RankStatus.BEHIND
    assert of["other folds"].why_not_compared == "its folds are not those of the best method"
    assert of["one fold"].why_not_compared == "it has one fold"


def test_a_metric_of_no_better_side_is_refused(database: Database) -> None:
    log_method(database, "weak", 0.6, n_seeds=1)

    with pytest.raises(InvalidInput, match="cannot be ranked by 'acuracy'") as refused:
        found(database, "acuracy")

    assert "overall_accuracy" in (refused.value.hint or "")


def log_sizes(database: Database, name: str, accuracies: dict[int, float]) -> None:
    for size, accuracy in accuracies.items():
        for seed in range(2):
            log(
                database,
                y_true=ACTUAL,
                y_pred=predicted(accuracy, seed + 100 * len(name)),
                dataset="d",
                facts=RunFacts(
                    name=f"{name} {size} {seed}",
                    tags={"group": name, "seed": seed, "train_size": size},
                ),
            )


def test_methods_have_learning_curves_and_are_compared_at_their_largest_size(
    database: Database,
) -> None:
    log_sizes(database, "slow", {20: 0.55, 100: 0.6, 1_000: 0.9})
    log_sizes(database, "quick", {100: 0.8, 1_000: 0.9, 20: 0.7})
    log_sizes(database, "short", {20: 0.5})
    log_method(database, "slow", 0.3, n_seeds=2)

    methods = found(database)

    of = by_name(methods)
    assert {name: each.train_size for name, each in of.items()} == {
        "slow": 1_000,
        "quick": 1_000,
        "short": 20,
    }
    assert of["short"].why_not_compared == "its largest training size is not that of the others"
    assert of["short"].mean.ci_low is not None
    assert methods.n_without_size == 2
    curves: dict[str, list[tuple[float | None, int]]] = {name: [] for name in of}
    for point in methods.curves:
        curves[point.name].append((point.train_size, len(point.runs)))
    assert curves == {
        "slow": [(20, 2), (100, 2), (1_000, 2)],
        "quick": [(20, 2), (100, 2), (1_000, 2)],
        "short": [(20, 2)],
    }
    at_largest = [point for point in methods.curves if point.train_size == 1_000]
    assert [point.mean for point in at_largest] == [of[point.name].mean for point in at_largest]


def test_folds_of_few_training_examples_have_wider_intervals(database: Database) -> None:
    tags = (1, 150, 75, 0.5, "many")
    for tag in tags:
        for fold in range(4):
            part = np.arange(fold, N, 4)
            log(
                database,
                y_true=ACTUAL[part],
                y_pred=predicted(0.7)[part],
                sample_ids=part,
                dataset="d",
                facts=RunFacts(
                    name=f"{fold}", tags={"group": f"g {tag}", "fold": fold, "train_size": tag}
                ),
            )

    of = by_name(found(database))

    means = [of[f"g {tag}"].mean for tag in tags]
    whole, *widths = [(mean.ci_high or 0) - (mean.ci_low or 0) for mean in means]
    # 50 examples in each test part; all of the rest, 150, is the ratio of 1 / (k - 1).
    halved = whole * ((1 / 4 + 2 / 3) / (1 / 4 + 1 / 3)) ** 0.5
    assert whole > 0
    assert widths == pytest.approx([whole, halved, halved, whole])


def test_a_derived_run_is_no_further_seed(database: Database) -> None:
    score = np.where(ACTUAL == "ill", 0.8, 0.1)
    predictions = np.where(score > 0.5, "ill", "well")
    facts = RunFacts(name="logged", tags={"group": "mlp", "seed": 1})
    source = log(
        database,
        y_true=ACTUAL,
        y_pred=predictions,
        y_score=score,
        dataset="d",
        labels=["well", "ill"],
        positive_label="ill",
        facts=facts,
    )
    rule = ThresholdRule(positive=1, threshold=0.05, positive_label="ill")
    derive_run(database, source_id=source.id, rule=rule, recipe=described(rule), name="all")

    assert [len(each.runs) for each in found(database).methods] == [1]


def log_parts(
    database: Database, name: str, parts: list[tuple[str, str]], *, tag: str = "fold"
) -> None:
    """A run for each pair of actual and predicted classes, each class a letter."""
    for number, (actual, predicted) in enumerate(parts):
        log(
            database,
            y_true=list(actual),
            y_pred=list(predicted),
            labels=["a", "b"],
            sample_ids=[f"{number if tag == 'fold' else 0}-{at}" for at in range(len(actual))],
            dataset="d",
            facts=RunFacts(name=f"{name} {number}", tags={"group": name, tag: number}),
        )


def test_a_fold_without_a_value_is_pooled_and_leaves_no_mean(database: Database) -> None:
    parts = [("aabb", "aabb"), ("aabb", "abbb"), ("aaaa", "abba")]
    log_parts(database, "svm", parts)
    log_parts(database, "never", [("aabb", "aaaa"), ("aabb", "aaaa")])

    methods = found(database, "mcc")

    svm = by_name(methods)["svm"]
    assert [run.value for run in svm.runs][2] is None
    assert (svm.mean.value, svm.mean.reason, svm.spread) == (None, "component_undefined", None)
    assert svm.why_not_compared == "the metric is undefined for 1 of its 3 runs"
    pooled = present(svm.pooled)
    # Of the twelve examples: tp 4, fn 0, fp 3, tn 5.
    assert pooled.value == pytest.approx(20 / np.sqrt(4 * 7 * 8 * 5))
    never = by_name(methods)["never"]
    assert never.why_not_compared == "the metric is undefined for 2 of its 2 runs"


def test_seeds_that_collapse_do_not_leave_the_mean_to_the_others(database: Database) -> None:
    actual = "ab" * 20
    right = "ab" * 18
    log_parts(database, "steady", [(actual, right + "abba")] * 3, tag="seed")
    log_parts(
        database,
        "lucky",
        [(actual, actual), (actual, right + "abba"), (actual, "a" * 40)],
        tag="seed",
    )

    methods = found(database, "mcc")

    steady, lucky = methods.methods
    assert (steady.name, lucky.name) == ("steady", "lucky")
    assert steady.rank_status is RankStatus.BEST
    assert lucky.mean.value is None
    assert lucky.why_not_compared == "the metric is undefined for 1 of its 3 runs"


def test_a_repeated_seed_counts_once(database: Database) -> None:
    log_method(database, "mlp", 0.7, n_seeds=3)
    work_off(database)
    once = by_name(found(database))["mlp"]

    repeated = log_method(database, "mlp", 0.7, n_seeds=3)

    twice = by_name(found(database))["mlp"]
    assert {run.id for run in twice.runs} == set(repeated)
    assert twice.mean.ci_low == pytest.approx(once.mean.ci_low)


@pytest.mark.both_databases
def test_a_seed_of_none_is_no_seed(database: Database) -> None:
    for group in ("mlp", "mlp", None):
        log(
            database,
            y_true=ACTUAL,
            y_pred=predicted(0.9),
            dataset="d",
            facts=RunFacts(name="run", tags={"group": group, "seed": None}),
        )

    (mlp,) = found(database).methods

    assert [run.seed for run in mlp.runs] == [None, None]


def test_a_difference_of_folds_is_as_wide_whichever_is_the_best(database: Database) -> None:
    # Folds out of four, of which the best method has 1, 2, 1 and 1 wrong and the other 2, 4, 3, 2.
    wrong = {"best": (1, 2, 1, 1), "other": (2, 4, 3, 2)}
    actual = "ab" * 10
    swapped = "ba" * 10
    for dataset, of_few in (("few best", "best"), ("few behind", "other")):
        for name, counts in wrong.items():
            # One method was trained on a tenth of what the other had.
            size = {"train_size": 0.1} if name == of_few else {}
            for fold, n in enumerate(counts):
                log(
                    database,
                    y_true=list(actual),
                    y_pred=list(swapped[:n] + actual[n:]),
                    sample_ids=[f"{fold}-{at}" for at in range(20)],
                    dataset=dataset,
                    facts=RunFacts(name=name, tags={"group": name, "fold": fold, **size}),
                )
    work_off(database)

    first, second = (
        methods_of(database, project="default", name=name, metric="accuracy").methods[1]
        for name in ("few best", "few behind")
    )

    assert (first.name, second.name) == ("other", "other")
    assert present(first.p_adjusted) == pytest.approx(second.p_adjusted)


def test_an_equal_difference_in_all_folds_is_not_that_of_rounding(database: Database) -> None:
    actual = "ab" * 10
    wrong = "ba" * 10
    for name, more in (("better", 0), ("worse", 1)):
        parts = [(actual, wrong[: n + more] + actual[n + more :]) for n in (0, 10)]
        log_parts(database, name, parts)

    worse = by_name(found(database))["worse"]

    assert present(worse.difference).value == pytest.approx(-0.05)
    assert present(worse.difference).ci_low is None
    assert (worse.rank_status, worse.p_adjusted) == (RankStatus.NOT_TESTED, None)
    assert worse.why_not_compared == "its difference to the best method never varies"


def test_seeds_that_never_vary_are_not_said_to_be_as_good_as_perfect_ones(
    database: Database,
) -> None:
    """A perfect method, one that always predicts the same class, and one that equals the first."""
    predicted_by = {"perfect": ACTUAL, "perfect, too": ACTUAL, "constant": np.full(N, "ill")}
    for name, y_pred in predicted_by.items():
        for seed in range(2):
            facts = RunFacts(name=f"{name} {seed}", tags={"group": name, "seed": seed})
            log(database, y_true=ACTUAL, y_pred=y_pred, dataset="d", facts=facts)
    work_off(database)

    methods = by_name(found(database, "balanced_accuracy"))

    constant = methods["constant"]
    assert present(constant.difference).value == pytest.approx(-0.5)
    assert (constant.rank_status, constant.p_adjusted) == (RankStatus.NOT_TESTED, None)
    assert constant.why_not_compared == "its difference to the best method never varies"
    statuses = {methods[name].rank_status for name in ("perfect", "perfect, too")}
    assert statuses == {RankStatus.BEST, RankStatus.NOT_SEPARABLE}


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "mcc", "macro_f1", "kappa"])
def test_a_perfect_method_has_no_interval_of_rounding(database: Database, metric: str) -> None:
    rng = np.random.default_rng(3)
    actual = rng.choice(["a", "b", "c"], 120, p=[0.5, 0.3, 0.2])
    for seed in range(3):
        facts = RunFacts(name=f"perfect {seed}", tags={"group": "perfect", "seed": seed})
        log(database, y_true=actual, y_pred=actual, dataset="d", facts=facts)
    work_off(database)

    (perfect,) = found(database, metric).methods

    assert (perfect.mean.value, perfect.mean.ci_low, perfect.mean.ci_high) == (1.0, None, None)


def test_weighted_runs_are_no_seeds_and_are_counted(database: Database) -> None:
    log_weighted(database, "survey", 1)
    log_weighted(database, "net", 9)
    work_off(database)
    assert (found(database).methods, found(database).n_weighted) == ((), 2)

    log_method(database, "net", 0.8, n_seeds=2)
    work_off(database)

    (net,) = found(database).methods
    assert {run.name for run in net.runs} == {"net 0", "net 1"}
    assert net.mean.value == pytest.approx(np.mean([run.value for run in net.runs]))
    assert found(database).n_weighted == 2
