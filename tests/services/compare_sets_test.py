"""Stored multi-label runs are compared, ranked, gated and held against a baseline."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.churn import PairedOutcome
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.rank_status import RankStatus
from offdiag.comparison.sets_and_weights import compare_paired_sets
from offdiag.domain.runs import RunFacts
from offdiag.metrics.multilabel_runs.paired import PairedSets
from offdiag.services.champions.leaders import leaders_of, set_primary_metric
from offdiag.services.comparisons.compare import RunComparison, compare_runs
from offdiag.services.datasets import pin_baseline
from offdiag.services.examples.changed import changed_examples
from offdiag.services.flags.page import raised_flags
from offdiag.services.methods.compared import methods_of
from offdiag.store.database import Database
from offdiag.store.datasets import dataset_named
from offdiag.store.runs import RunRecord
from support.gates import judged
from support.logging_runs import correct_labels, evaluate
from support.optional import present
from support.set_runs import log_sets, paired_runs

NAMES = ["sky", "sea", "sand", "boat"]
Sets = NDArray[np.bool_]
N = 300


def drawn(*, wrong: float, seed: int) -> tuple[Sets, Sets]:
    """True sets, the same for every seed, and predicted ones."""
    true = np.random.default_rng(1).random((N, len(NAMES))) < (0.6, 0.4, 0.3, 0.1)
    return true, true ^ (np.random.default_rng(seed).random(true.shape) < wrong)


TRUE, WORSE = drawn(wrong=0.25, seed=2)
BETTER = drawn(wrong=0.1, seed=3)[1]
ALIKE = drawn(wrong=0.1, seed=4)[1]


def log_run(database: Database, predicted: Sets, name: str, **given: Any) -> RunRecord:
    facts = given.pop("facts", RunFacts(name=name))
    return log_sets(database, y_true=TRUE, y_pred=predicted, labels=NAMES, facts=facts, **given)


def pair(found: RunComparison) -> PairComparison:
    assert isinstance(found.result, PairComparison), found.refusal
    return found.result


def test_two_stored_runs_differ_as_their_sets_do_in_memory(database: Database) -> None:
    first, second = log_run(database, WORSE, "first"), log_run(database, BETTER, "second")

    found = compare_runs(database, [first.id, second.id])

    runs = paired_runs(TRUE, WORSE, BETTER)
    expected = compare_paired_sets(PairedSets(runs.actual, runs.predictions, found.runs[0].labels))
    assert pair(found).metrics == expected.metrics
    assert pair(found).classes == expected.classes
    assert found.verdict is not None
    assert found.verdict.headline.startswith("B is better than A on every primary metric")
    assert "Recall rises on sand, sky and sea" in found.verdict.text
    assert found.verdict.tone == "better"


def test_a_correction_counts_for_both_runs(sqlite_database: Database) -> None:
    database = sqlite_database
    runs = [
        log_run(database, sets, name, sample_ids=list(range(N)))
        for sets, name in ((WORSE, "first"), (BETTER, "second"))
    ]
    corrected = {at: set(np.array(NAMES)[WORSE[at]].tolist()) for at in range(20)}

    correct_labels(database, corrected, dataset="photos")
    found = pair(compare_runs(database, [run.id for run in runs]))

    exact = (WORSE == TRUE).all(axis=1)
    assert found.metric("subset_accuracy").first.value == (20 + exact[20:].sum()) / N


def test_runs_on_parts_of_the_samples_share_some(
    sqlite_database: Database,
) -> None:
    database = sqlite_database
    ids = [f"s{at}" for at in range(N)]
    runs = [
        log_sets(
            database, y_true=TRUE[part], y_pred=sets[part], labels=NAMES, sample_ids=ids[part],
            facts=RunFacts(name=name),
        )
        for part, sets, name in ((slice(0, 200), WORSE, "a"), (slice(100, N), BETTER, "b"))
    ]  # fmt: skip

    refused = compare_runs(database, [run.id for run in runs])
    found = compare_runs(database, [run.id for run in runs], on_shared=True)

    assert present(refused.refusal).n_shared == 100
    shared = slice(100, 200)
    exact = (BETTER[shared] == TRUE[shared]).all(axis=1).mean()
    assert pair(found).metric("subset_accuracy").second.value == exact


def test_examples_behind_a_count_are_those_of_the_label(sqlite_database: Database) -> None:
    database = sqlite_database
    first, second = log_run(database, WORSE, "first"), log_run(database, BETTER, "second")
    is_meant = TRUE[:, 2] & ~WORSE[:, 2] & BETTER[:, 2]

    found = changed_examples(
        database, [first.id, second.id], outcome=PairedOutcome.ONLY_B, class_label="sand"
    )

    assert found.total == is_meant.sum()
    assert [each.sample for each in found.examples] == np.flatnonzero(is_meant)[:50].tolist()
    assert all("sand" in each.second and "sand" not in each.first for each in found.examples)


def test_sets_are_compared_on_slices_and_by_slice(sqlite_database: Database) -> None:
    database = sqlite_database
    sites = np.where(np.arange(N) % 2, "x", "y").tolist()
    worse_on_x = np.where((np.arange(N) % 2 == 1)[:, np.newaxis], WORSE, ALIKE)
    first = log_run(database, BETTER, "first", slices={"site": sites})
    second = log_run(database, worse_on_x, "second", slices={"site": sites})

    found = compare_runs(database, [first.id, second.id])
    part = compare_runs(database, [first.id, second.id], slice_text="site=x")

    assert "worse for site=x" in present(found.by_slice).verdict
    assert pair(part).first.total == N // 2
    exact = (worse_on_x == TRUE).all(axis=1)
    assert pair(part).metric("subset_accuracy").second.value == exact[1::2].mean()


def test_the_best_of_several_runs_are_told_apart_from_the_others(database: Database) -> None:
    sets = {"worse": WORSE, "better": BETTER, "alike": ALIKE}
    runs = {name: log_run(database, each, name) for name, each in sets.items()}
    for run in runs.values():
        evaluate(database, run.id)

    many = compare_runs(database, [run.id for run in runs.values()])
    with database.read() as session:
        dataset = dataset_named(session, project="default", name="photos")
    leaders = leaders_of(database, dataset)
    by_loss = leaders_of(database, dataset, metric="hamming_loss")

    assert "A is significantly worse than the best" in present(many.verdict).headline
    assert leaders.metric == "macro_f1"
    for found in (leaders, by_loss):
        assert found.why_not_tested is None
        assert {each.run.name for each in found.best_set} == {"better", "alike"}
        assert found.runs[-1].rank.rank_status is RankStatus.BEHIND
    untested = leaders_of(
        database,
        set_primary_metric(database, project="default", dataset="photos", key="coverage_error"),
    )
    assert untested.runs == ()


def test_a_lower_recall_of_a_label_than_the_baseline_is_flagged(database: Database) -> None:
    missing = BETTER.copy()
    missing[::2, 1] = False
    base, run = log_run(database, BETTER, "base"), log_run(database, missing, "run")
    evaluate(database, base.id)
    pin_baseline(database, base.id, author=None)
    evaluate(database, run.id)

    found = {
        (flag.content.rule, flag.content.class_label): flag
        for flag in raised_flags(database, run.id)
    }

    assert ("F14", "sea") in found
    assert found["F14", "sea"].content.message.startswith("Recall of 'sea' fell from 92 %")
    assert not {("F14", name) for name in NAMES if name != "sea"} & found.keys()


def test_a_gate_bounds_metrics_of_sets_and_their_differences(sqlite_database: Database) -> None:
    database = sqlite_database
    base, run = log_run(database, BETTER, "base"), log_run(database, WORSE, "run")

    texts = ("subset_accuracy>=0.2", "recall[sea]>=0.7", "diff(macro_f1)>=-0.05", "no-flag F3")
    result = judged(database, run.id, *texts, baseline_id=base.id)

    passed = [finding.passed for finding in result.findings]
    assert passed == [True, True, False, True]
    assert result.not_paired is None
    gap = result.findings[2].value
    assert gap is not None
    assert gap.ci_low is not None


def test_seeds_of_a_method_are_compared_by_a_metric_of_sets(sqlite_database: Database) -> None:
    database = sqlite_database
    rng = np.random.default_rng(8)
    for method, wrong in (("good", 0.1), ("bad", 0.25)):
        for seed in range(3):
            predicted = TRUE ^ (rng.random(TRUE.shape) < wrong)
            tags = {"group": method, "seed": str(seed)}
            facts = RunFacts(name=f"{method} {seed}", tags=tags)
            evaluate(database, log_run(database, predicted, "any", facts=facts).id)

    found = methods_of(database, project="default", name="photos")

    best, worst = found.methods
    assert (best.name, worst.name) == ("good", "bad")
    assert best.mean.ci_low is not None
    assert worst.rank_status is RankStatus.BEHIND
