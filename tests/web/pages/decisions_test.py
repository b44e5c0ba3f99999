"""Deciding by cost: thresholds, answers, and saving them as a run."""

from __future__ import annotations

import csv
import io
from urllib.parse import parse_qsl, urlsplit

import pytest

from offdiag.services.cost_matrices import add_costs
from offdiag.store.audit_log import AuditFilter, audit_page
from offdiag.store.database import Database
from offdiag.store.runs import get_run
from support.filled_once import filled_once
from support.forms import forms_of, send
from support.logging_runs import log, log_ill, work_off
from support.pages import Page, PageClient
from support.scored_runs import ScoredRegistry


def address(registry: ScoredRegistry, which: str, rest: str = "&cost=@0-1") -> str:
    return f"/whatif/decisions?run={getattr(registry, which)}{rest}"


@pytest.fixture
@filled_once
def clinic(database: Database) -> str:
    """A run with probabilities of being ill, and costs called visits."""
    p = [0.9, 0.8, 0.45, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01] * 3
    actual = ["ill", "ill", "well", "ill", "well", "well", "well", "well", "well", "well"] * 3
    run = log_ill(database, y_true=actual, p=p)
    add_costs(
        database,
        project="default",
        dataset="clinic",
        name="visits",
        weights={"well": {"well": 0, "ill": 1}, "ill": {"well": 4, "ill": 0}},
        currency="EUR",
    )
    work_off(database)
    return run.id


