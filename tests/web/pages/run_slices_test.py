"""The page of slices says for whom a run fails, and leads to the examples."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.services.champions.promotions import approve
from offdiag.store.database import Database
from support.logging_runs import evaluate, log
from support.pages import PageClient

N = 800


@pytest.fixture
def run_id(database: Database) -> str:
    """A run that misses half of "ill" in one of four sites."""
    rng = np.random.default_rng(2)
    site = rng.choice(["w", "x", "y", "z"], N)
    actual = rng.choice(["ill", "well"], N)
    recall = np.where((site == "z") & (actual == "ill"), 0.4, 0.9)
    other = np.where(actual == "ill", "well", "ill")
    run = log(
        database,
        y_true=actual,
        y_pred=np.where(rng.random(N) < recall, actual, other),
        sample_ids=np.arange(N),
        slices={"site": site, "device": rng.choice(["a", "b"], N)},
    )
    evaluate(database, run.id)
    return run.id


def test_the_worst_slice_is_said_first_and_its_examples_are_one_click_away(
    client: PageClient, run_id: str
) -> None:
    page = client.page(f"/runs/{run_id}/slices")

    said = page.one("p", "statement").text
    first = client.get(f"/runs/{run_id}/slices.json").get_json()["gaps"][0]
    assert first["slice"] == "site=z"
    assert first["is_significant"]
    assert said.replace("▲", "").startswith("Worse on site z: Recall of ill")
    assert f"{first['hits']} of {first['cases']} against" in said
    link = page.one("table", "slice-table").inside("a")[0]
    examples = client.page(link.attributes["href"])
    assert f"{first['cases'] - first['hits']}" in examples.one("main").text
    listed = client.get(link.attributes["href"].replace("examples?", "examples.json?")).get_json()
    assert len(listed["examples"]) == first["cases"] - first["hits"]
    assert {each["slices"]["site"] for each in listed["examples"]} == {"z"}
    assert {each["actual"] for each in listed["examples"]} == {"ill"}


def test_the_strip_has_the_recall_of_each_class_in_each_slice(
    client: PageClient, run_id: str
) -> None:
    page = client.page(f"/runs/{run_id}/slices")
    strip, cross = page.all("table", "slice-heat")
    evaluated = client.get(f"/api/v1/runs/{run_id}/evaluation?slice=site%3Dz").get_json()

    cells = [cell.attributes.get("title") or "" for cell in strip.inside("td")]
    ill = evaluated["labels"]["names"].index("ill")
    recall = evaluated["per_class"]["recall"][ill]["value"]
    assert f"{recall:.2f}" in strip.text
    assert any(each.startswith("ill, z:") and each.endswith("significant") for each in cells)
    assert not any(each.startswith("well, z:") and "significant" in each for each in cells)
    assert "w" in cross.text


def test_files_have_every_gap(client: PageClient, run_id: str) -> None:
    gaps = client.get(f"/runs/{run_id}/slices.json").get_json()["gaps"]
    rows = client.records(f"/runs/{run_id}/slices.csv")

    assert [row["slice"] for row in rows] == [gap["slice"] for gap in gaps]
    assert float(rows[0]["gap"]) == gaps[0]["gap"]


def test_run_and_dataset_show_the_worst_slices(
    client: PageClient, database: Database, run_id: str
) -> None:
    approve(database, run_id, reason="the only one", author="ana")

    for address in (f"/runs/{run_id}", "/datasets/holdout"):
        table = client.page(address).one("table", "slice-table")
        assert table.inside("a")[0].text == "z"


def test_an_unknown_slice_of_examples_is_named(client: PageClient, run_id: str) -> None:
    page = client.page(f"/runs/{run_id}/examples?slice=site%3Dq")

    assert "no sample has site 'q'" in page.one("main").text


def test_a_run_without_columns_says_how_to_add_them(
    client: PageClient, database: Database
) -> None:
    run = log(database)
    evaluate(database, run.id)

    assert "offdiag.add_slices(" in client.page(f"/runs/{run.id}/slices").one("main").text


def test_a_problem_on_a_slice_shows_the_values_of_its_column_and_what_was_missed(
    client: PageClient, run_id: str
) -> None:
    (problem,) = [
        each
        for each in client.get("/api/v1/problems?low=true").get_json()["problems"]
        if each["cause"] == "slice"
    ]
    gap = client.get(f"/runs/{run_id}/slices.json").get_json()["gaps"][0]

    listed = client.page("/problems?cause=slice").one("main").text
    page = client.page(f"/problems/{problem['id']}")

    assert (problem["class_label"], problem["slice"]) == ("ill", "site=z")
    assert problem["value"] == f"{gap['hits']} of {gap['cases']}"
    assert problem["title"] == "ill missed on site=z"
    assert "ill missed on site=z" in listed
    shown = page.one("table", "problem-costs")
    assert [each.text for each in shown.inside("th")][3:] == [
        "site=w",
        "site=x",
        "site=y",
        "site=z",
    ]
    assert f"{gap['hits']} of {gap['cases']}" in shown.text
    n_missed = gap["cases"] - gap["hits"]
    (title,) = [each for each in page.all("h2") if each.text == f"{n_missed} missed"]
    examples = client.page(title.inside("a")[0].attributes["href"])
    assert f"{n_missed}" in examples.one("main").text


def test_the_page_of_a_flag_on_a_slice_names_it(client: PageClient, run_id: str) -> None:
    (flag,) = client.get("/api/v1/flags?rule=F16").get_json()["flags"]

    page = client.page(f"/flags/{flag['id']}")

    assert flag["slice"] == "site=z"
    assert page.one("h1").text == "Far worse on a slice: “ill” on site=z"
    assert client.get("/api/v1/flags?slice=site%3Dw").get_json()["flags"] == []
    assert len(client.get(f"/api/v1/flags?run={run_id}&slice=site%3Dz").get_json()["flags"]) == 1
