"""The first page: where datasets stand, what is new, what failed."""

from __future__ import annotations

import re

from offdiag.domain.runs import RunFacts
from offdiag.services.champions.leaders import leaders_of
from offdiag.services.champions.promotions import approve, propose
from offdiag.store.database import Database
from offdiag.store.datasets import find_dataset
from support.dashboard import counted_statements, log_counts, log_lesions
from support.forms import forms_of, send
from support.logging_runs import log, work_off
from support.pages import Page, PageClient


def row_of(page: Page, dataset: str) -> list[str]:
    (row,) = [row for row in page.table("data") if row[0].startswith(f"{dataset} ")]
    return row


def log_three(database: Database, dataset: str = "a") -> list[str]:
    """Two runs that are alike and a bad one, with predictions."""
    truth = ["x", "y"] * 60
    wrong = [
        ("fine", {1, 7, 20}),
        ("alike", {3, 9, 30}),
        ("bad", set(range(0, 120, 2))),
    ]
    ids = []
    for name, errors in wrong:
        predicted = [("y" if t == "x" else "x") if i in errors else t for i, t in enumerate(truth)]
        given = {"y_true": truth, "sample_ids": [f"s{i}" for i in range(120)]}
        facts = RunFacts(name=name)
        ids.append(log(database, y_pred=predicted, dataset=dataset, facts=facts, **given).id)
    work_off(database)
    return ids


def test_a_dataset_stands_where_its_page_says(client: PageClient, database: Database) -> None:
    log_three(database)
    log_lesions(database)

    row = row_of(client.page("/"), "a")

    with database.read() as session:
        dataset = find_dataset(session, project="default", name="a")
    assert dataset is not None
    found = leaders_of(database, dataset)
    highest = found.runs[0].run
    assert row[0] == "a 3 runs, 2 classes on a"
    assert row[1] == highest.name
    assert row[2].startswith(f"{highest.value.value:.3f}")
    assert row[2].endswith("Balanced accuracy")
    assert row[4] == f"best set of {len(found.best_set)}" == "best set of 2"


def test_the_champion_stands_first_and_a_worse_candidate_is_told(
    client: PageClient, database: Database
) -> None:
    _, alike, bad = log_three(database)
    log_lesions(database)
    approve(database, alike, reason="stable", author="ana")
    propose(database, bad, author="ana")

    page = client.page("/")

    row = row_of(page, "a")
    assert (row[1], row[4]) == ("alike champion", "candidate −47.5 pp")
    news = [item.text for item in page.one("ul", "news").inside("li")]
    assert news == ["★ bad is candidate a, by ana", "★ alike is champion a, by ana"]


def test_what_was_seen_is_no_news_any_more(client: PageClient, database: Database) -> None:
    fine, *_ = log_three(database)
    log_lesions(database)
    approve(database, fine, reason="best", author="ana")
    (form,) = [each for each in forms_of(client, "/") if each.attributes["action"] == "/seen"]

    send(client, form)

    assert "Nothing new since" in client.page("/").one("main").text


def test_a_single_dataset_without_news_is_led_to(client: PageClient, database: Database) -> None:
    run_id = log_lesions(database)

    alone = client.get("/")
    approve(database, run_id, reason="the first", author=None)

    assert (alone.status_code, alone.headers["Location"]) == (302, "/datasets/derm-7")
    assert client.get("/").status_code == 200


def test_each_dataset_on_the_home_page_leads_to_exactly_its_runs(reader: PageClient) -> None:
    for row in reader.page("/").one("table", "home-table").inside("tr"):
        links = row.inside("a")
        if not links:
            continue
        dataset, runs = links[:2]
        listed = reader.get(runs.attributes["href"].replace("/runs", "/runs.json", 1)).get_json()

        assert listed["dataset"] == dataset.text
        assert runs.text.startswith(f"{listed['total']} run")


def test_open_flags_are_counted_and_led_to(reader: PageClient) -> None:
    home = reader.page("/")

    rows = home.one("table", "home-table").inside("tr")
    row = next(row for row in rows if "derm-7" in row.text)
    flags = next(link for link in row.inside("a") if "open flags" in link.text)
    listed = reader.get(flags.attributes["href"].replace("/flags", "/flags.json", 1)).get_json()
    assert flags.text == f"{listed['counts']['open']} open flags on derm-7"


def test_what_failed_can_be_repeated(reader: PageClient) -> None:
    home = reader.page("/")

    (failure,) = home.one("ul", "failures").inside("li")
    assert re.match(r"evaluate, job \d+ .*ValueError: wrong shape", failure.text)
    assert reader.get(failure.inside("a")[0].attributes["href"]).status_code == 200
    (form,) = failure.inside("form")
    assert re.fullmatch(r"/jobs/\d+/retry", form.attributes["action"])


def test_names_are_filtered_by_words_in_any_order(reader: PageClient) -> None:
    page = reader.page("/?q=7 derm")

    assert [row[0].split()[0] for row in page.table("data")] == ["derm-7"]
    assert "No dataset is called" in reader.page("/?q=none-such").one("main").text


def test_more_datasets_cost_no_more_statements(client: PageClient, database: Database) -> None:
    for dataset in ("a", "b"):
        log_counts(database, ((90, 10), (10, 90)), ("x", "y"), dataset=dataset)
    client.page("/")
    with counted_statements() as two:
        client.page("/")
    for dataset in ("c", "d", "e"):
        log_counts(database, ((90, 10), (10, 90)), ("x", "y"), dataset=dataset)
    with counted_statements() as five:
        client.page("/")

    assert len(five) == len(two) <= 14
