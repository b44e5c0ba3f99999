"""Pages and documents of a run whose samples have weights."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient

from offdiag.domain.runs import RunFacts
from offdiag.services.champions.promotions import approve
from offdiag.store.database import Database
from support.filled_once import filled_once
from support.logging_runs import evaluate, log, work_off
from support.optional import present
from support.pages import PageClient

WEIGHT = [2.0, 0.5, 1.0, 1.5, 0.25, 0.75]


@pytest.fixture
@filled_once
def run_id(database: Database) -> str:
    run = log(database, sample_weight=WEIGHT, slices={"site": ["x", "x", "x", "y", "y", "y"]})
    evaluate(database, run.id)
    return run.id


def test_pages_say_that_metrics_are_weighted_and_those_of_counts_refuse_it(
    client: FlaskClient, run_id: str
) -> None:
    page = client.get(f"/runs/{run_id}")

    text = " ".join(re.sub(r"<[^>]+>", " ", page.text).split())
    assert page.status_code == 200
    assert "6 examples, effective sample size 4. All metrics are weighted." in text
    assert "Sums of weights" in text
    for path in ["classes", "slices", "curves", "examples", "history", "meta", "matrix.csv"]:
        assert client.get(f"/runs/{run_id}/{path}").status_code == 200, path
    for path in ["advice", "matrix.svg"]:
        answer = client.get(f"/runs/{run_id}/{path}")
        assert answer.status_code == 409, path
        assert "the examples of this run have weights" in answer.text, path
    costs = client.get("/whatif?dataset=holdout").text
    assert "Dataset “holdout” has no evaluated runs without sample weights." in costs


def test_documents_tell_sums_from_numbers(client: FlaskClient, run_id: str) -> None:
    run = client.get(f"/runs/{run_id}.json").json
    evaluation = client.get(f"/api/v1/runs/{run_id}/evaluation").json

    for document, plain in ((present(run), "confusion_matrix"), (present(evaluation), "matrix")):
        assert document[plain] is None
        assert document["weighted"]["matrix"] == [[2, 0.5, 0], [0, 2.5, 0], [0.75, 0, 0.25]]
        assert document["weighted"]["counts"] == [[1, 1, 0], [0, 2, 0], [1, 0, 1]]
        assert document["weighted"]["n_effective"] == pytest.approx(
            36 / sum(w * w for w in WEIGHT)
        )


def test_the_list_of_runs_marks_it(client: FlaskClient, run_id: str) -> None:
    assert ">weighted</span>" in client.get("/runs").text
    found = present(client.get("/api/v1/runs").json)
    assert [(each["id"], each["is_weighted"]) for each in found["runs"]] == [(run_id, True)]
    (line,) = csv.DictReader(io.StringIO(client.get("/runs.csv").text))
    assert (line["id"], line["is_weighted"]) == (run_id, "yes")
    # Sums of weights are no numbers of examples.
    assert (line["worst_class_tp"], line["worst_class_support"]) == ("", "")
    worst = found["runs"][0]["worst_class"]
    assert (worst["label"], worst["recall"]["value"]) == ("c", 0.25)
    assert (worst["tp"], worst["support"]) == (None, None)


def test_chunks_of_json_have_weights(client: FlaskClient) -> None:
    opened = client.post(
        "/api/v1/runs", json={"name": "sent", "dataset": "clinic", "labels": ["a", "b"]}
    ).json
    assert opened is not None
    run_id = opened["id"]
    chunk = {"y_true": ["a", "b"], "y_pred": ["a", "a"], "sample_weight": [1.5, 0.5]}

    stored = client.put(f"/api/v1/runs/{run_id}/chunks/0", json=chunk)
    other = client.put(f"/api/v1/runs/{run_id}/chunks/0", json=chunk | {"sample_weight": [1, 1]})
    client.post(f"/api/v1/runs/{run_id}/finish", json={})

    assert stored.status_code in (200, 201)
    assert other.status_code == 409
    found = present(client.get(f"/api/v1/runs/{run_id}").json)
    assert found["is_weighted"] is True


def test_a_comparison_names_the_test_in_place_of_the_exact_ones(
    client: FlaskClient, database: Database, run_id: str
) -> None:
    other = log(
        database,
        y_pred=["a", "a", "b", "c", "c", "c"],
        sample_weight=WEIGHT,
    )
    evaluate(database, other.id)

    page = client.get(f"/compare?runs={run_id},{other.id}")

    assert page.status_code == 200
    assert "weighted, effective sample size 4" in page.text
    assert "exact tests, which count examples, do not apply" in page.text
    assert "McNemar, do both" not in page.text


def test_a_missed_class_is_on_every_page_about_flags_and_unchecked_rules_are_listed(
    client: FlaskClient, database: Database
) -> None:
    n = 40
    run = log(
        database,
        y_true=["cat"] * n + ["dog"] * n,
        y_pred=["cat"] * (2 * n),
        labels=["cat", "dog"],
        sample_ids=[str(at) for at in range(2 * n)],
        sample_weight=[2.0] * n + [0.5] * n,
    )
    evaluate(database, run.id)

    page = client.get(f"/runs/{run.id}").text
    assert "cat is predicted for every example" in page
    assert "Rules not checked: F14" in page
    flags = present(client.get(f"/api/v1/runs/{run.id}/flags").json)
    found = {each["rule"]: each for each in flags["flags"]}
    assert found["F3"]["message"].endswith("Weighted, effective size 40.")
    for flag in found.values():
        shown = client.get(f"/flags/{flag['id']}")
        assert shown.status_code == 200
        assert "F16 Far worse on a slice: slices are not judged" in shown.text
    listed = client.get("/problems")
    assert listed.status_code == 200
    assert "dog missed" in listed.text


def test_sums_of_weights_are_shown_as_no_numbers_of_examples(
    client: FlaskClient, database: Database
) -> None:
    run = log(database, sample_weight=WEIGHT, facts=RunFacts(name="run", model="net"))
    evaluate(database, run.id)

    for path in ("/models/net", "/runs?q=dataset:holdout"):
        text = " ".join(re.sub(r"<[^>]+>", " ", client.get(path).text).split())
        assert "c 0.250" in text or "0.250 c" in text, path
        assert "0/1" not in text, path


def test_sums_of_small_weights_are_not_rounded_to_nothing(
    client: PageClient, database: Database
) -> None:
    run = log(database, sample_weight=[weight / 100 for weight in WEIGHT])
    evaluate(database, run.id)

    (line,) = (
        each for each in client.records(f"/runs/{run.id}/classes.csv") if each["label"] == "c"
    )
    page = client.page(f"/runs/{run.id}/classes?show=counts")

    assert [float(line[key]) for key in ("support", "tp", "fn")] == pytest.approx(
        [0.01, 0.0025, 0.0075]
    )
    (shown,) = (row for row in page.table("data") if row[0] == "c")
    assert [shown[1], *shown[3:5]] == ["0.01000", "0.00250", "0.00750"]


def test_the_table_of_classes_says_that_counts_are_sums_of_weights(
    client: FlaskClient, database: Database, run_id: str
) -> None:
    plain = log(database, dataset="plain")
    evaluate(database, plain.id)

    weighted, unweighted = (
        client.get(f"/runs/{each}/classes").text for each in (run_id, plain.id)
    )

    assert "counts are sums of weights" in weighted
    assert "sums of weights" not in unweighted


def test_the_list_of_runs_says_that_it_is_not_found_by_slices(
    client: FlaskClient, database: Database, run_id: str
) -> None:
    said = "1 run with sample weights has no metrics of slices and is not found by them."
    asked = "overall_accuracy@site=x>=0"

    for query, is_said in (
        ({"q": asked}, True),
        ({"q": f"dataset:holdout {asked}"}, True),
        ({"q": "dataset:holdout", "cols": "overall_accuracy%40site%3Dx"}, True),
        ({"q": "dataset:holdout"}, False),
        ({"q": f"{asked} model:other"}, False),
    ):
        assert (said in client.get(f"/runs?{urlencode(query)}").text) is is_said, query
        listed = present(client.get(f"/runs.json?{urlencode(query)}").json)
        assert listed["n_without_slices"] == is_said, query
    log(database, dataset="other")  # Then the list is grouped by datasets.
    assert said in client.get(f"/runs?{urlencode({'q': asked})}").text


def test_a_list_sorted_by_a_metric_says_how_many_weighted_runs_come_last(
    client: FlaskClient, database: Database, run_id: str
) -> None:
    said = (
        "1 run here has sample weights, so its values do not compare with the rest, "
        "which comes first."
    )
    assert said not in client.get("/runs?q=dataset:holdout&sort=-acc").text
    poor = log(database, y_pred=["b", "a", "a", "a", "a", "a"], facts=RunFacts(name="poor"))
    work_off(database)

    for sort, is_by_metric in (("-acc", True), ("worst", True), ("-logged", False)):
        query = f"q=dataset:holdout&sort={sort}"
        listed = present(client.get(f"/runs.json?{query}").json)
        assert (said in client.get(f"/runs?{query}").text) is is_by_metric, sort
        assert listed["n_weighted"] == is_by_metric, sort
        if is_by_metric:
            assert [each["id"] for each in listed["runs"]] == [poor.id, run_id], sort
    by_accuracy = "order_by=metrics.overall_accuracy+desc&limit=1"
    answer = present(client.get(f"/api/v1/runs?{by_accuracy}").json)
    assert ([each["id"] for each in answer["runs"]], answer["n_weighted"]) == ([poor.id], 1)
    rest = f"/api/v1/runs?{by_accuracy}&page_token={answer['next_page_token']}"
    following = present(client.get(rest).json)
    assert [each["id"] for each in following["runs"]] == [run_id]


def test_costs_tell_how_many_runs_are_left_out(
    client: FlaskClient, database: Database, run_id: str
) -> None:
    plain = log(database)
    evaluate(database, plain.id)
    said = "1 run with sample weights is not ranked with runs without."

    assert said in client.get("/whatif?dataset=holdout", follow_redirects=True).text
    for path in (f"/whatif.json?runs={plain.id}&cost=@0-1", "/api/v1/costs?dataset=holdout"):
        found = present(client.get(path).json)
        assert [each["run"] for each in found["runs"]] == [plain.id], path
        assert found["n_weighted"] == 1, path
    client.delete(f"/api/v1/runs/{run_id}")
    assert said not in client.get("/whatif?dataset=holdout", follow_redirects=True).text


def test_a_weighted_run_stands_below_the_end_of_the_best_set(
    client: FlaskClient, database: Database
) -> None:
    actual = ["a", "b"] * 100
    other = {"a": "b", "b": "a"}
    good, _ = (
        log(
            database,
            y_true=actual,
            y_pred=[other[y] if at < n_wrong else y for at, y in enumerate(actual)],
            facts=RunFacts(name=name),
        ).id
        for name, n_wrong in (("good", 10), ("poor", 90))
    )
    work_off(database)
    assert "above: no significant difference" in client.get("/runs?q=dataset:holdout").text
    weights = [1.0, 2.0] * 100
    weighted = log(
        database, y_true=actual, y_pred=actual, sample_weight=weights, facts=RunFacts(name="w")
    )
    work_off(database)

    listed = client.get("/runs?q=dataset:holdout").text

    border = listed.index("above: no significant difference")
    assert listed.index("/runs/" + good) < border < listed.index("/runs/" + weighted.id)
    assert listed.count("★") == 2  # Of the line, and in the legend.


def test_maps_of_metrics_and_the_decision_take_no_weighted_value_for_one_of_counts(
    client: FlaskClient, database: Database
) -> None:
    actual = ["a"] * 4 + ["b"] * 4
    predicted = ["a"] * 4 + ["b", "b", "a", "a"]
    facts = RunFacts(name="survey", model="net")
    weights = [1.0] * 4 + [0.5, 0.5, 0.25, 0.75]
    log(database, y_true=actual, y_pred=predicted, sample_weight=weights, facts=facts)
    work_off(database)
    decision = client.get("/datasets/holdout").text
    assert "b 0.500" in decision
    assert "2/4" not in decision
    log(database, y_true=actual, y_pred=predicted, facts=RunFacts(name="plain"))
    work_off(database)

    page = client.get("/glossary/mcc?dataset=1").text

    assert ">plain<" in page
    assert "survey" not in page
    assert "Not drawn: 1 run with sample weights." in page
    assert "b 2/4" in client.get("/datasets/holdout").text


def test_the_first_page_marks_a_champion_with_weights_beside_others(
    client: FlaskClient, database: Database, run_id: str
) -> None:
    log(database, dataset="other")
    log(database)
    work_off(database)
    assert "Balanced accuracy, weighted" not in client.get("/").text

    approve(database, run_id, reason="the survey counts", author=None)

    assert "Balanced accuracy, weighted" in client.get("/").text


def test_pictures_draw_weighted_runs_apart_from_others(
    client: FlaskClient, database: Database
) -> None:
    for name in ("survey 1", "survey 2"):
        facts = RunFacts(name=name, model="net", params={"lr": 1})
        log(database, sample_weight=WEIGHT, facts=facts)
    work_off(database)
    assert "Accuracy of 2 runs, oldest first" in client.get("/models/net").text
    plain = log(database, facts=RunFacts(name="plain 1", model="net", params={"lr": 2}))
    log(database, facts=RunFacts(name="plain 2", model="net", params={"lr": 3}))
    work_off(database)

    said = "Not drawn: 2 runs with sample weights."
    model = client.get("/models/net").text
    assert "Accuracy of 2 runs, oldest first: from 0.667 to 0.667" in model
    assert said in model
    for form in ("trend", "parallel"):
        page = client.get(f"/runs?q=dataset:holdout&view={form}").text
        picture = page.split("<figure")[1].split("</svg>")[0]
        assert "plain 1" in picture
        assert "survey" not in picture
        assert said in page
    listed = client.get("/runs?q=dataset:holdout").text
    assert "2 runs here have sample weights, so their values do not compare" in listed
    assert "do not compare" not in client.get("/runs?q=dataset:holdout+plain").text
    held = client.get(f"/runs?q=dataset:holdout&base={plain.id}").text
    lines = {name: held.split(name)[-1].split("</tr>")[0] for name in ("plain 2", "survey 2")}
    assert "baseline 0.667" in lines["plain 2"]
    assert "baseline" not in lines["survey 2"]
