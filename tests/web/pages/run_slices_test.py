"""The page of slices says for whom a run fails, and leads to the examples."""

from __future__ import annotations

import io
import re
import shlex
from typing import cast

import numpy as np
import pytest
from rich.console import Console

import offdiag
from offdiag.cli.read.run_tables import worst_slices_table
from offdiag.flags.lifecycle import Action
from offdiag.gate.conditions import MetricCondition, parse_condition
from offdiag.records.runs.slices import RunSlices
from offdiag.services.champions.promotions import approve
from offdiag.services.flags.triage import decide_flags
from offdiag.store.database import Database
from offdiag_web.pages.run_slices import page as slices_page
from support.filled_once import filled_once
from support.gates import judged
from support.logging_runs import evaluate, log
from support.pages import PageClient

N = 800


@pytest.fixture
@filled_once
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
    first = client.json(f"/runs/{run_id}/slices.json")["gaps"][0]
    assert first["slice"] == "site=z"
    assert first["is_significant"]
    assert said.replace("▲", "").startswith("Worse on site z: Recall of ill")
    assert f"{first['hits']} of {first['cases']} against" in said
    link = page.one("table", "slice-table").inside("a")[0]
    examples = client.page(link["href"])
    assert f"{first['cases'] - first['hits']}" in examples.one("main").text
    listed = client.get(link["href"].replace("examples?", "examples.json?")).get_json()
    assert len(listed["examples"]) == first["cases"] - first["hits"]
    assert {each["slices"]["site"] for each in listed["examples"]} == {"z"}
    assert {each["actual"] for each in listed["examples"]} == {"ill"}
    # Beside it, the recall of each class in each slice.
    strip, cross = page.all("table", "slice-heat")
    evaluated = client.json(f"/api/v1/runs/{run_id}/evaluation?slice=site%3Dz")
    cells = [cell.attributes.get("title") or "" for cell in strip.inside("td")]
    ill = evaluated["labels"]["names"].index("ill")
    assert f"{evaluated['per_class']['recall'][ill]['value']:.2f}" in strip.text
    assert any(each.startswith("ill, z:") and each.endswith("significant") for each in cells)
    assert not any(each.startswith("well, z:") and "significant" in each for each in cells)
    assert "w" in cross.text
    # A gap is in points only where the metric is a share.
    gaps = {row[1]: row[5] for row in page.table("slice-table") if row[0].startswith("z ")}
    assert " pp (" in gaps["Accuracy"]
    for name in ("Cohen's kappa", "MCC"):
        assert re.match(r"\N{MINUS SIGN}0\.\d{3} \(", gaps[name]), gaps


def test_a_run_that_fails_on_a_slice_does_not_open_with_praise(
    client: PageClient, database: Database, run_id: str
) -> None:
    (flag,) = client.json("/api/v1/flags?rule=F16")["flags"]

    said = client.page(f"/runs/{run_id}").one("p", "statement")

    message = flag["message"].replace("'ill'", "“ill”").replace("-", "\N{MINUS SIGN}")
    assert said.text.startswith(f"▲{message}")
    assert said.inside("a")[0]["href"] == f"/flags/{flag['id']}"
    assert "▲" in client.page(f"/runs/{run_id}/slices").one("nav", "tabs").inside("a")[0].text
    decide_flags(database, [flag["id"]], Action.DISMISS, reason="known", author="ana")
    assert client.page(f"/runs/{run_id}").one("p", "statement").text == (
        "Every class is found clearly more often than by chance."
    )


