"""Champions and candidates, and the set of runs that cannot be told apart from the best."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from offdiag.domain.runs import PromotionRole, RunFacts
from offdiag.errors import Conflict, InvalidInput
from offdiag.records.promotion import promotions_document
from offdiag.services.champions.leaders import Leaders, leaders_of, set_primary_metric
from offdiag.services.champions.promotions import (
    DatasetPromotions,
    approve,
    promotions_of,
    propose,
    withdraw,
)
from offdiag.services.retention.deletion import collect, delete_run
from offdiag.store.database import Database
from offdiag.store.datasets import dataset_named
from offdiag.store.runs import RunRecord
from support.gates import judged
from support.logging_runs import log, work_off

ACTUAL = np.arange(400) % 2


def log_right(database: Database, share: float, *, seed: int, name: str = "plain") -> RunRecord:
    right = np.random.default_rng(seed).random(len(ACTUAL)) < share
    predicted = np.where(right, ACTUAL, 1 - ACTUAL)
    return log(
        database,
        y_true=ACTUAL.tolist(),
        y_pred=predicted.tolist(),
        dataset="holdout",
        facts=RunFacts(name=name),
    )


def decided(database: Database) -> DatasetPromotions:
    return promotions_of(database, project="default", dataset="holdout")


def a_day_passes(database: Database) -> None:
    now = database.clock
    database.clock = lambda: now() + timedelta(days=1)


def ranked(database: Database, metric: str | None = None) -> Leaders:
    with database.read() as session:
        dataset = dataset_named(session, project="default", name="holdout")
    return leaders_of(database, dataset, metric=metric)


def test_a_decision_says_why_metrics_were_undefined(database: Database) -> None:
    whole = log_right(database, 0.8, seed=1)
    constant = log(database, y_true=ACTUAL.tolist(), y_pred=[0] * len(ACTUAL), dataset="holdout")
    work_off(database)

    propose(database, whole.id, author="ana")
    propose(database, constant.id, author="ana")
    second, first = promotions_document(decided(database)).history

    assert first.undefined == {}
    assert second.metrics["mcc"] is None
    assert second.undefined == {"mcc": "constant_predicted"}


def test_a_run_is_proposed_and_approved(database: Database) -> None:
    first, second = log_right(database, 0.8, seed=1), log_right(database, 0.9, seed=2)
    work_off(database)

    approve(database, first.id, reason="the first one", author="ana")
    propose(database, second.id, author="bob")
    found = decided(database)
    assert found.champion is not None
    assert found.candidate is not None
    assert (found.champion.run_id, found.candidate.run_id) == (first.id, second.id)
    assert found.champion.metrics["overall_accuracy"] == pytest.approx(0.8, abs=0.05)
    assert found.champion.truth_number == 1

    approve(database, second.id, reason="better", author="ana")
    found = decided(database)
    assert found.champion is not None
    assert found.champion.run_id == second.id
    assert found.candidate is None, "a candidate that was approved is none any more"
    assert [each.role for each in found.history] == [
        PromotionRole.CHAMPION,
        PromotionRole.CANDIDATE,
        PromotionRole.CANDIDATE,
        PromotionRole.CHAMPION,
    ]


def test_decisions_say_whether_their_runs_have_sample_weights(database: Database) -> None:
    plain = log_right(database, 0.8, seed=1)
    weights = np.where(ACTUAL == 1, 2.0, 1.0).tolist()
    weighted = log(database, y_true=ACTUAL.tolist(), y_pred=ACTUAL.tolist(), sample_weight=weights)
    work_off(database)

    made = approve(database, plain.id, reason="good", author=None)
    propose(database, weighted.id, author=None)
    document = promotions_document(decided(database))

    assert made.is_weighted is False
    assert document.champion is not None
    assert document.candidate is not None
    assert (document.champion.is_weighted, document.candidate.is_weighted) == (False, True)
    place = {"project": "default", "dataset": "holdout", "author": "ana"}
    withdraw(database, role=PromotionRole.CANDIDATE, **place)
    history = promotions_document(decided(database)).history
    assert [each.is_weighted for each in history] == [None, True, False]


@pytest.mark.both_databases
def test_what_cannot_be_decided_is_refused_and_nothing_is_stored(database: Database) -> None:
    run = log_right(database, 0.8, seed=1)
    with pytest.raises(Conflict, match="finished"):
        approve(database, run.id, reason="too early", author=None)
    work_off(database)
    with pytest.raises(InvalidInput, match="reason"):
        approve(database, run.id, reason=" ", author=None)
    gate = judged(database, run.id, "recall[1] >= 0.99")
    with pytest.raises(Conflict, match=r"gate: recall\[1\] >= 0.99 \(measured 0\.\d+\)\."):
        approve(database, run.id, reason="good", author=None, gate=gate)
    gate = judged(database, run.id, "log_loss <= 0.1", "recall[1] >= 0.99")
    with pytest.raises(Conflict, match=r"log_loss <= 0\.1 \(no scores were logged\); recall"):
        approve(database, run.id, reason="good", author=None, gate=gate)
    assert decided(database).history == ()

    approve(database, run.id, reason="good", author=None, gate=gate, although_gate_fails=True)
    champion = decided(database).champion
    assert champion is not None
    assert champion.gate_passed is False
    with pytest.raises(Conflict, match="champion"):
        propose(database, run.id, author=None)


@pytest.mark.both_databases
def test_a_role_ends_with_its_run_or_when_it_is_withdrawn(database: Database) -> None:
    first, second = log_right(database, 0.8, seed=1), log_right(database, 0.9, seed=2)
    work_off(database)
    approve(database, first.id, reason="good", author=None)
    propose(database, second.id, author=None)

    place = {"project": "default", "dataset": "holdout", "author": "ana"}
    assert withdraw(database, role=PromotionRole.CANDIDATE, **place) is not None
    assert withdraw(database, role=PromotionRole.CANDIDATE, **place) is None
    with pytest.raises(InvalidInput, match="reason"):
        withdraw(database, role=PromotionRole.CHAMPION, **place)
    delete_run(database, first.id, by="ana")
    for _ in range(2):
        found = decided(database)
        assert (found.champion, found.candidate) == (None, None)
        assert len(found.history) == 3
        a_day_passes(database)
        collect(database, older_than=timedelta(), keep=1)


def test_runs_are_ranked_by_the_primary_metric_of_the_dataset(database: Database) -> None:
    log_right(database, 0.9, seed=3)
    work_off(database)
    place = {"project": "default", "dataset": "holdout"}

    set_primary_metric(database, **place, key="mcc")
    assert ranked(database).metric == "mcc"
    assert ranked(database).why_not_tested is not None
    assert ranked(database).best_set == ()
    with pytest.raises(InvalidInput, match="cannot be ranked by 'n_classes_actual'"):
        set_primary_metric(database, **place, key="n_classes_actual")
    set_primary_metric(database, **place, key=None)
    assert ranked(database).metric == "balanced_accuracy"


def test_a_decision_that_is_sent_twice_is_taken_once(database: Database) -> None:
    first, second = log_right(database, 0.8, seed=1), log_right(database, 0.9, seed=2)
    work_off(database)

    for _ in range(2):
        proposed = propose(database, second.id, author="ana", instead_of="")
    for _ in range(2):
        approved = approve(database, first.id, reason="good", author="ana", instead_of="")

    assert {each.id for each in decided(database).history} == {proposed.id, approved.id}
    for author, reason in (("bob", "good"), ("ana", "better")):
        with pytest.raises(Conflict, match="became the champion since"):
            approve(database, first.id, reason=reason, author=author, instead_of="")
    with pytest.raises(Conflict, match="became the champion since"):
        approve(database, second.id, reason="good", author="ana", instead_of="")
