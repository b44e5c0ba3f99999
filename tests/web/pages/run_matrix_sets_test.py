"""Pages of runs whose cases carry sets of labels."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from offdiag.domain.runs import RunFacts
from offdiag.store.database import Database
from support.dashboard import HOSTILE_NAMES
from support.kinds import Kind
from support.logging_runs import work_off
from support.pages import PageClient, client_for
from support.registries import dashboard
from support.set_runs import log_sets, random_sets
from support.sound import assert_harmless, small_page


@dataclass(frozen=True)
class SetsRegistry:
    """Runs over eight, forty and hostile labels, and one without results."""

    forest: str
    topics: str
    hostile: str
    waiting: str


NAMES = ("sea", "sky", "sand", "boat", "dog", "cat", "man", "tree")


def fill(database: Database) -> SetsRegistry:
    true, predicted = random_sets(300, len(NAMES))
    predicted[:, 7] = False
    many, found = random_sets(300, 40, wrong=0.05)
    topics = [f"topic {code}" for code in range(40)]
    hostile = random_sets(60, len(HOSTILE_NAMES))

    def logged(name: str, **given: Any) -> str:
        return log_sets(database, facts=RunFacts(name=name, model="net"), **given).id

    ids = {
        "forest": logged(
            "forest",
            y_true=true,
            y_pred=predicted,
            labels=NAMES,
            y_score=np.where(predicted, 0.8, 0.2),
        ),
        "topics": logged("topics", y_true=many, y_pred=found, labels=topics, dataset="topics"),
        "hostile": logged(
            "hostile",
            y_true=hostile[0],
            y_pred=hostile[1],
            labels=HOSTILE_NAMES,
            dataset="hostile",
        ),
    }
    work_off(database)
    waiting = logged("waiting", y_true=true, y_pred=~predicted, labels=NAMES)
    return SetsRegistry(waiting=waiting, **ids)


@pytest.fixture(scope="module")
def shared(
    databases: Kind, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[PageClient, SetsRegistry]]:
    with databases.new(tmp_path_factory.mktemp("label-sets")) as database:
        yield client_for(dashboard(database)), fill(database)


@pytest.fixture
def reader(shared: tuple[PageClient, SetsRegistry]) -> PageClient:
    return shared[0]


@pytest.fixture
def runs(shared: tuple[PageClient, SetsRegistry]) -> SetsRegistry:
    return shared[1]


def test_every_label_has_its_own_small_table_beside_the_matrix_of_fractions(
    reader: PageClient, runs: SetsRegistry
) -> None:
    page = reader.page(f"/runs/{runs.forest}?order=label")
    record = reader.json(f"/runs/{runs.forest}/matrix.json")

    tables = page.all("table", "label-table")
    assert len(tables) == 8
    shown = [int(cell.text) for cell in tables[0].inside("td")]
    assert shown == [record["label_counts"][key][0] for key in ("tp", "fn", "fp", "tn")]
    assert all("Actual ↓ Predicted →" in table.text for table in tables)
    table = page.one("table", "matrix-dense")
    assert record["caption"] == "fractional shares, Algorithm 1"
    assert "Fractional multi-label matrix, Algorithm 1" in table.inside("caption")[0].text
    axes = [head.text for head in table.inside("th") if "axis" in head.classes]
    assert axes == ["Predicted →", "Actual ↓"]
    first = table.inside("tbody")[0].inside("tr")[0].inside("td")[0]
    assert first.text == f"{record['multilabel_matrix'][0][0]:.2f}"


def test_labels_are_sorted_as_somebody_asks(reader: PageClient, runs: SetsRegistry) -> None:
    page = reader.page(f"/runs/{runs.forest}")

    assert page.all("table", "label-table")[0].inside("strong")[0].text == "tree"
    rows = page.table("data")
    record = reader.json(f"/runs/{runs.forest}/classes.json")
    values = [record["per_class"]["f1"][record["labels"].index(row[0])]["value"] for row in rows]
    assert values == sorted(values)
    assert [row[2] for row in rows] == [f"{value:.3f}" for value in values]


def test_exports_name_the_orientation_and_hold_exact_fractions(
    reader: PageClient, runs: SetsRegistry
) -> None:
    answer = reader.get(f"/runs/{runs.forest}/matrix.csv").text
    lines = list(csv.DictReader(io.StringIO(answer)))
    grid = reader.get(f"/runs/{runs.forest}/matrix.csv?layout=grid").text
    markdown = reader.get(f"/runs/{runs.forest}/matrix.md").text

    assert lines[0].keys() >= {"actual", "predicted", "mass", "exact_mass"}
    assert grid.splitlines()[0].startswith("actual \\ predicted,sea")
    assert markdown.startswith("| Actual ↓ Predicted → | sea |")


@pytest.mark.parametrize("query", ["", "?order=f1", "?order=label&norm=row&from=2"])
def test_every_export_that_a_page_names_opens(
    reader: PageClient, runs: SetsRegistry, query: str
) -> None:
    page = reader.page(f"/runs/{runs.forest}{query}")
    named = {
        link.attributes["href"]
        for link in page.all("a")
        if "/matrix." in link.attributes.get("href", "")
    }

    assert len(named) == 4
    for address in sorted(named):
        assert reader.get(address).status_code == 200, address


def test_many_labels_come_in_windows(reader: PageClient, runs: SetsRegistry) -> None:
    first = reader.page(f"/runs/{runs.topics}")
    second = reader.page(f"/runs/{runs.topics}?from=31")

    assert len(first.all("table", "label-table")) == 30
    assert len(second.all("table", "label-table")) == 10
    assert "31–40 of 40 labels" in second.one("nav", "pager").text


@pytest.mark.parametrize(
    ("name", "tabs"),
    [
        ("forest", ("", "/classes", "/curves", "/examples", "/history", "/meta")),
        ("topics", ("", "/classes", "/examples")),
        ("hostile", ("", "/classes", "/examples", "/meta")),
        ("waiting", ("", "/classes", "/history")),
    ],
)
def test_every_page_of_a_run_is_small_and_harmless(
    reader: PageClient, runs: SetsRegistry, name: str, tabs: tuple[str, ...]
) -> None:
    for tab in tabs:
        answer = reader.get(f"/runs/{getattr(runs, name)}{tab}")

        assert answer.status_code == 200, tab
        assert_harmless(small_page(answer.data))


def test_the_words_are_about_labels_where_cases_have_sets(
    reader: PageClient, runs: SetsRegistry
) -> None:
    page = reader.page(f"/runs/{runs.forest}/classes")

    assert [link.text for link in page.one("nav", "tabs").inside("a")][1] == "Labels"
    assert page.one("title").text.startswith("forest · labels")
    assert "Every label by itself" in [head.text for head in page.all("h2")]
    heads = [head.text for head in page.all("th")]
    assert "Label" in heads
    assert "Class" not in heads
    assert "8 labels" in page.one("main").text


def test_the_list_has_the_columns_of_sets_and_offers_none_that_only_classes_fill(
    reader: PageClient, runs: SetsRegistry
) -> None:
    page = reader.page("/runs?q=dataset%3Aphotos&sort=-subset_accuracy")
    boxes = reader.page("/runs?q=dataset:topics").all("input")

    heads = " ".join(head.text for head in page.all("th"))
    assert "Macro F1" in heads
    assert "Subset accuracy" in heads
    lines = reader.records("/runs.csv?q=dataset%3Aphotos")
    of_forest = next(line for line in lines if line["id"] == runs.forest)
    assert 0 < float(of_forest["subset_accuracy"]) < 1
    offered = {box["value"] for box in boxes if box.attributes.get("name") == "col"}
    assert {"subset_accuracy", "hamming_loss", "macro_f1"} <= offered
    assert not offered & {"overall_accuracy", "balanced_accuracy", "mcc", "cohen_kappa"}


def test_flags_are_titled_as_about_a_label(reader: PageClient, runs: SetsRegistry) -> None:
    title = "Zero recall: “tree”"
    run = reader.page(f"/runs/{runs.forest}")
    flags = reader.json(f"/flags.json?run={runs.forest}&state=all")["flags"]
    pages = [reader.page(f"/flags/{each['id']}") for each in flags]
    flag = next(each for each in pages if title in each.one("h1").text)

    assert title in flag.one("h1").text
    assert "other classes" not in run.one("main").text


def test_names_of_labels_and_of_what_examples_miss_are_shown(
    reader: PageClient, runs: SetsRegistry
) -> None:
    shown = reader.page(f"/runs/{runs.hostile}").one("table", "matrix-dense").text
    page = reader.page(f"/runs/{runs.forest}/examples?true=tree")

    assert "{{7*7}}" in shown
    assert "=1+1" in shown
    heads = [head.text for head in page.all("th")]
    assert {"False negatives", "False positives"} <= set(heads)
    assert "were missed" in page.one("main").text


def test_pages_about_single_classes_are_refused_in_words(
    reader: PageClient, runs: SetsRegistry
) -> None:
    for path in ("/advice", "/matrix.svg", "/matrix.tex", "/matrix.png"):
        answer = reader.get(f"/runs/{runs.forest}{path}")
        assert answer.status_code == 409
        assert "sets of labels" in answer.text
    tabs = reader.page(f"/runs/{runs.forest}").one("nav", "tabs").text
    assert "Advice" not in tabs


def test_pages_of_sets_have_metrics_of_sets_and_speak_of_labels(
    reader: PageClient, runs: SetsRegistry
) -> None:
    model = reader.page("/models/net").one("main").text
    listed = reader.page("/runs?q=dataset:photos").one("main").text
    pages = {
        name: reader.page(path).one("main").text
        for name, path in {
            "curves": f"/runs/{runs.forest}/curves",
            "data": "/datasets/photos/data",
            "metadata": f"/runs/{runs.forest}/meta",
        }.items()
    }

    assert "Subset accuracy" in model
    assert "not computed" not in model
    assert "Worst label recall" in model
    assert "Worst label recall" in listed
    assert "always predicting the largest class" not in listed
    assert {name for name, text in pages.items() if re.search(r"\b[Cc]lass(es)?\b", text)} == set()


def test_costs_that_cannot_be_asked_for_are_told_beside_what_was_typed(
    reader: PageClient, runs: SetsRegistry
) -> None:
    for query, costs, notice in (
        ("costs=flu%3D2:1", "flu=2:1", "is not one of the 8 declared labels"),
        ("costs=sea%3D2:1&baseline=r_gone", "sea=2:1", "There is no run"),
    ):
        page = reader.page(f"/runs/{runs.forest}/label-costs?{query}")

        field = page.all("input", id="costs")[0]
        assert notice in page.one("main").text
        assert field["value"] == costs
        assert field["placeholder"] == "sea=5:1"
