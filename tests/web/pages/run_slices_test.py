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
