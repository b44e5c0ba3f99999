"""By what the runs of a dataset are ranked, and what is claimed of the first one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from offdiag.domain.runs import RunFacts, RunState
from offdiag.errors import InvalidInput
from offdiag.services.champions.dataset_status import DatasetStatus, KeptComparisons, statuses
from offdiag.services.champions.leaders import (
    Leaders,
    corrected_leaders,
    leaders_of,
    set_primary_metric,
)
from offdiag.services.champions.promotions import approve
from offdiag.services.lru_cache import LruCache
from offdiag.store.database import Database
from offdiag.store.dataset_page import dataset_list
from offdiag.store.datasets import dataset_named
from offdiag.store.models import RunRow
from offdiag.store.promotions import promotions_in_force
from support.logging_runs import correct_labels, log, upload_matrix, work_off
from support.set_runs import PREDICTED_SETS, TRUE_SETS, log_sets

ACTUAL = ["a", "b"] * 100


def log_wrong(database: Database, name: str, n_wrong: int, **given: Any) -> str:
    predicted = [
        {"a": "b", "b": "a"}[each] if at < n_wrong else each for at, each in enumerate(ACTUAL)
    ]
    facts = {"y_true": ACTUAL, "y_pred": predicted, "dataset": "holdout"}
    return log(database, facts=RunFacts(name=name), **(facts | given)).id


def ranked(database: Database, name: str = "holdout", metric: str | None = None) -> Leaders:
    with database.read() as session:
        dataset = dataset_named(session, project="default", name=name)
    return leaders_of(database, dataset, metric=metric)


def status(database: Database) -> DatasetStatus:
    """The state of the only dataset."""
    with database.read() as session:
        kept = KeptComparisons(LruCache(most=9), LruCache(most=9))
        (found,) = statuses(
            session, dataset_list(session), promotions_in_force(session), kept=kept
        ).values()
    return found


def order(leaders: Leaders) -> list[str]:
    return [each.run.name for each in leaders.runs]


@pytest.mark.both_databases
def test_sets_with_the_least_loss_come_first(database: Database) -> None:
    log_sets(database, y_pred=TRUE_SETS, facts=RunFacts(name="right"))
    log_sets(database, y_pred=PREDICTED_SETS, facts=RunFacts(name="wrong"))
    work_off(database)

    assert order(ranked(database, "photos", "hamming_loss")) == ["right", "wrong"]
    set_primary_metric(database, project="default", dataset="photos", key="hamming_loss")
    assert [run.name for run in status(database).ranked.runs] == ["right", "wrong"]


def test_only_runs_that_will_be_evaluated_on_corrected_labels_wait_for_them(
    database: Database,
) -> None:
    log_wrong(database, "waits", 20)
    failed = log_wrong(database, "failed", 30)
    upload_matrix(database, [[90, 10], [10, 90]], ("a", "b"), dataset="holdout")
    work_off(database)
    correct_labels(database, {0: "b"})
    with database.write() as session:
        session.execute(update(RunRow).where(RunRow.id == failed).values(state=RunState.FAILED))

    assert ranked(database).n_outdated == 1
    work_off(database)
    assert ranked(database).n_outdated == 0


def test_a_run_alone_on_newer_labels_is_said_to_be(database: Database) -> None:
    """As of ids that are written in another way, which put all earlier runs on other labels."""
    log_wrong(database, "first", 20)
    log_wrong(database, "second", 30)
    log_wrong(database, "other", 10, sample_ids=range(len(ACTUAL)))
    work_off(database)

    found = ranked(database)

    assert order(found) == ["other"]
    assert found.why_not_tested == "fewer than two runs have balanced_accuracy on label version 2"


def test_runs_with_weights_do_not_count_among_the_others(database: Database) -> None:
    log_wrong(database, "plain", 20)
    for name in ("weighted", "weighted, too"):
        log_wrong(database, name, 30, sample_weight=[1.0, 2.0] * (len(ACTUAL) // 2))
    work_off(database)

    found = ranked(database)

    assert found.why_not_tested == (
        "fewer than two runs without sample weights have balanced_accuracy on label version 1"
    )


def test_a_metric_that_no_run_has_is_named(database: Database) -> None:
    log_wrong(database, "first", 20)
    log_wrong(database, "second", 30)
    work_off(database)

    found = ranked(database, metric="kappa_quadratic")

    assert order(found) == []
    assert found.why_not_tested == "fewer than two runs have kappa_quadratic on label version 1"


@pytest.mark.parametrize(
    ("dataset", "example"), [("holdout", "balanced_accuracy"), ("photos", "macro_f1")]
)
def test_a_metric_of_scores_cannot_rank(database: Database, dataset: str, example: str) -> None:
    log_wrong(database, "first", 20)
    log_sets(database, y_pred=TRUE_SETS, facts=RunFacts(name="right"))

    with pytest.raises(InvalidInput, match="not of scores") as refused:
        ranked(database, dataset, "roc_auc")

    assert f"such as {example!r}" in str(refused.value)


@pytest.mark.both_databases
def test_weighted_runs_are_ranked_only_where_all_have_weights(database: Database) -> None:
    light = log_wrong(database, "light", 20, sample_weight=[1.0, 2.0] * 100)
    log_wrong(database, "heavy", 0, sample_weight=[2.0, 1.0] * 100)
    work_off(database)

    alone = ranked(database)
    assert (order(alone), alone.n_weighted) == (["heavy", "light"], 0)
    assert alone.why_not_tested is not None
    assert "sample weights" in alone.why_not_tested

    log_wrong(database, "good", 10)
    poor = log_wrong(database, "poor", 90)
    work_off(database)
    found, shown = ranked(database), status(database)
    assert (order(found), found.total, found.n_weighted) == (["good", "poor"], 2, 2)
    assert [each.run.name for each in found.best_set] == ["good"]
    assert [run.name for run in shown.ranked.runs] == ["good", "poor"]
    assert (shown.ranked.total, shown.ranked.n_weighted) == (2, 2)
    assert (shown.shown.name, shown.n_best) == ("good", 1)

    approve(database, light, reason="the survey counts", author=None)
    assert (status(database).shown.name, status(database).is_champion) == ("light", True)
    approve(database, poor, reason="in use", author=None)
    assert status(database).shown.name == "poor"


@pytest.mark.parametrize("key", ["mcc", "error_rate"])
def test_every_page_ranks_by_the_metric_that_the_dataset_names(
    database: Database, key: str
) -> None:
    log_wrong(database, "good", 10)
    log_wrong(database, "poor", 90)
    work_off(database)
    set_primary_metric(database, project="default", dataset="holdout", key=key)

    found, shown = ranked(database), status(database)
    assert order(found) == ["good", "poor"]
    assert (found.metric, shown.ranked.key) == (key, key)
    assert [run.name for run in shown.ranked.runs] == order(found)
    assert shown.n_best == len(found.best_set) == 1


def test_no_run_leads_where_a_class_is_too_small_to_test(database: Database) -> None:
    actual = ["a"] * 100 + ["b"] * 3
    for name, n_wrong in (("good", 0), ("poor", 60)):
        predicted = ["b"] * n_wrong + actual[n_wrong:]
        log_wrong(database, name, 0, y_true=actual, y_pred=predicted)
    work_off(database)

    found = ranked(database)
    assert found.best_set == ()
    assert found.why_not_tested == "a class has fewer than 5 labelled examples"
    assert status(database).n_best is None


def test_a_metric_without_a_paired_test_ranks_without_a_claim(database: Database) -> None:
    log_wrong(database, "good", 10)
    log_wrong(database, "poor", 90)
    work_off(database)

    found = ranked(database, metric="nir_p_value")
    assert order(found) == ["good", "poor"]
    assert found.why_not_tested == "there is no paired test for nir_p_value"


def test_the_overview_claims_nothing_where_predictions_are_too_many(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_wrong(database, "good", 10)
    log_wrong(database, "poor", 90)
    work_off(database)
    monkeypatch.setattr("offdiag.services.champions.leaders.MOST_PREDICTIONS", 1)

    assert status(database).n_best is None
    assert ranked(database).best_set == ()
    assert status(database).shown.name == "good"


def corrected(database: Database, name: str = "holdout", metric: str | None = None) -> Leaders:
    with database.read() as session:
        dataset = dataset_named(session, project="default", name=name)
    return corrected_leaders(database, dataset, metric=metric)


def test_the_highest_of_three_runs_is_expected_to_reach_less(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(3):
        # Equally good runs that err on other examples.
        turned = [
            {"a": "b", "b": "a"}[each] if place % 6 == at else each
            for place, each in enumerate(ACTUAL[:150])
        ]
        log_wrong(database, f"run {at}", 0, y_true=ACTUAL[:150], y_pred=turned)
    work_off(database)

    found = corrected(database)

    best = found.best_of_many
    assert best is not None
    assert (best.n_runs, best.value) == (3, found.runs[0].run.value.value)
    assert best.corrected.value is not None
    assert 0.7 < best.corrected.value < best.value
    assert corrected(database, metric="error_rate").best_of_many is not None
    assert replace(found, best_of_many=None) == ranked(database)
    monkeypatch.setattr("offdiag.services.champions.leaders.MOST_CORRECTED", 461)
    assert corrected(database).best_of_many is None


def test_the_highest_of_three_runs_with_sets_is_corrected(database: Database) -> None:
    for name in ("first", "second", "third"):
        log_sets(
            database,
            y_true=TRUE_SETS * 20,
            y_pred=PREDICTED_SETS * 20,
            facts=RunFacts(name=name),
        )
    work_off(database)

    best = corrected(database, "photos").best_of_many

    assert best is not None
    assert best.corrected.value == pytest.approx(best.value, abs=0.05)


def test_the_higher_of_two_runs_is_not_corrected(database: Database) -> None:
    log_wrong(database, "good", 10)
    log_wrong(database, "poor", 90)
    work_off(database)

    assert corrected(database).best_of_many is None
