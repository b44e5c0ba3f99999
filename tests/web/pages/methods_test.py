"""The page of methods: who is best, each with its interval, and how runs come to be here."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from offdiag.domain.runs import RunFacts
from offdiag.store.database import Database
from support.logging_runs import log, work_off
from support.pages import PageClient

RNG = np.random.default_rng(7)
N = 200
ACTUAL = np.where(RNG.random(N) < 0.4, "ill", "well")


def log_method(
    database: Database, name: str, accuracy: float, train_size: float | None = None
) -> None:
    sized = {} if train_size is None else {"train_size": train_size}
    # Not drawn after what other tests draw, which may run before or not.
    rng = np.random.default_rng([*name.encode(), int(1_000 * (train_size or 0))])
    for seed in range(3):
        wrong = np.where(ACTUAL == "ill", "well", "ill")
        predicted = np.where(rng.random(N) < accuracy, ACTUAL, wrong)
        log(
            database,
            y_true=ACTUAL,
            y_pred=predicted,
            dataset="d",
            facts=RunFacts(name=f"{name} {seed}", tags={"group": name, "seed": seed, **sized}),
        )


def test_a_page_of_the_newest_runs_says_so(
    database: Database, client: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_method(database, "net", 0.8)
    work_off(database)
    for module in ("offdiag.services.methods.compared", "offdiag_web.pages.methods.page"):
        monkeypatch.setattr(f"{module}.MOST_RUNS", 3)

    assert "newest" not in client.page("/datasets/d/methods").one("main").text
    log_method(database, "tree", 0.7)
    work_off(database)

    said = client.page("/datasets/d/methods").one("main").text
    assert "Only the newest 3 runs count. Remove the tag group from others" in said
    found = client.json("/datasets/d/methods.json")
    assert found["is_cut"]
    assert [(each["name"], each["n_runs"]) for each in found["methods"]] == [("tree", 3)]


@pytest.mark.parametrize("path", ["/datasets/d", "/datasets/d/data", "/runs?q=dataset:d"])
def test_datasets_have_a_tab_of_methods_once_a_run_names_its_method(
    database: Database, client: PageClient, path: str
) -> None:
    def tabs(path: str) -> list[str]:
        return [each.text.split()[0] for each in client.page(path).one("nav", "tabs").inside("a")]

    log(database, dataset="d", facts=RunFacts(name="other", tags={"group": None, "team": "net"}))
    log(database, dataset="e", facts=RunFacts(name="elsewhere", tags={"group": "net"}))
    work_off(database)
    assert "Methods" not in tabs(path)
    assert "Methods" in tabs("/datasets/d/methods")

    log(database, dataset="d", facts=RunFacts(name="net 1", tags={"group": "net"}))
    work_off(database)
    assert "Methods" in tabs(path)


def test_methods_are_listed_best_first_with_intervals(
    database: Database, client: PageClient
) -> None:
    log_method(database, "<b>weak</b>", 0.6)
    log_method(database, "strong", 0.95)
    work_off(database)

    page = client.page("/datasets/d/methods?metric=overall_accuracy")

    lead = page.one("p", "lead").text
    assert lead == "strong has the highest mean of 2 methods; <b>weak</b> is significantly worse."
    best, weak = page.table("data")
    assert (best[0], weak[0]) == ("strong", "<b>weak</b>")
    assert best[1].startswith("3 seeds")
    assert "best mean" in best
    assert "▼" in " ".join(weak)
    runs = client.page(page.link("strong"))
    assert len(runs.table("data")) == 3
    rows = client.records("/datasets/d/methods.csv")
    assert [row["method"] for row in rows] == ["strong", "<b>weak</b>"]
    named = client.json("/datasets/d/methods.json?metric=f1_macro")
    assert named["metric"] == "macro_f1"
    refused = client.get("/datasets/d/methods?metric=acuracy")
    assert refused.status_code == 400
    assert "overall_accuracy" in refused.text


def test_a_run_without_a_value_says_why(database: Database, client: PageClient) -> None:
    for seed in range(2):
        facts = RunFacts(name=f"constant {seed}", tags={"group": "constant", "seed": seed})
        log(database, y_true=["a", "b"], y_pred=["a", "a"], dataset="d", facts=facts)
    work_off(database)

    page = client.page("/datasets/d/methods?metric=mcc")
    (method,) = client.json("/datasets/d/methods.json?metric=mcc")["methods"]

    assert "undefined (one class was predicted for all examples)" in page.one("main").text
    assert [(run["value"], run["reason"]) for run in method["runs"]] == [
        (None, "constant_predicted")
    ] * 2


def test_equal_methods_are_said_not_to_differ(database: Database, client: PageClient) -> None:
    log_method(database, "one", 0.5)
    log_method(database, "other", 0.5)
    work_off(database)

    page = client.page("/datasets/d/methods?metric=mcc")

    assert "; no significant difference from o" in page.one("p", "lead").text
    assert page.one("span", "ends-panel").text.startswith("\N{MINUS SIGN}")


def test_a_dataset_without_methods_says_how_runs_get_there(
    database: Database, client: PageClient
) -> None:
    log(database, dataset="d")
    work_off(database)

    page = client.page("/datasets/d/methods")

    assert "No run belongs to a method" in page.one("div", "empty").text
    assert "group" in page.one("pre", "snippet").text


def test_learning_curves_are_drawn_and_listed(database: Database, client: PageClient) -> None:
    for size, accuracy in ((50, 0.6), (1_500, 0.95)):
        log_method(database, "<b>net</b>", accuracy, size)
    log_method(database, "<b>net</b>", 0.5)
    work_off(database)

    page = client.page("/datasets/d/methods?metric=overall_accuracy")

    chart = page.one("svg", "by-size")
    read = [mark["data-read"] for mark in chart.inside("circle") if "spot" in mark.classes]
    assert [text.partition(": ")[0] for text in read] == [
        "<b>net</b>, training size 50",
        "<b>net</b>, training size 1,500",
    ]
    assert any("no training size: 3 runs." in note.text for note in page.all("p", "note"))
    csv_text = client.get("/datasets/d/methods/learning-curves.csv").text
    rows = list(csv.DictReader(io.StringIO(csv_text)))
    assert [(row["method"], row["train_size"]) for row in rows] == [
        ("<b>net</b>", "50.0"),
        ("<b>net</b>", "1500.0"),
    ]


def test_shares_and_numbers_of_examples_have_an_axis_each(
    database: Database, client: PageClient
) -> None:
    for name, sizes in (("by share", (0.1, 1.0)), ("by number", (50, 1_500))):
        for size in sizes:
            log_method(database, name, 0.8, size)
    work_off(database)

    page = client.page("/datasets/d/methods?metric=overall_accuracy")

    numbers, shares = page.all("svg", "by-size")
    for chart, said in ((numbers, ["50", "1,500"]), (shares, ["0.1", "1"])):
        read = [mark["data-read"] for mark in chart.inside("circle") if "spot" in mark.classes]
        assert [text.partition(": ")[0].split()[-1] for text in read] == said
    assert "training size (logarithmic)" in numbers.text
    assert "training share (logarithmic)" in shares.text
    assert any("have an axis each" in note.text for note in page.all("p", "note"))


def test_of_a_loss_the_best_method_has_the_lowest_mean(
    database: Database, client: PageClient
) -> None:
    true = RNG.random((N, 3)) < 0.4
    for name, wrong in (("good", 0.1), ("bad", 0.3)):
        for seed in range(2):
            log(
                database,
                y_true=true,
                y_pred=true ^ (RNG.random(true.shape) < wrong),
                labels=["sea", "sky", "sand"],
                dataset="d",
                facts=RunFacts(name=f"{name} {seed}", tags={"group": name, "seed": seed}),
            )
    work_off(database)

    page = client.page("/datasets/d/methods?metric=hamming_loss")

    assert page.one("p", "lead").text.startswith("good has the lowest mean of 2 methods")


def test_a_run_without_a_value_is_listed_and_leaves_no_mean(
    database: Database, client: PageClient
) -> None:
    log_method(database, "steady", 0.9, 50)
    log_method(database, "collapsed", 0.9, 50)
    log(
        database,
        y_true=ACTUAL,
        y_pred=["well"] * N,
        dataset="d",
        facts=RunFacts(
            name="never", tags={"group": "collapsed", "seed": "never", "train_size": 50}
        ),
    )
    work_off(database)

    page = client.page("/datasets/d/methods?metric=mcc")

    collapsed = page.table("data")[1]
    assert collapsed[0] == "collapsed"
    assert collapsed[2:4] == ["", ""]
    assert "seed never undefined" in collapsed[1]
    assert "not compared: the metric is undefined for 1 of its 4 runs" in collapsed
    read = [mark.attributes.get("data-read", "") for mark in page.all("circle")]
    assert not any("collapsed" in text for text in read)
