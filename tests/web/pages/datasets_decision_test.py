"""The first page of a dataset: which run to use, and what would change that."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from werkzeug.test import TestResponse

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.domain.texts import CostName
from offdiag.metrics.costs.decisions import ExpectedCostRule, described
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.services.champions.decision import Decision, browse_decision
from offdiag.services.champions.promotions import approve, propose
from offdiag.services.cost_matrices import add_costs, set_default_costs
from offdiag.services.ingest.derive_run import derive_run
from offdiag.services.retention.deletion import delete_run
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from offdiag_web.urls.datasets import DatasetAddress
from support.dashboard import counted_statements, fail_evaluation, log_counts
from support.filled_once import filled_once
from support.forms import forms_of
from support.forms import send as send_form
from support.logging_runs import correct_labels, log, run_step, work_off
from support.optional import present
from support.pages import Page, PageClient

N = 400
ACTUAL = np.arange(N) % 2
WRONG = {"first": 100, "second": 97, "best": 20, "dropped": 120}
"""Samples that each run gets wrong, from the beginning on."""


def log_wrong(
    database: Database,
    name: str,
    *,
    model: str = "net",
    at: Iterable[int] | None = None,
    **given: Any,
) -> RunRecord:
    """Log a run that is wrong at some samples, or at the first `WRONG`."""
    is_wrong = np.isin(np.arange(N), list(range(WRONG[name]) if at is None else at))
    predicted = np.where(is_wrong, 1 - ACTUAL, ACTUAL)
    facts = RunFacts(name=name, model=model)
    return log(database, y_true=ACTUAL.tolist(), y_pred=predicted.tolist(), facts=facts, **given)


@cache
def filled_with(names: tuple[str, ...]) -> Callable[[Database], dict[str, str]]:
    """Logs these runs, once for all tests that begin with them."""

    def log_all(database: Database) -> dict[str, str]:
        runs = {name: log_wrong(database, name).id for name in names}
        work_off(database)
        return runs

    return filled_once(log_all)


def fill(database: Database, *names: str) -> dict[str, str]:
    return filled_with(names)(database)


def found(database: Database, difference: float = 0.01) -> Decision:
    return browse_decision(database, project="default", dataset="holdout", difference=difference)


def test_the_verdict_is_one_sentence_that_names_the_leader_and_predictions_are_read_once(
    client: PageClient, database: Database
) -> None:
    runs = fill(database, "first", "second", "best")
    with counted_statements() as statements:
        decision = found(database)

    page = client.page("/datasets/holdout")
    assert decision.facts.candidate is None
    assert sum("FROM prediction_chunk" in each for each in statements) == 1
    verdict = page.one("p", "verdict-text").text
    assert verdict == "best leads: every other run is significantly lower."
    assert [row[0] for row in page.table("best-set")] == ["best"]
    record = client.json("/datasets/holdout.json")
    assert record["verdict"] == verdict
    assert record["best_set"] == [runs["best"]]
    assert (record["champion"], record["candidate"]) == (None, None)
    assert record["primary_metric"] == "balanced_accuracy"


def test_classes_with_numbers_for_names_are_not_read_as_part_of_the_next_number(
    client: PageClient, database: Database
) -> None:
    (run_id,) = fill(database, "first").values()

    page = client.page("/datasets/holdout")
    listed = client.page("/runs?q=dataset:holdout").one("main").text

    head = page.one("div", "dataset-head").text
    assert "largest “0” 50.0" in head or "largest “1” 50.0" in head
    (row,) = page.table("best-set")
    assert re.fullmatch(r"“[01]” \d+/\d+", row[-1])
    assert re.search(r"“[01]” ?\d+/\d+|\d+/\d+ ?“[01]”", listed), run_id


def test_runs_that_cannot_be_told_apart_are_counted_and_compared(
    client: PageClient, database: Database
) -> None:
    database_runs = fill(database, "first", "second", "best")
    log_wrong(database, "as good", at=range(30, 48))
    work_off(database)

    page = client.page("/datasets/holdout")
    assert (
        page.one("p", "verdict-text").text == "2 of 4 runs may be the best by balanced accuracy."
    )
    compare = next(a for a in page.all("a") if a.text.startswith("Compare 2"))
    assert database_runs["best"] in compare["href"]
    dots = page.one("svg", "scatter").inside("a")
    assert len(dots) == 4
    assert sum("in-set" in dot.classes for dot in dots) == 2
    # The name of a dot says what its fill and its bar show.
    spoken = [dot["aria-label"] for dot in dots]
    assert [text.endswith(", in the best set") for text in spoken] == [False, False, True, True]
    number = r"0\.\d{3}"
    assert all(re.search(rf"{number} \({number} – {number}\), ", text) for text in spoken)
    labelled = page.one("p", "budget").text
    assert labelled.startswith(("About", "More than"))
    said = r"Chosen for its value among 4 runs, the first is expected to reach about (0\.\d+) on"
    reaches = re.search(said, page.one("main").text)
    assert reaches is not None
    assert 0.5 < float(reaches[1]) <= float(page.table("best-set")[0][1])


def test_the_champion_is_the_reference_and_samples_that_decide_follow_from_disagreement(
    client: PageClient, database: Database
) -> None:
    first, second = fill(database, "first", "second").values()
    assert client.json("/datasets/holdout.json")["best_set"] == [second, first]
    approve(database, first, reason="in use", author=None)

    page = client.page("/datasets/holdout")
    compare = next(a for a in page.all("a") if a.text.startswith("Compare 2"))
    assert compare["href"] == f"/compare?runs={first},{second}"
    budget = present(found(database, difference=0.05).facts.budget)
    assert (budget.first_id, budget.second_id) == (second, first)
    # Three samples are right in one run alone; each moves balanced accuracy by 1 of 400.
    error = np.sqrt(3) / N
    wanted = ((1.959964 + 0.841621) * error / 0.05) ** 2 * N
    assert budget.needed == np.ceil(wanted)
    assert budget.n_samples == N
    assert budget.detectable == pytest.approx(2.801585 * error, rel=0.03)
    assert [row[0] for row in page.table("budget-classes")] == ["1", "0"]
    # Two of these three are of class 1.
    by_default = present(found(database).facts.budget)
    assert by_default.by_class.keys() == {0, 1}
    assert by_default.by_class[1] > by_default.by_class[0]


def test_a_decision_that_others_have_made_meanwhile_is_not_overruled(
    client: PageClient, database: Database
) -> None:
    runs = fill(database, "first", "best")
    form = forms_of(client, "/datasets/holdout/approve")[0]
    typed = {"run": runs["best"], "action": "approve", "reason": "the best of two"}
    approve(database, runs["first"], reason="in use", author="lee")

    refused = send_form(client, form, typed)

    assert refused.status_code == 422
    said = Page(refused.text).one("div", "callout-warning").text
    assert f"Run {runs['first']} became the champion since this was decided." in said
    assert client.json("/datasets/holdout.json")["champion"]["run"] == runs["first"]
    again = Page(refused.text).all("form")
    shown = next(each for each in again if each.inside("select"))
    assert send_form(client, shown, {**typed, "action": "propose"}).status_code == 303
    assert send_form(client, shown, typed).status_code == 303
    late = send_form(client, form, {**typed, "run": runs["first"], "action": "propose"})
    assert late.status_code == 303


def test_the_first_drop_is_told_with_an_interval_below_zero(database: Database) -> None:
    runs = fill(database, "first", "best", "dropped")

    drop = present(found(database).facts.drop)
    assert (drop.run_id, drop.best_id) == (runs["dropped"], runs["best"])
    assert drop.difference.value == pytest.approx((WRONG["best"] - WRONG["dropped"]) / N)
    assert present(drop.difference.high) < 0


def test_a_lower_run_of_another_model_is_no_drop(database: Database) -> None:
    log_wrong(database, "best", model="one")
    log_wrong(database, "dropped", model="another")
    work_off(database)

    assert found(database).facts.drop is None


def test_what_the_cheapest_run_saves_is_the_difference_of_both_mean_costs(
    client: PageClient, database: Database
) -> None:
    runs = fill(database, "first", "best")
    weights = np.array([[0.0, 1.0], [4.0, 0.0]])
    add_costs(database, project="default", dataset="holdout", name="visits", weights=weights)
    set_default_costs(database, project="default", dataset="holdout", wanted=CostName("visits", 1))
    work_off(database)
    approve(database, runs["first"], reason="the first", author="lee")

    saved = present(found(database).facts.to_champion)
    # Of the samples that are wrong, every other one costs 1 and every other one 4.
    assert saved.value == pytest.approx(2.5 * (WRONG["best"] - WRONG["first"]) / N)
    verdict = client.page("/datasets/holdout").one("section", "verdict").text
    assert "best costs 125.0 per 1,000. To the champion −500.0" in verdict
    assert "cost 125.0 per 1,000" in client.get("/datasets/holdout?y=cost").text


def test_no_run_is_the_cheapest_of_the_set_before_all_of_it_have_costs(
    client: PageClient, database: Database
) -> None:
    fill(database, "first", "second")
    weights = np.array([[0.0, 1.0], [4.0, 0.0]])
    add_costs(database, project="default", dataset="holdout", name="visits", weights=weights)
    set_default_costs(database, project="default", dataset="holdout", wanted=CostName("visits", 1))

    run_step(database)
    half = found(database)
    page = client.page("/datasets/holdout").one("section", "verdict").text
    work_off(database)

    assert len(half.leaders.best_set) == 2
    assert sum("mean_cost" in values for values in half.facts.values.values()) == 1
    assert half.facts.cheapest is None
    assert "costs least" not in page
    assert "costs least" in client.page("/datasets/holdout").one("section", "verdict").text

    set_default_costs(database, project="default", dataset="holdout", wanted=None)
    work_off(database)
    assert "costs least" not in client.page("/datasets/holdout").one("section", "verdict").text


def test_champion_and_candidate_stand_beside_each_other(
    client: PageClient, database: Database
) -> None:
    runs = fill(database, "first", "best")
    approve(database, runs["first"], reason="highest <recall>", author="lee")
    propose(database, runs["best"], author="ana")

    page = client.page("/datasets/holdout")
    assert [tag.text for tag in page.all("span", "role")].count("champion") >= 1
    chosen = page.one("div", "chosen").text
    assert "Approved by lee: “highest <recall>”" in chosen
    assert "Proposed by ana" in chosen
    assert "+20.0 pp" in chosen
    assert re.search(
        r"0\.\d{3} \(0\.\d{3} – 0\.\d{3}\) balanced accuracy, not in the best set", chosen
    )
    record = client.json("/datasets/holdout.json")
    assert record["champion"]["run"] == runs["first"]
    assert record["candidate"]["run"] == runs["best"]


def test_the_highest_run_is_not_said_to_differ_from_a_champion_of_its_set(
    client: PageClient, database: Database
) -> None:
    """It was chosen for being highest: by an interval for two runs alone, the highest of twelve
    equally good runs often seems to be better than any given one."""
    wrong = {"champion": range(100), "highest": range(92)}
    wrong |= {f"other {k}": range(100 + 25 * k, 198 + 25 * k) for k in range(8)}
    ids = {name: log_wrong(database, name, at=errors).id for name, errors in wrong.items()}
    work_off(database)
    approve(database, ids["champion"], reason="in use", author=None)

    page = client.page("/datasets/holdout")
    assert page.one("p", "verdict-text").text == (
        "Each of 10 runs may be the best by balanced accuracy."
    )
    assert "to the champion: no significant difference" in page.one("div", "chosen").text
    assert "not in the best set" not in page.one("div", "chosen").text
    assert page.all("p", "budget")
    propose(database, ids["highest"], author="ana")
    # A run that was named beforehand is compared with the champion alone.
    assert (
        "no significant difference"
        not in client.page("/datasets/holdout").one("div", "chosen").text
    )


def test_a_run_whose_others_are_on_other_samples_is_not_called_the_only_one(
    client: PageClient, database: Database
) -> None:
    for name, n in (("on many", 40), ("on few", 20)):
        log_counts(database, ((n, 2), (2, n)), ("a", "b"), name=name, dataset="holdout")

    decision = client.page("/datasets/holdout")
    verdict = decision.one("p", "verdict-text").text

    assert verdict == "1 of 2 runs can be ranked, nothing to compare."
    assert "only run" not in decision.one("div", "chosen").text
    listed = client.page("/runs?q=dataset:holdout")
    assert listed.one("p", "callout").text == (
        "1 run here is on other labels than v2, so its values do not compare with those on v2."
    )
    assert ["labels v1" in head.text for head in listed.one("tbody").inside("th")] == [True, False]
    assert client.json("/datasets/holdout.json")["verdict"] == verdict


def test_runs_that_wait_for_their_results_on_corrected_labels_are_not_on_other_samples(
    client: PageClient, database: Database
) -> None:
    fill(database, "first", "second")
    correct_labels(database, {0: "1"})

    listed = client.page("/runs?q=dataset:holdout")

    assert listed.one("p", "callout").text == (
        "2 runs here are on other labels than v2, so their values do not compare with those on v2."
    )


def test_one_run_has_nothing_to_be_compared_with_and_what_cannot_be_meant_is_refused(
    client: PageClient, database: Database
) -> None:
    fill(database, "first")
    other = log(database, dataset="other")
    work_off(database)

    page = client.page("/datasets/holdout")
    assert page.one("p", "verdict-text").text == "1 run, nothing to compare."
    assert page.one("div", "chosen").text.endswith("first only run")
    assert len(page.one("svg", "scatter").inside("a")) == 1
    assert not page.all("svg", "model-trend")
    assert not page.all("p", "budget")
    assert client.get("/datasets/holdout?difference=0").status_code == 400
    assert "is not a number; 1 point is used" in client.get("/datasets/holdout?difference=x").text
    axes = client.page("/datasets/holdout?x=z&y=w").one("main").text
    assert "There is no horizontal axis “z”; use" in axes
    assert "There is no vertical axis “w”; use cost." in axes
    typed = {"run": other.id, "action": "approve", "reason": "why not"}
    response = sent(client, typed)
    assert response.status_code == 422
    assert "is on dataset" in response.text


def test_a_run_whose_evaluation_failed_is_not_said_to_wait_for_it(
    client: PageClient, database: Database
) -> None:
    failed = log_wrong(database, "first")
    fail_evaluation(database, failed.id, error="OSError: disk full")

    page = client.page("/datasets/holdout")

    assert "The evaluation of 1 run failed" in page.one("div", "empty").text
    assert "/jobs" in {a["href"] for a in page.one("div", "empty").inside("a")}
    assert "No worker is running" not in page.one("main").text
    log_wrong(database, "second")
    both = client.page("/datasets/holdout")
    assert "1 run waits for evaluation, that of 1 failed" in both.one("div", "empty").text
    assert "No worker is running" in both.one("main").text


def test_a_dataset_without_runs_or_labels_says_what_is_missing(
    client: PageClient, database: Database
) -> None:
    log_wrong(database, "first")
    waiting = client.page("/datasets/holdout")
    assert "1 run waits for evaluation" in waiting.one("div", "empty").text
    assert "No worker is running" in waiting.one("main").text

    log(
        database,
        y_true=None,
        y_pred=["a", "b"],
        dataset="bare",
        labels=["a", "b"],
        sample_ids=["one", "two"],
    )
    work_off(database)
    assert "offdiag truth revise bare" in client.page("/datasets/bare").one("div", "empty").text


def test_a_first_run_that_was_not_tested_is_not_said_to_be_better(
    client: PageClient, database: Database
) -> None:
    actual = ["x"] * 100 + ["y"] * 3
    for name, n_wrong in (("good", 0), ("poor", 60)):
        predicted = ["y"] * n_wrong + actual[n_wrong:]
        log(database, y_true=actual, y_pred=predicted, dataset="tiny", facts=RunFacts(name=name))
    work_off(database)

    said = client.page("/datasets/tiny").one("p", "verdict-text").text

    assert said.startswith(
        "good has the highest balanced accuracy, perhaps by chance; not tested, because a class "
        "has fewer than 5 labelled examples."
    )


def test_what_is_printed_to_be_copied_is_quoted_for_its_shell(
    client: PageClient, database: Database
) -> None:
    name, project = 'it\'s "my" data; ls', "lab 2"
    run = log(
        database,
        y_true=None,
        y_pred=["a", "b"],
        dataset=name,
        facts=RunFacts(name="run", project=project),
        labels=["a", "b"],
        sample_ids=["one", "two"],
    )
    work_off(database)

    url = DatasetAddress(project, name).url()
    for path in (url, f"/runs/{run.id}"):
        words = shlex.split(client.page(path).one("code").text)
        assert words[:5] == ["offdiag", "truth", "revise", name, "labels.csv"]
        assert words[-2:] == ["--project", project]

    delete_run(database, run.id, by=None)
    snippet = "".join(client.page(url).one("pre", "snippet").parts)
    (given,) = [
        node
        for node in ast.walk(ast.parse(snippet.replace("…", "...")))
        if isinstance(node, ast.Call)
    ]
    named = {each.arg: each.value for each in given.keywords}
    assert ast.literal_eval(named["dataset"]) == name
    assert ast.literal_eval(named["project"]) == project


def sent(client: PageClient, typed: dict[str, str]) -> TestResponse:
    return send_form(client, forms_of(client, "/datasets/holdout/approve")[0], typed)


def test_no_run_is_preselected_if_the_candidate_is_worse_than_the_champion(
    client: PageClient, database: Database
) -> None:
    runs = fill(database, "first", "best", "dropped")
    approve(database, runs["best"], reason="in use", author="lee")
    propose(database, runs["dropped"], reason="smaller", author="ann")

    form = client.page("/datasets/holdout/approve")
    (chosen,) = [each for each in form.all("option") if "selected" in each.attributes]
    assert (chosen["value"], chosen.text) == ("", "Choose a run")
    assert "required" in form.one("select", id="run").attributes
    said = form.one("p", id="run-hint").text
    assert re.fullmatch(
        r"No run is preselected: the candidate dropped is worse than the champion, "
        r"−\d+\.\d pp \(.+\) balanced accuracy.",
        said,
    )
    unchosen = sent(client, {"run": "", "action": "approve", "reason": "why not"})
    assert unchosen.status_code == 422
    assert "No run was chosen" in unchosen.text
    asked = client.page(f"/datasets/holdout/approve?run={runs['first']}")
    assert not asked.all("p", id="run-hint")

    propose(database, runs["first"], reason="another", author="ann")
    assert "worse" in client.page("/datasets/holdout/approve").one("p", id="run-hint").text
    approve(database, runs["dropped"], reason="smaller", author="ann")
    again = client.page("/datasets/holdout/approve")
    (chosen,) = [each for each in again.all("option") if "selected" in each.attributes]
    assert chosen["value"] == runs["first"]


def test_a_run_is_approved_by_the_form(client: PageClient, database: Database) -> None:
    runs = fill(database, "first", "best")
    form = client.page("/datasets/holdout/approve")
    chosen = [each for each in form.all("option") if "selected" in each.attributes]
    assert [each["value"] for each in chosen] == [runs["best"]]
    options = {each["value"]: each.text for each in form.one("select", id="run").inside("option")}
    assert re.fullmatch(r"best · r_\w+ · 0\.\d{3} · in the best set", options[runs["best"]])
    assert re.fullmatch(r"first · r_\w+ · 0\.\d{3}", options[runs["first"]])
    assert re.search(r"such as recall\[\w\] >= 0\.8", form.one("main").text)

    def send(**typed: str) -> int:
        return sent(client, typed).status_code

    best = runs["best"]
    assert send(run=best, action="approve") == 422
    assert send(run=best, action="propose") == 303
    gate = "recall[1] >= 0.99"
    assert send(run=best, action="approve", reason="good", gate=gate) == 422
    assert found(database).champion is None
    assert (
        send(run=best, action="approve", reason="good", gate=gate, although_gate_fails="on") == 303
    )
    decided = found(database)
    assert present(decided.champion).run_id == best
    assert present(decided.champion).gate_passed is False
    assert (
        "✕ gate failed: 0 of 1 condition passed"
        in client.page("/datasets/holdout").one("div", "chosen").text
    )

    refused = Page(sent(client, {"run": best, "reason": "good", "gate": "foo > 1"}).text)
    assert [each.text for each in refused.all("textarea")] == ["good", "foo > 1"]
    assert "no metric “foo”" in refused.one("div", "callout-warning").text

    assert send(action="withdraw everything") == 422
    withdrawal = forms_of(client, "/datasets/holdout/approve")[1]
    blank = send_form(client, withdrawal, {"action": "withdraw champion", "reason": " " * 3})
    fields = [each for each in Page(blank.text).all("input") if "aria-invalid" in each.attributes]
    assert [each["value"] for each in fields] == ["   "]
    approve(database, runs["first"], reason="a new one", author="lee")
    typed = {"action": "withdraw champion", "reason": "recalled as it ages"}
    late = send_form(client, withdrawal, typed)
    assert late.status_code == 422
    page = Page(late.text)
    assert f"Run {best} is no longer the champion." in page.one("div", "callout-warning").text
    fields = page.all("input", name="reason")
    assert [each["value"] for each in fields] == ["recalled as it ages"]
    assert page.all("textarea")[0].text == ""
    withdrawal = forms_of(client, "/datasets/holdout/approve")[1]
    assert send_form(client, withdrawal, typed).status_code == 303
    assert found(database).champion is None


def test_what_speaks_against_shipping_is_listed_and_counted_in_the_tab(
    client: PageClient, database: Database
) -> None:
    actual = ["a"] * 90 + ["b"] * 30
    run = log(database, y_true=actual, y_pred=["a"] * 120, dataset="holdout")
    weights = np.array([[0.0, 1.0], [4.0, 0.0]])
    add_costs(database, project="default", dataset="holdout", name="visits", weights=weights)
    work_off(database)
    approve(database, run.id, reason="the only one", author=None)

    page = client.page("/datasets/holdout")
    tabs = [tab.text for tab in page.one("nav", "dataset-tabs").inside("a")]
    top = page.one("div", "decision-top")
    problems = [a for a in top.inside("a") if "/problems/" in a["href"]]
    assert any(tab == f"Problems {len(problems)}" for tab in tabs), tabs
    assert "b missed" in [a.text for a in problems]
    assert "champion" in top.text
    assert "visits v1" in page.one("div", "decision-third").text


def test_a_run_of_another_decision_rule_names_its_source(
    client: PageClient, database: Database
) -> None:
    source = log(
        database,
        y_true=["b", "a", "a"] * 20,
        y_pred=["a", "a", "a"] * 20,
        y_score=[0.4, 0.3, 0.1] * 20,
        labels=["a", "b"],
        positive_label="b",
        dataset="holdout",
        facts=RunFacts(name="plain"),
    )
    rule = ExpectedCostRule(cost_matrix([[0, 1], [4, 0]], labels=LabelSet.declared(["a", "b"])))
    derive_run(database, source_id=source.id, rule=rule, recipe=described(rule), name="by cost")
    work_off(database)

    tag = client.page("/datasets/holdout").one("a", "derived")
    assert tag["href"] == f"/runs/{source.id}"
    assert tag.text == "rule on the scores of plain"


def test_a_value_without_an_interval_is_not_given_one(
    client: PageClient, database: Database
) -> None:
    for predicted in ("a", "b"):
        log(database, y_true=["a"], y_pred=[predicted], labels=["a", "b"], dataset="tiny")
    work_off(database)

    rows = client.page("/datasets/tiny").one("table", "best-set")

    names = [mark["aria-label"] for mark in rows.inside("svg")]
    assert [name for name in names if "model" not in name] == ["no interval"] * 2