def test_an_address_without_costs_leads_to_one_that_names_them(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    response = scored_reader.get(address(scored, "event", ""))

    assert response.location == f"/whatif/decisions?cost=@0-1&run={scored.event}"


def test_the_cheapest_threshold_is_said_drawn_listed_and_exported(
    client: PageClient, clinic: str
) -> None:
    query = f"run={clinic}&cost=visits@1"
    page = client.page(f"/whatif/decisions?{query}")

    said = page.one("main").text
    # 3 of 30 raised in vain at 0.3, nobody missed; in use, 3 of 30 are missed.
    assert (
        "Predicting “ill” at scores of at least 0.3 costs least on these examples: 100 per 1,000"
        in said
    )
    assert "cost 400 per 1,000; the change is −300 per 1,000 on these examples." in said
    # Chosen for being cheapest: no test of a difference applies to it.
    assert "beyond chance" not in said
    assert "imply predicting “ill” at scores of at least 0.2" in said
    assert "in 5-fold cross-validation the choice costs" in said
    assert "0.3" in page.one("svg")["aria-label"]
    rows = {row[1]: row for row in page.table("thresholds") if row[1]}
    assert rows["cheapest"][2:6] == ["12", "0/9", "3/21", "100"]
    assert rows["in use"][2:6] == ["6", "3/9", "0/21", "400"]
    assert rows["flag nothing"][5] == "1,200"
    assert rows["flag everything"][5] == "700"

    record = client.json(f"/whatif/decisions.json?{query}")
    lines = list(csv.DictReader(io.StringIO(client.get(f"/whatif/decisions.csv?{query}").text)))
    cheapest = min(lines, key=lambda line: float(line["mean_cost"]))
    found = record["thresholds"]["cheapest"]
    assert float(cheapest["threshold"]) == found["threshold"]
    assert float(cheapest["mean_cost"]) == found["mean_cost"]["value"] == pytest.approx(0.1)
    assert found["mean_cost"]["ci_low"] < 0.1 < found["mean_cost"]["ci_high"]
    assert record["thresholds"]["implied"]["threshold"] == pytest.approx(0.2)
    change = record["thresholds"]["change"]
    assert change["difference"]["value"] == pytest.approx(-0.3)
    assert change["difference"]["ci_low"] is None
    assert {each["difference"]["ci_low"] for each in change["recall"]} == {None}
    assert record["url"] == f"/whatif/decisions?cost=visits@1&run={clinic}"


def test_counts_that_a_threshold_gives_too_are_not_called_its_predictions(
    client: PageClient, database: Database
) -> None:
    # From 0.3 on 3 of 3 are found with one false alarm, which is another one in the predictions.
    run = log_ill(
        database,
        y_true=["ill", "ill", "ill", "well", "well", "well"],
        y_pred=["ill", "ill", "ill", "well", "well", "ill"],
        p=[0.9, 0.6, 0.3, 0.7, 0.2, 0.1],
    )
    work_off(database)

    decisions = client.page(f"/whatif/decisions?run={run.id}&cost=@0-1").one("main").text
    curves = client.page(f"/runs/{run.id}/curves").one("main").text

    assert "166.7 per 1,000; the same number of each error as from this threshold on." in decisions
    assert "In use: the threshold that gives the counts of the predictions." in decisions
    assert (
        "By their counts, the predictions of this run match predicting “ill” at scores of"
        in curves
    )


def test_class_shares_are_typed_and_stay_in_the_address(client: PageClient, clinic: str) -> None:
    response = client.get(
        "/whatif/decisions",
        query_string={"form": "1", "run": clinic, "cost": "visits@1", "q1": "0.05"},
    )

    assert response.location == f"/whatif/decisions?cost=visits@1&run={clinic}&share=ill:0.05"
    said = client.page(response.location).one("main").text
    assert "class shares at deployment: ill 0.05" in said
    assert "flag nothing, " not in said
    rows = {row[1]: row for row in client.page(response.location).table("thresholds")}
    assert rows["flag nothing"][5] == "200.0"


def test_without_a_run_one_is_chosen_first(client: PageClient) -> None:
    assert client.get("/whatif/decisions").location == "/whatif"
    assert client.get("/whatif/decisions.json").status_code == 404


def test_where_the_dataset_names_no_class_either_may_be_flagged(
    client: PageClient, database: Database
) -> None:
    run = log(
        database,
        y_true=["a", "b", "b", "a", "b"],
        y_pred=["a", "b", "a", "a", "b"],
        y_score=[[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3], [0.1, 0.9]],
        labels=["a", "b"],
        dataset="letters",
    )
    work_off(database)
    page = client.page(f"/whatif/decisions?run={run.id}&cost=@0-1")
    assert "score of “a” is at least" in page.one("main").text
    other = next(link for link in page.all("a") if link.text == "b")

    page = client.page(other["href"])

    assert "score of “b” is at least" in page.one("main").text
    form = next(form for form in page.all("form") if "stacked" in form.classes)
    assert send(client, form, {"rule": "cheapest", "name": "by b"}).status_code == 303


@pytest.mark.parametrize(
    ("rule", "threshold", "recipe"),
    [
        (
            "cheapest",
            "",
            {"threshold": pytest.approx(0.3), "chosen": "the cheapest on these examples"},
        ),
        ("threshold", "0.12", {"threshold": 0.12}),
    ],
)
def test_a_choice_is_saved_once_and_leads_to_its_run(
    client: PageClient,
    clinic: str,
    database: Database,
    rule: str,
    threshold: str,
    recipe: dict[str, object],
) -> None:
    path = f"/whatif/decisions?run={clinic}&cost=visits@1"
    form = forms_of(client, path)[0]
    typed = {"rule": rule, "threshold": threshold, "name": "decided", "author": "ana"}

    first, again = (send(client, form, typed) for _ in range(2))

    assert first.status_code == 303
    assert first.location == again.location
    run_id = first.location.rpartition("/")[2]
    with database.read() as session:
        derivation = get_run(session, run_id).derivation
        events = audit_page(session, AuditFilter(text="decisions.save")).events
    assert {event.project for event in events} == {"default"}
    assert derivation is not None
    assert derivation.run_id == clinic
    assert derivation.recipe["costs"] == "visits@1"
    assert {key: derivation.recipe[key] for key in recipe} == recipe
    work_off(database)
    assert client.get(first.location).status_code == 200
    link = next(link for link in client.page(path).all("a") if link.text == "decided")
    assert link["href"] == first.location


def test_a_derived_run_names_its_source_in_lists(
    client: PageClient, clinic: str, database: Database
) -> None:
    form = forms_of(client, f"/whatif/decisions?run={clinic}&cost=visits@1")[0]
    run = send(client, form, {"rule": "expected", "name": "decided"}).location
    work_off(database)

    assert f"decision rule on {clinic[:8]}" in client.get("/runs?q=decided").text
    listed = client.json("/runs.json?q=decided")["runs"]
    assert [each["derived_from"]["run"] for each in listed] == [clinic]
    assert listed[0]["derived_from"]["recipe"]["rule"] == "least_expected_cost"
    assert not [link for link in client.page(run).all("a") if link.text == "Threshold by cost"]


def test_what_cannot_be_saved_says_why_and_saves_nothing(client: PageClient, clinic: str) -> None:
    for typed, problem in [
        ({"rule": "threshold", "threshold": "nan"}, "is not a threshold"),
        ({"rule": "threshold", "threshold": "1_0"}, "is not a threshold"),
        ({"rule": "threshold", "threshold": ""}, "No threshold was entered"),
        ({"rule": "cheapest", "threshold": "0.3"}, "The threshold 0.3 was entered, but another"),
        ({"rule": "guess"}, "There is no rule"),
        ({"rule": "expected", "name": " "}, "The name is empty"),
    ]:
        form = forms_of(client, f"/whatif/decisions?run={clinic}&cost=visits@1")[0]

        response = send(client, form, {"name": "decided", **typed})

        assert response.status_code == 400, (typed, problem)
        page = Page(response.text)
        assert problem in page.one("p", "callout-warning").text, (typed, problem)
        fields = {each.attributes.get("name"): each.attributes for each in page.all("input")}
        assert fields["name"]["value"] == typed.get("name", "decided")
        assert fields["threshold"]["value"] == typed.get("threshold", "")
        assert len(client.json("/runs.json")["runs"]) == 1, (typed, problem)


def test_more_classes_show_costs_recalls_and_matrices_before_and_after(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    path = address(scored, "several", "&cost=@0-1&set=fox>*:x9")

    page = scored_reader.page(path)

    said = page.one("main").text
    assert "The change is" in said
    recalls = {row[0]: row for row in page.table("recalls")}
    assert recalls["fox"][4].startswith("+")
    assert recalls["fox"][6] == "rises"
    assert [head.text for head in page.all("h3")] == ["Before", "After"]
    record = scored_reader.get(path.replace("decisions?", "decisions.json?")).get_json()
    table = scored_reader.get(path.replace("decisions?", "decisions.csv?")).text
    lines = list(csv.DictReader(io.StringIO(table)))
    n_cases = sum(map(sum, record["change"]["matrix_after"]))
    costs = sum(int(line["count"]) * float(line["cost_after"]) for line in lines)
    assert costs / n_cases == pytest.approx(record["change"]["mean_cost_after"]["value"])


def test_answers_that_change_add_up_to_the_difference_at_other_class_shares_too(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    for shares in ("", "&share=fox:0.18"):
        path = address(scored, "several", f"&cost=@0-1&set=fox>*:x1.2{shares}")
        page = scored_reader.page(path)
        record = scored_reader.get(path.replace("decisions?", "decisions.json?")).get_json()

        rows = page.table("moves")
        costs = sum(float(row[4].replace("\N{MINUS SIGN}", "-").replace("<", "")) for row in rows)
        expected = record["change"]["difference"]["value"] * 1_000
        assert len(rows) < 20
        assert costs == pytest.approx(expected, abs=0.01 * len(rows))


def test_where_no_answer_changes_the_page_says_no_more(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    said = scored_reader.page(address(scored, "hostile")).one("main").text

    assert "No prediction changes: those of the run have the lowest expected cost." in said
    assert "The change is" not in said
    assert "Recall of each class" not in said
    assert "Matrix before and after" not in said


def test_scores_that_are_no_probabilities_still_have_thresholds(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    page = scored_reader.page(address(scored, "margins"))

    assert "The scores are not probabilities" in page.one("main").text
    assert page.one("svg")["role"] == "img"
    values = [radio.attributes.get("value") for radio in page.all("input") if "rule" in str(radio)]
    assert "expected" not in values


def test_without_scores_the_page_says_what_to_log(reader: PageClient) -> None:
    page = reader.page("/whatif/decisions?run={plain}&cost=@0-1")

    assert "There are no scores to decide from." in page.one("main").text
    assert "y_score" in page.one("pre").text
    assert "Save as derived run" not in page.one("main").text


@pytest.mark.parametrize("query", ["?run=r_none", "?run=%3Cb%3E", "?run=r_none&cost=visits@1"])
def test_an_unknown_run_is_a_page_that_says_so(reader: PageClient, query: str) -> None:
    assert reader.get(f"/whatif/decisions{query}").status_code == 404


def test_a_run_its_curves_and_the_what_if_lead_here(
    scored_reader: PageClient, scored: ScoredRegistry
) -> None:
    path = f"/whatif/decisions?run={scored.event}"
    for page in (f"/runs/{scored.event}", f"/runs/{scored.event}/curves"):
        links = [link["href"] for link in scored_reader.page(page).all("a")]
        assert path in links
    asked = f"/whatif?runs={scored.event}&cost=@0-1&set=fraud>fine:20"
    queries = [
        parse_qsl(urlsplit(link["href"]).query)
        for link in scored_reader.page(asked).all("a")
        if link["href"].startswith("/whatif/decisions?")
    ]
    assert queries == [[("cost", "@0-1"), ("run", scored.event), ("set", "fraud>fine:20")]]