def test_the_csv_has_all_gaps(
    client: PageClient, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = client.json(f"/runs/{run_id}/slices.json")["gaps"]
    monkeypatch.setattr(slices_page, "MOST_GAPS", 2)

    cut = client.json(f"/runs/{run_id}/slices.json")["gaps"]
    lines = client.records(f"/runs/{run_id}/slices.csv")

    assert cut == whole[:2]
    assert [(line["slice"], line["metric"]) for line in lines] == [
        (gap["slice"], gap["metric"]) for gap in whole
    ]


def test_what_cannot_be_meant_is_said_and_the_slices_are_listed(
    client: PageClient, run_id: str
) -> None:
    page = client.page(f"/runs/{run_id}/slices?show=f1&class=flu&columns=a&by=colour")
    examples = client.page(f"/runs/{run_id}/examples?slice=site%3Dq")

    notices = [each.text for each in page.all("p", "callout") if "There is no" in each.text]
    assert notices == [
        "There is no kind of metrics “f1”; use recall, accuracy, averages.",
        "There is no slice column “colour”; use device, site.",
        "There is no class “flu” here.",
        "There is no pair of columns “a”; use device × site.",
    ]
    assert page.all("table", "slice-table")
    assert "no sample has site “q”" in examples.one("main").text


def test_run_and_dataset_show_the_worst_slices(
    client: PageClient, database: Database, run_id: str
) -> None:
    approve(database, run_id, reason="the only one", author="ana")

    for address in (f"/runs/{run_id}", "/datasets/holdout"):
        table = client.page(address).one("table", "slice-table")
        assert table.inside("a")[0].text == "z"
        rows = [row.text.split() for row in table.inside("tbody")[0].inside("tr")]
        of_all = [row[0] for row in rows if "Recall" not in row]
        assert len(of_all) == len(set(of_all))


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
        for each in client.json("/api/v1/problems?low=true")["problems"]
        if each["cause"] == "slice"
    ]
    gap = client.json(f"/runs/{run_id}/slices.json")["gaps"][0]

    listed = client.page("/problems?cause=slice").one("main").text
    page = client.page(f"/problems/{problem['id']}")

    assert (problem["class_label"], problem["slice"]) == ("ill", "site=z")
    assert problem["value"] == f"{gap['hits']} of {gap['cases']} correct"
    assert problem["title"] == "Low recall of ill on site=z"
    assert "Low recall of ill on site=z" in listed
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
    examples = client.page(title.inside("a")[0]["href"])
    assert f"{n_missed}" in examples.one("main").text


def test_the_page_of_a_flag_on_a_slice_names_it(client: PageClient, run_id: str) -> None:
    (flag,) = client.json("/api/v1/flags?rule=F16")["flags"]

    page = client.page(f"/flags/{flag['id']}")

    assert flag["slice"] == "site=z"
    assert page.one("h1").text == "Far worse on a slice: “ill” on site=z"
    assert client.json("/api/v1/flags?slice=site%3Dw")["flags"] == []
    assert len(client.json(f"/api/v1/flags?run={run_id}&slice=site%3Dz")["flags"]) == 1


def test_every_page_of_a_run_can_be_about_a_slice(client: PageClient, run_id: str) -> None:
    part = "?slice=site%3Dz"
    of_slice = client.json(f"/api/v1/runs/{run_id}/evaluation{part}")
    n = of_slice["aggregate"]["n"]["value"]

    for name in ("", "/classes", "/examples"):
        page = client.page(f"/runs/{run_id}{name}{part}")
        (chosen,) = [each for each in page.all("option") if "selected" in each.attributes][:1]
        assert chosen.text == "site=z"
        tabs = page.one("nav", "tabs").inside("a")
        of_tab = {each.text.split()[0]: each["href"] for each in tabs}
        assert of_tab["Classes"] == f"/runs/{run_id}/classes{part}"
        assert of_tab["Slices"] == f"/runs/{run_id}/slices"

    page = client.page(f"/runs/{run_id}{part}")
    assert f"{n:.0f} examples" in page.one("p", "run-facts").text
    assert not page.all("p", "statement")
    ill = of_slice["labels"]["names"].index("ill")
    matrix = client.json(f"/runs/{run_id}/matrix.json{part}")
    places = [matrix["labels"].index(name) for name in of_slice["labels"]["names"]]
    counts = np.array(matrix["matrix"])[np.ix_(places, places)]
    assert counts.tolist() == of_slice["matrix"]
    classes = client.json(f"/runs/{run_id}/classes.json{part}")["per_class"]
    expected = of_slice["per_class"]["recall"][ill]
    assert [classes["recall"][ill][key] for key in ("value", "ci_low", "ci_high")] == [
        expected[key] for key in ("value", "ci_low", "ci_high")
    ]
    links = [each.attributes.get("href", "") for each in page.one("main").inside("a")]
    examples = [each for each in links if "/examples?" in each]
    assert examples
    assert all("slice=site%3Dz" in each for each in examples)


