"""The pages of a run that was counted elsewhere say what it has and what it cannot show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.domain.runs import RunFacts
from offdiag.metrics.scores.score_cells import cell_codes
from offdiag.services.ingest.batch import GivenCounts
from offdiag.services.ingest.log_counts import log_counts
from offdiag.store.database import Database
from support.logging_runs import log, work_off
from support.pages import Page, PageClient


def test_every_page_says_by_what_it_was_counted_and_what_it_lacks(
    client: PageClient, database: Database
) -> None:
    run = log_counts(
        database,
        facts=RunFacts(name="warehouse"),
        dataset="payments",
        given=GivenCounts(
            ["ok", "ok", "fraud"],
            ["ok", "fraud", "fraud"],
            [9_000_000, 7, 1_000],
            "duckdb",
            {"country": ["DE", "FR", "FR"]},
        ),
    )
    work_off(database)

    def page(name: str) -> Page:
        return client.page(f"/runs/{run.id}{name}")

    matrix = page("")
    assert "This matrix" not in matrix.one("main").text
    assert not matrix.one("table", "matrix").inside("a")
    assert "as the counts of a frame" in page("/examples").one("main").text
    assert "Only the counts of this run were logged" in page("/curves").one("main").text
    metadata = page("/meta").one("main").text
    assert "rows = actual; counted by duckdb" in metadata
    assert "9,001,007, counted by duckdb and not stored" in metadata
    assert "whose own engine counted the matrix" in metadata
    assert "Nothing to verify" in metadata


def test_a_dataset_without_labels_has_no_tab_of_suspect_labels(
    client: PageClient, database: Database
) -> None:
    given = GivenCounts(["ok", "fraud"], ["ok", "fraud"], [90, 7], "duckdb", {})
    log_counts(database, facts=RunFacts(name="warehouse"), dataset="payments", given=given)
    work_off(database)

    tabs = client.page("/datasets/payments").one("nav", "tabs").inside("a")
    assert [tab.text.split()[0] for tab in tabs].count("Suspect") == 0
    for tab in tabs:
        assert client.get(tab.attributes["href"]).status_code in {200, 302}, tab.text


def test_pages_do_not_say_that_counts_wait_for_labels_or_an_evaluation(
    client: PageClient, database: Database
) -> None:
    for dataset in ("payments", "refunds"):
        given = GivenCounts(["ok", "fraud"], ["ok", "fraud"], [90, 7], "duckdb", {})
        log_counts(database, facts=RunFacts(name="warehouse"), dataset=dataset, given=given)
    work_off(database)

    row = client.page("/").table("data")[0]
    decision = client.page("/datasets/payments").one("main").text

    assert row[0] == "payments 1 run, 2 classes on payments"
    assert (row[2], row[4]) == ("not ranked", "counts only")
    assert "No run can be ranked yet." in decision
    assert "No run has been evaluated yet." not in decision
    assert "offdiag truth revise" not in decision


def test_lists_of_datasets_count_labels_and_not_samples(
    client: PageClient, database: Database
) -> None:
    ids = ["one", "two", "three"]
    log(
        database,
        y_true=None,
        y_pred=list("aba"),
        labels=["a", "b"],
        dataset="bare",
        sample_ids=ids,
    )
    log(
        database,
        y_true=[[], [], []],
        y_pred=[["a"], [], ["b"]],
        labels=["a", "b"],
        dataset="empty",
    )
    work_off(database)

    states = {row[0].split()[0]: (row[0], row[4]) for row in client.page("/").table("data")}
    listed = {row[0].split()[0]: row[3] for row in client.page("/datasets").table("data")}

    assert states["bare"] == ("bare 1 run, no labels on bare", "0 of 3 labelled")
    assert states["empty"] == ("empty 1 run, 2 labels on empty", "1 run")
    assert listed == {"bare": "0 of 3", "empty": "3"}


def test_counted_scores_have_curves_thresholds_and_costs(
    client: PageClient, database: Database
) -> None:
    counts: dict[str, Any] = {
        "actual": ["ok", "ok", "fraud", "fraud"],
        "predicted": ["ok", "ok", "fraud", "ok"],
        "sizes": [900, 50, 40, 10],
        "counted_on": "duckdb",
        "positive_label": "fraud",
        "scores": {
            "code": [-556, -355, 202, -355],
            "low": [0.1, 0.2, 0.68, 0.2],
            "high": [0.1, 0.2004, 0.69, 0.2004],
            "score": [90.0, 10.01, 27.4, 2.002],
            "square": [9.0, 2.004, 18.7, 0.4008],
            "rest_square": [729.0, 31.98, 3.9, 6.396],
            "surprise": [2072.0, 80.4, 15.1, 16.08],
            "rest_surprise": [94.8, 11.17, 46.2, 2.23],
        },
    }
    logged = client.post("/api/v1/counts", json={"name": "w", "dataset": "payments", **counts})
    run = logged.get_json()["id"]
    work_off(database)

    metrics = client.json(f"/runs/{run}.json")["metrics"]
    # 50 negative and 10 positive samples are in one bin of several scores, of 950 and 50.
    assert metrics["roc_auc"]["value"] == (40 * 950 + 10 * 900 + 10 * 50 / 2) / (50 * 950)
    assert metrics["roc_auc"]["error_bound"] == 0.00527
    curves = client.page(f"/runs/{run}/curves").one("main").text
    assert "Scores were counted in bins. Largest errors" in curves
    assert "ROC AUC by 0.0053" in curves
    decisions = client.page(f"/whatif/decisions?cost=@0-1&run={run}").one("main").text
    assert "costs least on these examples" in decisions
    asked = {"threshold": 0.3, "costs": "@0-1"}
    refused = client.post(f"/api/v1/runs/{run}/rules", json=asked)
    assert "has counts of scores" in refused.get_json()["error"]["message"]


def counted_event(kinds: list[tuple[bool, float, int]]) -> dict[str, Any]:
    """Kinds of one score each, of which so many happened or did not."""
    happened, scores, sizes = zip(*kinds, strict=True)
    p = np.array(scores, dtype=np.float32)
    wide, size = p.astype(float), np.array(sizes)
    known = {
        "low": p,
        "high": p,
        "score": size * wide,
        "square": size * wide**2,
        "rest_square": size * (1 - wide) ** 2,
        "surprise": -size * np.log(wide),
        "rest_surprise": -size * np.log(1 - wide),
    }
    columns = {name: values.astype(float).tolist() for name, values in known.items()}
    columns["code"] = cell_codes(p).tolist()
    return {"happened": list(happened), "sizes": list(sizes), "scores": columns}


def test_counted_scores_of_classes_have_the_curves_of_each(
    client: PageClient, database: Database
) -> None:
    each = counted_event([(True, 0.7, 8), (True, 0.15, 2), (False, 0.7, 2), (False, 0.15, 18)])
    top = counted_event([(True, 0.7, 24), (False, 0.7, 6)])
    names = ["a", "b", "c"]
    counts: dict[str, Any] = {
        "actual": [name for name in names for _ in range(3)],
        "predicted": names * 3,
        "sizes": [8, 1, 1, 1, 8, 1, 1, 1, 8],
        "counted_on": "duckdb",
        "class_scores": {"labels": names, "of_classes": [each] * 3, "top": top},
    }
    asked = {"name": "w", "dataset": "animals"}
    run = client.post("/api/v1/counts", json=asked | counts).get_json()["id"]
    work_off(database)

    metrics = client.json(f"/runs/{run}.json")["metrics"]
    area = (8 * 18 + (8 * 2 + 2 * 18) / 2) / (10 * 20)
    assert metrics["roc_auc_ovr_macro"]["value"] == pytest.approx(area)
    assert metrics["log_loss"]["value"] == pytest.approx(
        -0.8 * np.log(0.7) - 0.2 * np.log(0.15), abs=1e-6
    )
    assert metrics["roc_auc_ovo_macro"]["reason"] == "forecasts_in_cells"
    assert "ROC" in client.page(f"/runs/{run}/curves").one("main").text
    for name in ("", "/classes", "/meta", "/examples"):
        client.page(f"/runs/{run}{name}")
    decisions = client.page(f"/whatif/decisions?cost=@0-1&run={run}").one("main").text
    assert "The scores of each class were counted separately" in decisions
    other = {"labels": names[::-1], "of_classes": [each] * 3, "top": top}
    refused = client.post("/api/v1/counts", json=asked | counts | {"class_scores": other})
    assert "Scores are of c, b, a" in refused.get_json()["error"]["message"]
    fewer = counted_event([(True, 0.7, 8), (False, 0.15, 18)])
    other = {"labels": names, "of_classes": [each, each, fewer], "top": top}
    refused = client.post("/api/v1/counts", json=asked | counts | {"class_scores": other})
    assert "are not the samples of the matrix" in refused.get_json()["error"]["message"]
