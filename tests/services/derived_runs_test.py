"""Runs decided anew from the scores of a logged one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.comparison.differences import DifferenceStatus
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts, RunState
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.costs.decisions import ExpectedCostRule, ThresholdRule, described
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.services.champions.decision import browse_decision
from offdiag.services.champions.leaders import leaders_of
from offdiag.services.comparisons.compare import compare_runs
from offdiag.services.comparisons.compute import Compared
from offdiag.services.decisions.rules import CHOSEN_HERE
from offdiag.services.ingest.derive_run import derive_run
from offdiag.services.lru_cache import LruCache
from offdiag.services.retention.deletion import delete_run
from offdiag.services.verification.verify import verify
from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.datasets import dataset_named
from offdiag.store.runs import RunRecord
from support.gates import judged
from support.logging_runs import counts_of, log, log_ill, opened, stream, work_off
from support.optional import present

LABELS = LabelSet.declared(["well", "ill"])
ACTUAL = ["ill", "ill", "well", "well", "well", "ill"]
P_ILL = [0.9, 0.3, 0.2, 0.05, 0.6, 0.1]

TEN_TO_ONE = ExpectedCostRule(cost_matrix([[0, 1], [10, 0]], labels=LABELS))
"""Flag from 1/11 on."""


def log_clinic(database: Database, **given: Any) -> RunRecord:
    facts = RunFacts(name="by half", model="lr", params={"c": 1}, author="ana")
    cases: dict[str, Any] = {"y_true": ACTUAL, "p": P_ILL, "facts": facts}
    return log_ill(database, **(cases | given))


def derive(database: Database, source: RunRecord, name: str = "by cost") -> RunRecord:
    return derive_run(
        database,
        source_id=source.id,
        rule=TEN_TO_ONE,
        recipe=described(TEN_TO_ONE, costs="visits@2", changes=""),
        name=name,
        author="lee",
    )


def test_the_cheapest_answers_become_a_run_that_says_where_it_comes_from(
    database: Database,
) -> None:
    source = log_clinic(database)

    derived = derive(database, source)

    assert derived.state is RunState.FINISHED
    assert (derived.name, derived.model, derived.author) == ("by cost", "lr", "lee")
    assert derived.params == {"c": 1}
    assert counts_of(database, source.id) == [[2, 1], [2, 1]]
    assert counts_of(database, derived.id) == [[1, 2], [0, 3]]
    assert derived.derivation is not None
    assert derived.derivation.run_id == source.id
    assert dict(derived.derivation.recipe) == {
        "rule": "least_expected_cost",
        "weights": {"well": {"well": 0, "ill": 1}, "ill": {"well": 10, "ill": 0}},
        "costs": "visits@2",
    }
    with database.read() as session:
        assert runs.get_run(session, source.id).derivation is None
    delete_run(database, source.id, by="ana")
    with database.read() as session:
        kept = runs.get_run(session, derived.id)
    assert kept.derivation == derived.derivation


@pytest.mark.parametrize(
    ("threshold", "counts"),
    # 0.3 in single precision is a little above 0.3.
    [(0.3, [[2, 1], [1, 2]]), (None, [[3, 0], [3, 0]])],
)
def test_a_threshold_is_a_recipe_too(
    database: Database, threshold: float | None, counts: list[list[int]]
) -> None:
    source = log_clinic(database)
    rule = ThresholdRule(positive=1, threshold=threshold, positive_label="ill")

    derived = derive_run(
        database, source_id=source.id, rule=rule, recipe=described(rule), name="another"
    )

    assert counts_of(database, derived.id) == counts
    assert present(derived.derivation).recipe["threshold"] == threshold


def test_cases_in_another_order_and_in_several_batches_are_decided_each_for_itself(
    database: Database,
) -> None:
    rng = np.random.default_rng(5)
    p = rng.random(90).astype(np.float32)
    ids = [f"s{n:03}" for n in rng.permutation(90)]
    actual = np.where(rng.random(90) < p, "ill", "well")
    parts = [
        {
            "y_pred": np.where(p[part] >= 0.5, "ill", "well"),
            "y_true": actual[part],
            "y_score": p[part],
            "ids": [ids[place] for place in part],
        }
        for part in np.array_split(np.arange(90), 4)
    ]
    source = stream(database, parts, "stream", LABELS, positive_label="ill")

    derived = derive(database, source)

    flagged = p.astype(np.float64) > 1 / 11
    expected = [
        [int(((actual == a) & (flagged == f)).sum()) for f in (False, True)] for a in LABELS.names
    ]
    assert counts_of(database, derived.id) == expected
    assert verify(database).findings == ()


def test_multi_class_scores_give_the_answer_that_is_cheapest_to_expect(
    database: Database,
) -> None:
    labels = ["a", "b", "c"]
    scores = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.4, 0.35, 0.25]], np.float32)
    source = log(
        database, y_true=["a", "c", "b"], y_pred=["a", "c", "a"], y_score=scores, labels=labels
    )
    costs = cost_matrix([[0, 1, 1], [9, 0, 9], [1, 1, 0]], labels=LabelSet.declared(labels))
    rule = ExpectedCostRule(costs)

    derived = derive_run(
        database, source_id=source.id, rule=rule, recipe=described(rule), name="dear b"
    )

    assert counts_of(database, derived.id) == [[0, 1, 0], [0, 1, 0], [0, 1, 0]]


def test_runs_that_are_open_or_without_probabilities_are_refused(database: Database) -> None:
    bare = log_clinic(database, y_score=None)
    margins = log_clinic(database, y_score=[-2.0, 1, 3, 0.5, 9, 4])
    still_open = opened(database, "clinic", LABELS).run

    with pytest.raises(InvalidInput, match="has no scores to decide from"):
        derive(database, bare)
    with pytest.raises(InvalidInput, match="not probabilities"):
        derive(database, margins)
    with pytest.raises(Conflict, match="still open"):
        derive(database, still_open)

    with database.read() as session:
        found = runs.complete_run_ids(session, bare.dataset_id)
    assert sorted(found) == sorted([bare.id, margins.id])


SICK = ["well", "ill"] * 100
P_SICK = [(0.2 if at < 120 else 0.6) if truth == "well" else 0.7 for at, truth in enumerate(SICK)]


def log_sick(database: Database, **given: Any) -> RunRecord:
    """200 samples, of which the default threshold flags 40 that are well."""
    return log_clinic(database, **({"y_true": SICK, "p": P_SICK} | given))


def derive_chosen(database: Database, source: RunRecord, *, chosen: bool = True) -> RunRecord:
    """Flag from .65 on, which makes no error; `chosen` on these samples, or stated beforehand."""
    rule = ThresholdRule(positive=1, threshold=0.65, positive_label="ill")
    recipe = described(rule, chosen=CHOSEN_HERE if chosen else None)
    return derive_run(database, source_id=source.id, rule=rule, recipe=recipe, name="chosen")


def test_no_difference_from_a_threshold_chosen_on_the_same_examples_is_claimed(
    database: Database,
) -> None:
    source = log_sick(database)
    chosen = derive_chosen(database, source)
    stated = derive_chosen(database, source, chosen=False)
    work_off(database)

    found = compare_runs(database, [source.id, chosen.id])
    assert present(found.verdict).text == (
        "No difference between A and B is tested: the threshold of B was chosen on these "
        "examples, which flatters it. Compare them on examples that the threshold was not chosen "
        "on."
    )
    assert present(found.verdict).tone == "open"
    assert isinstance(found.result, PairComparison)
    accuracy = found.result.metric("overall_accuracy")
    assert accuracy.difference.value == pytest.approx(0.2)
    assert accuracy.difference.ci_low is None
    assert {each.outcome for each in found.result.metrics} == {DifferenceStatus.NO_INTERVAL}
    assert {each.p for each in found.result.classes["recall"]} == {None}
    assert present(found.result.paired).churn.only_b == 40
    assert present(found.result.paired).mcnemar is None

    kept: LruCache[Compared] = LruCache(most=9)
    for other, is_tested in ((chosen, False), (stated, True)):
        verdict = present(compare_runs(database, [source.id, other.id], kept=kept).verdict)
        assert ("B is better than A" in verdict.headline) is is_tested
    several = compare_runs(database, [source.id, stated.id, chosen.id])
    assert present(several.refusal).why == (
        "The threshold of C was chosen on these examples, which flatters it, so the runs cannot "
        "be ranked."
    )


def test_a_gate_does_not_pair_a_threshold_chosen_on_the_same_examples(database: Database) -> None:
    source = log_sick(database)
    chosen = derive_chosen(database, source)
    conditions = ("diff(overall_accuracy)>0", "low(diff(overall_accuracy))>0")

    found = judged(database, chosen.id, *conditions, baseline_id=source.id)

    assert found.not_paired == (
        f"the threshold of run {chosen.id} was chosen on these examples, which flatters it"
    )
    assert [each.passed for each in found.findings] == [True, False]


def test_a_threshold_chosen_on_the_same_examples_is_not_ranked(database: Database) -> None:
    source = log_sick(database)
    other = log_sick(database, y_pred=["ill"] * 100 + SICK[100:], y_score=None)
    chosen = derive_chosen(database, source)
    work_off(database)

    with database.read() as session:
        dataset = dataset_named(session, project="default", name="clinic")
    found = leaders_of(database, dataset)

    assert found.runs[0].run.id == chosen.id
    ranks = {each.run.id: each.rank.rank_status for each in found.runs}
    assert ranks[chosen.id] is RankStatus.NOT_TESTED
    assert {each.run.id for each in found.best_set} == {source.id, other.id}
    decision = browse_decision(database, project="default", dataset="clinic")
    assert present(decision.challenger).run.id in {source.id, other.id}
    delete_run(database, other.id, by="ana")
    alone = leaders_of(database, dataset)
    assert alone.why_not_tested == "the thresholds of the runs were chosen on these examples"
    ranks = {each.run.id: each.rank.rank_status for each in alone.runs}
    assert ranks == {chosen.id: RankStatus.NOT_TESTED, source.id: RankStatus.BEST}