def test_a_slice_that_there_is_none_of_is_refused_with_a_way_out(
    client: PageClient, run_id: str
) -> None:
    for name in ("", "/classes", "/curves", "/matrix.svg", "/card.svg"):
        page = client.page(f"/runs/{run_id}{name}?norm=col&slice=colour%3Dred", 400)

        assert "no slice column “colour”" in page.one("main").text
        way_out = page.link("This page without slice=colour=red")
        assert way_out == f"/runs/{run_id}{name}?norm=col"


def test_curves_of_a_slice_are_drawn_from_its_scores_alone(
    client: PageClient, database: Database
) -> None:
    rng = np.random.default_rng(4)
    actual, site = rng.integers(0, 2, 300), rng.choice(["x", "z"], 300)
    score = np.clip(0.5 + 0.3 * (2 * actual - 1) * (site == "x") + rng.normal(0, 0.1, 300), 0, 1)
    runs = [
        log(
            database,
            y_true=actual[chosen],
            y_pred=(score[chosen] >= 0.5).astype(int),
            y_score=score[chosen],
            sample_ids=np.flatnonzero(chosen),
            slices={"site": site[chosen]},
            dataset=name,
        )
        for name, chosen in (("all", np.ones(300, dtype=bool)), ("z alone", site == "z"))
    ]
    for run in runs:
        evaluate(database, run.id)
    whole, alone = runs

    found = client.json(f"/runs/{whole.id}/curves.json?slice=site%3Dz")
    expected = client.json(f"/runs/{alone.id}/curves.json")

    assert found["curves"] == expected["curves"]
    assert found["curves"] != client.json(f"/runs/{whole.id}/curves.json")["curves"]
    assert client.get(f"/runs/{whole.id}/curves?slice=site%3Dz").status_code == 200


def test_fairness_between_the_groups_of_a_column_is_shown_on_demand(
    client: PageClient, run_id: str
) -> None:
    stored = client.json(f"/api/v1/runs/{run_id}/fairness?by=site&class_label=ill")
    lines = {each["criterion"]: each for each in stored["classes"][0]["criteria"]}

    plain = client.page(f"/runs/{run_id}/slices")
    assert "Equal opportunity" not in plain.one("main").text
    page = client.page(f"/runs/{run_id}/slices?by=site&class=ill")

    shown = next(t for t in page.all("table") if t.text.startswith("Criterion")).text
    assert f"{lines['equal_opportunity']['difference']['value']:.3f}" in shown
    assert f"{lines['equal_opportunity']['ratio']['value']:.3f}" in shown
    assert stored["leaves_out"] in page.one("main").text


def test_a_condition_of_a_gate_is_offered_that_this_run_fails(
    client: PageClient, database: Database, run_id: str
) -> None:
    page = client.page(f"/runs/{run_id}/slices")

    option, text = shlex.split(page.one("pre").text)
    assert option == "--min"
    assert text.startswith("recall[ill]@site=z>=0.")
    (finding,) = judged(database, run_id, text).findings
    assert not finding.passed


