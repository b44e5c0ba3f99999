"""Going to things by name, the page of a model, settings."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from offdiag.domain.runs import RunFacts
from offdiag.store import run_list_by_dataset
from offdiag.store.database import Database
from support.dashboard import HOSTILE_NAMES, log_counts, log_lesions
from support.filled_once import filled_once
from support.logging_runs import log, work_off
from support.pages import Page, PageClient


@pytest.fixture
@filled_once
def forests(database: Database) -> list[str]:
    """Three runs of one model on two datasets, one run of another, the newest last."""
    found = [
        log_counts(
            *(database, counts, ("well", "ill")),
            name=name,
            model=model,
            dataset=dataset,
            evaluated=False,
        )
        for name, model, dataset, counts in (
            ("first", "forest 100%", "clinic", ((80, 20), (3, 7))),
            ("second", "forest 100%", "clinic", ((90, 10), (2, 8))),
            ("third", "forest 100%", "field", ((40, 10), (0, 0))),
            ("other", "Forest", "clinic", ((100, 0), (10, 0))),
        )
    ]
    work_off(database)
    return found


def found(client: PageClient, text: str) -> dict[str, list[str]]:
    """What is offered for a text: names by kind."""
    offered: dict[str, list[str]] = {}
    for goal in client.get("/search.json", query_string={"q": text}).get_json()["found"]:
        offered.setdefault(goal["kind"], []).append(goal["name"])
    return offered


@pytest.mark.parametrize("name", ["Ärger", 'a"b', "c\\d"])
def test_a_class_is_found_as_it_is_written(
    client: PageClient, database: Database, name: str
) -> None:
    log_counts(database, ((8, 2), (3, 7)), (name, "else"), evaluated=False)

    assert found(client, name) == {"classes": [name]}


def test_runs_datasets_models_metrics_and_pages_are_found_by_a_part_of_their_name(
    client: PageClient, forests: list[str]
) -> None:
    assert found(client, "SECOND") == {"runs": ["second"]}
    assert found(client, "clin") == {"datasets": ["clinic"]}
    assert found(client, "forest") == {"models": ["Forest", "forest 100%"]}
    assert found(client, "0%") == {"models": ["forest 100%"]}
    assert "Matthews correlation coefficient (MCC)" in found(client, "mcc")["metrics"]
    assert found(client, "jobs") == {"pages": ["Jobs"]}
    assert found(client, "well") == {"classes": ["well", "well"]}
    assert found(client, forests[0][:9]) == {"runs": ["first"]}
    assert found(client, "_") == {"metrics": found(client, "_")["metrics"]}


def test_words_count_in_any_order_over_names_models_datasets_and_tags(
    client: PageClient, database: Database
) -> None:
    facts = RunFacts(name="plain CE 08", model="resnet", tags={"stage": "nightly"})
    log(database, facts=facts, dataset="derm-7")

    for words in ("ce plain", "08 derm-7", "RESNET plain derm", "nightly", "nightly derm plain"):
        assert found(client, words)["runs"] == ["plain CE 08"], words
    assert "runs" not in found(client, "resnet derm-7")
    assert "runs" not in found(client, "plain other")


def test_actions_pages_and_numbers_are_found_and_else_that_there_is_nothing_is_said(
    client: PageClient,
) -> None:
    for words, kind, name in [
        ("approve", "pages", "Approve a champion, propose a candidate"),
        ("runs compare", "pages", "Compare runs"),
        ("log run", "pages", "Log a run"),
        ("problems", "pages", "Problems"),
        ("matrix new", "pages", "New cost matrix"),
        ("F-31", "numbers", "Flag F-31"),
        ("job 7", "numbers", "Job 7"),
    ]:
        assert name in found(client, words)[kind], (words, name)
    assert "No results for “xyzzy”." in client.get("/search?q=xyzzy").text
    nobody = client.get("/models/nobody")
    assert nobody.status_code == 404
    assert "o run was logged with the model" in nobody.text


def test_without_a_word_pages_and_the_newest_runs_are_offered(
    client: PageClient, forests: list[str]
) -> None:
    offered = found(client, "  ")

    assert offered["runs"] == ["other", "third", "second", "first"]
    assert "Runs" in offered["pages"]


def test_every_goal_leads_somewhere(client: PageClient, forests: list[str]) -> None:
    for text in ("", "forest"):
        page = client.page("/search", query_string={"q": text})
        links = [link["href"] for link in page.all("a") if "data-row" in link.attributes]

        assert links
        for link in links:
            assert client.get(link, follow_redirects=True).status_code == 200, link


def test_a_model_has_its_runs_by_dataset_newest_first_and_leads_to_all(
    client: PageClient, forests: list[str]
) -> None:
    page = client.page("/models/forest%20100%25")
    with patch.object(run_list_by_dataset, "RUNS_OF_A_MODEL", 2):
        cut = client.page("/models/forest%20100%25").one("p", "subtitle")
        twin = client.json("/models/forest%20100%25.json")
        lines = client.records("/models/forest%20100%25.csv")

    assert page.one("p", "subtitle").text == "3 runs on 2 datasets"
    assert [title.text for title in page.all("h2") if title.text in {"clinic", "field"}] == [
        *("clinic", "field")
    ]
    rows = [head.text for head in page.all("th", "named")]
    assert [row.split()[0] for row in rows] == ["second", "first", "third"]
    assert len(page.all("svg", "trend")) == 3
    assert "from 0.791 to 0.891" in page.all("svg", "trend")[0]["aria-label"]
    assert [line["name"] for line in lines] == ["first", "second", "third"]
    assert cut.text == "3 runs on 2 datasets, the newest 2 are shown · show all"
    (link,) = cut.inside("a")
    listed = client.get(link["href"].replace("/runs", "/runs.json", 1)).get_json()
    assert [run["id"] for run in listed["runs"]] == forests[2::-1]
    assert (twin["total"], len(twin["runs"])) == (3, 2)


def test_a_model_without_metrics_yet_shows_what_it_waits_for(
    client: PageClient, database: Database
) -> None:
    for name in ("one", "two"):
        log(database, facts=RunFacts(name=name, model="m"))

    page = client.page("/models/m")

    assert len(page.all("span", "chip")) == 2
    assert not page.all("circle", "point")


def test_any_name_of_a_model_is_text_and_has_a_page(
    client: PageClient, database: Database
) -> None:
    for name in HOSTILE_NAMES:
        log_lesions(database, name=name, model=name, evaluated=False)

    for name in HOSTILE_NAMES:
        page = client.get("/search", query_string={"q": name[:20]})
        links = [
            link["href"]
            for link in Page(page.text).all("a")
            if link["href"].startswith("/models/")
        ]
        assert len(links) == 1, name
        answer = client.get(links[0])
        assert answer.status_code == 200, name
        assert "<script>alert" not in page.text + answer.text
        assert "<img src=x" not in page.text + answer.text


def test_settings_say_what_is_chosen_and_hide_passwords(client: PageClient) -> None:
    client.post("/preferences", data={"theme": "dark", "shortcuts": "off", "back": "/settings"})

    page = client.page("/settings")

    pressed = [b.text for b in page.all("button") if b.attributes.get("aria-pressed") == "true"]
    assert pressed == ["dark", "off"]
