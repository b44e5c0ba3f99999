"""Costs and thresholds of labels: those of the definition, and the same everywhere."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import offdiag
from offdiag.cli.commands import run as offdiag_command
from offdiag.domain.runs import RunFacts
from offdiag.errors import InvalidInput
from offdiag.records.runs.multilabel import (
    LabelCostsRequest,
    OutcomeCostsRequest,
    asked_label_costs,
    costs_of_texts,
    label_cost_lines,
    label_cost_texts,
)
from offdiag.services.multilabel import OutcomeCosts, label_costs_of
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from offdiag_web import create_app
from support.logging_runs import evaluate
from support.optional import present
from support.set_runs import log_sets

NAMES = ["sea", "sky", "sand"]
N = 400
COSTS = {"sea": OutcomeCosts(miss=5.0, false_alarm=1.0)}
RNG = np.random.default_rng(6)
TRUE = RNG.random((N, 3)) < (0.5, 0.3, 0.1)
SCORES = np.clip(0.35 + 0.3 * TRUE + RNG.normal(0, 0.15, (N, 3)), 0, 1).astype(np.float32)
PREDICTED = SCORES >= 0.5


def log_run(database: Database, predicted: np.ndarray, name: str = "forest") -> RunRecord:
    run = log_sets(
        database,
        y_true=TRUE,
        y_pred=predicted,
        labels=NAMES,
        y_score=SCORES,
        facts=RunFacts(name=name),
    )
    evaluate(database, run.id)
    return run


def paid(predicted: np.ndarray) -> np.ndarray:
    """What each example costs, by the definition."""
    missed, alarms = TRUE & ~predicted, predicted & ~TRUE
    return np.asarray((missed * (5.0, 1.0, 1.0)).sum(axis=1) + alarms.sum(axis=1))


def test_costs_add_up_over_labels_and_examples(sqlite_database: Database) -> None:
    run = log_run(sqlite_database, PREDICTED)

    found = label_costs_of(sqlite_database, run.id, costs=COSTS)

    assert found.mean.value == pytest.approx(paid(PREDICTED).mean())
    totals = [each.costs["total_cost"].value or 0.0 for each in found.labels]
    assert sum(totals) == pytest.approx(paid(PREDICTED).sum())
    error = paid(PREDICTED).std(ddof=1) / np.sqrt(N)
    assert found.mean.ci_high == pytest.approx(found.mean.value + 1.966 * error, abs=1e-3)
    sea = found.labels[0]
    assert (sea.missed, sea.false_alarms) == (
        int((TRUE & ~PREDICTED)[:, 0].sum()),
        int((PREDICTED & ~TRUE)[:, 0].sum()),
    )
    assert sea.constant == "always"
    assert found.labels[2].constant == "never"


@pytest.mark.parametrize("decimals", [1, 17])
def test_scores_of_the_user_decide_by_a_threshold_as_it_is_priced(
    sqlite_database: Database, decimals: int
) -> None:
    noise = np.random.default_rng(7).normal(0, 0.15, (N, 3))
    scores = np.clip(0.35 + 0.3 * TRUE + noise, 0, 1).round(decimals)
    run = log_sets(
        sqlite_database, y_true=TRUE, y_pred=scores >= 0.5, labels=NAMES, y_score=scores
    )
    evaluate(sqlite_database, run.id)
    asked = LabelCostsRequest(costs={"sea": OutcomeCostsRequest(miss=5, false_alarm=1)})

    found = asked_label_costs(sqlite_database, run.id, asked)

    chosen = [each.threshold for each in found.labels if each.threshold is not None]
    cheapest = np.array([each.threshold for each in chosen], np.float64)
    for kept in (scores, scores.astype(np.float32)):
        cost = paid(kept >= cheapest).mean()
        assert cost == pytest.approx(sum(each.mean_cost for each in chosen))


def test_the_cheapest_threshold_is_that_of_all_and_its_estimate_is_no_lower(
    sqlite_database: Database,
) -> None:
    run = log_run(sqlite_database, PREDICTED)

    found = label_costs_of(sqlite_database, run.id, costs=COSTS)

    for code, each in enumerate(found.labels):
        miss = each.outcomes.miss
        costs = [
            (miss * (TRUE[:, code] & (SCORES[:, code] < at)).sum()
             + (~TRUE[:, code] & (SCORES[:, code] >= at)).sum()) / N
            for at in [*np.unique(SCORES[:, code]), np.inf]
        ]  # fmt: skip
        assert each.thresholds is not None
        assert present(each.thresholds.best).cost.value == pytest.approx(min(costs))
        assert present(each.thresholds.crossfitted).mean_cost >= min(costs)
    assert present(found.chosen) < (found.mean.value or 0.0)


def test_two_runs_differ_by_their_paired_costs(sqlite_database: Database) -> None:
    run = log_run(sqlite_database, PREDICTED)
    other = log_run(sqlite_database, SCORES >= 0.4, "bold")

    found = label_costs_of(sqlite_database, run.id, costs=COSTS, baseline=other.id)

    apart = paid(PREDICTED) - paid(SCORES >= 0.4)
    assert present(found.difference).value == pytest.approx(apart.mean())
    reach = 1.966 * apart.std(ddof=1) / np.sqrt(N)
    assert present(found.difference).ci_low == pytest.approx(apart.mean() - reach, abs=1e-3)


def test_the_costs_are_the_same_everywhere(
    sqlite_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    run, url = log_run(sqlite_database, PREDICTED), sqlite_database.url

    frame = offdiag.label_costs(run.id, costs={"sea": (5, 1)}, url=url)
    client = create_app(Settings(), sqlite_database).test_client()
    body = {"costs": {"sea": {"miss": 5}}}
    answer = client.post(f"/api/v1/runs/{run.id}/label-costs", json=body).get_json()
    page = client.get(f"/runs/{run.id}/label-costs?costs=sea=5:1").get_data(as_text=True)
    bad = client.get(f"/runs/{run.id}/label-costs?costs=sea").get_data(as_text=True)
    capsys.readouterr()
    command = ["cost", "labels", run.id, "--cost", "sea=5:1", "--url", url, "--json"]
    assert offdiag_command(command) == 0
    printed = json.loads(capsys.readouterr().out)

    assert answer == printed
    assert frame["total_cost"].sum() == pytest.approx(answer["total_cost"])
    assert f"{answer['mean_cost']['value']:.4f} per example" in page
    assert "names no label" in bad


def test_unknown_labels_are_named(sqlite_database: Database) -> None:
    run = log_run(sqlite_database, PREDICTED)

    with pytest.raises(InvalidInput, match="boat"):
        offdiag.label_costs(run.id, costs={"boat": 2}, url=sqlite_database.url)


@pytest.mark.parametrize("text", ["5_0:1", "5:1_0", "five"])
def test_costs_of_a_label_are_two_numbers(text: str) -> None:
    with pytest.raises(InvalidInput, match="are not costs"):
        costs_of_texts([f"sea={text}"])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([5, 1, 1], "list does not say which label costs what"),
        ({"sea": [5, 1]}, "miss: the value .* does not fit"),
        ({"sea": (5,)}, "miss: the value .* does not fit"),
        ({"sea": {"mis": 5}}, "there is no field 'mis'. Did you mean 'miss'"),
    ],
)
def test_costs_that_cannot_be_read_are_refused(
    sqlite_database: Database, costs: Any, message: str
) -> None:
    run = log_run(sqlite_database, PREDICTED)

    with pytest.raises(InvalidInput, match=message):
        offdiag.label_costs(run.id, costs=costs, url=sqlite_database.url)


def test_costs_in_a_series_are_read_by_its_index(sqlite_database: Database) -> None:
    run = log_run(sqlite_database, PREDICTED)
    misses = {"sky": 2.0, "sea": 5.0}
    given: list[Any] = [pd.Series(misses), misses]

    found, expected = (
        offdiag.label_costs(run.id, costs=costs, url=sqlite_database.url) for costs in given
    )

    assert found.equals(expected)


def test_a_run_without_labels_has_no_costs_instead_of_0(
    sqlite_database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    url = str(sqlite_database.url)
    run = offdiag.log_run(
        y_true=[["sea"], ["sea", "sky"]],
        y_pred=[["sea"], ["sky"]],
        labels=["sea", "sky"],
        sample_ids=["a", "b"],
        name="rules",
        dataset="shore",
        url=url,
    )
    offdiag.revise_truth(dataset="shore", labels={"a": None, "b": None}, reason="lost", url=url)
    run.evaluation()
    app = create_app(Settings(), sqlite_database)

    offdiag_command(["cost", "labels", run.id, "--url", url])
    told = capsys.readouterr().out
    page = app.test_client().get(f"/runs/{run.id}/label-costs").get_data(as_text=True)

    for text in (told, page):
        assert "No example of the run has labels, so their errors have no cost." in text
        assert "0.000" not in text


@pytest.mark.parametrize("cost", ["sea=0.0001:0.00002", "sea=1:1", "sea=1234567:1"])
def test_costs_of_any_size_are_shown_with_the_digits_that_tell_something(
    sqlite_database: Database,
    capsys: pytest.CaptureFixture[str],
    cost: str,
) -> None:
    run, url = log_run(sqlite_database, PREDICTED), sqlite_database.url

    asked = LabelCostsRequest(costs=costs_of_texts([cost]))
    found = asked_label_costs(sqlite_database, run.id, asked)
    texts = label_cost_texts(found.labels[0])
    client = create_app(Settings(), sqlite_database).test_client()
    page = client.get(f"/runs/{run.id}/label-costs?costs={cost}").get_data(as_text=True)
    capsys.readouterr()
    assert offdiag_command(["cost", "labels", run.id, "--cost", cost, "--url", url]) == 0
    printed = capsys.readouterr().out

    exact = present(found.labels[0].mean_cost.value)
    assert float(texts.cost.replace(",", "")) == pytest.approx(exact, rel=0.1)
    assert texts.cost in page
    assert texts.cost in printed
    assert texts.interval in page
    for line in label_cost_lines(found):
        assert line in page
        assert line in " ".join(printed.split())