def test_a_condition_of_a_gate_is_quoted_for_its_shell(
    client: PageClient, database: Database
) -> None:
    actual = ["it's $x"] * 100 + ["well"] * 100
    run = log(
        database,
        y_true=actual,
        y_pred=["well"] * 40 + actual[40:],
        slices={"site": ["z"] * 50 + ["y"] * 150},
    )
    evaluate(database, run.id)

    words = shlex.split(client.page(f"/runs/{run.id}/slices").one("pre").text)

    assert words[0] == "--min"
    condition = parse_condition(words[1])
    assert isinstance(condition, MetricCondition)
    assert condition.class_label == "it's $x"


@pytest.fixture
@filled_once
def crossed(database: Database) -> str:
    """A run that misses most of "ill" where three columns meet."""
    rng = np.random.default_rng(5)
    given = {name: rng.choice(["x", "y", "z"], 4 * N) for name in ("site", "device", "age")}
    actual = rng.choice(["ill", "well"], 4 * N)
    fails = np.logical_and.reduce([each == "z" for each in given.values()]) & (actual == "ill")
    other = np.where(actual == "ill", "well", "ill")
    run = log(
        database,
        y_true=actual,
        y_pred=np.where(rng.random(4 * N) < np.where(fails, 0.1, 0.95), actual, other),
        sample_ids=np.arange(4 * N),
        slices={**given, "ward": rng.choice(["p", "q"], 4 * N)},
    )
    evaluate(database, run.id)
    return run.id


def test_three_columns_are_crossed_on_request(
    client: PageClient, database: Database, crossed: str
) -> None:
    part = "age=z & device=z & site=z"
    before = client.page(f"/runs/{crossed}/slices")
    page = client.page(f"/runs/{crossed}/slices?across=site&across=device&across=age")
    found = offdiag.get_run(crossed, url=database.url).slices(
        "recall", columns=["site", "device", "age"]
    )
    answer = client.json(f"/api/v1/runs/{crossed}/slices?columns=site,device,age")

    assert "Crosses of three columns" in before.one("main").text
    assert found.iloc[0]["slice"] == part
    assert found.iloc[0]["is_significant"]
    assert answer["gaps"][0]["slice"] == part
    assert "ward" not in answer["columns"]
    (table,) = (each for each in page.all("table") if "z, z, z" in each.text)
    link = table.inside("a")[0]["href"]
    listed = client.get(link.replace("examples?", "examples.json?")).get_json()["examples"]
    where = {tuple(each["slices"][name] for name in ("age", "device", "site")) for each in listed}
    assert where == {("z", "z", "z")}
    assert len(listed) == found.iloc[0]["cases"] - found.iloc[0]["hits"]
    exact = offdiag.get_run(crossed, url=database.url).evaluation(slice=part)
    recall = exact.per_class["recall"]["ill"]
    assert found.iloc[0]["value"] == pytest.approx(recall.value)


def test_other_columns_are_refused(client: PageClient, crossed: str) -> None:
    for columns, said in (
        ("site,device", "3 different columns"),
        ("site,device,nope", "no slice column 'nope'"),
    ):
        answer = client.get(f"/api/v1/runs/{crossed}/slices?columns={columns}")

        assert answer.status_code >= 400
        assert said in answer.text


def test_gaps_have_the_units_of_the_page_on_the_command_line(
    client: PageClient, run_id: str
) -> None:
    found = RunSlices.model_validate(client.json(f"/api/v1/runs/{run_id}/slices?limit=100"))
    console = Console(width=300, file=io.StringIO())

    console.print(worst_slices_table(found))

    printed = cast("io.StringIO", console.file).getvalue()
    lines = client.page(f"/runs/{run_id}/slices").one("table", "slice-table").inside("tbody")[0]
    shown = [cell.text for cell in lines.inside("td", "slice-gap")]
    assert any(" pp" in text for text in shown)
    assert any(" pp" not in text for text in shown)
    for text in shown:
        assert text.removesuffix("▲significant").strip() in printed
