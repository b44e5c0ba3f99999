"""The first page: the state of datasets, what is new, what failed."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from sqlalchemy import update

from offdiag.domain.runs import RunFacts
from offdiag.services.champions.leaders import leaders_of, set_primary_metric
from offdiag.services.champions.promotions import approve, propose
from offdiag.services.retention.deletion import delete_run
from offdiag.services.truth.revise import revise_truth
from offdiag.store.database import Database
from offdiag.store.datasets import find_dataset
from offdiag.store.models import WorkRow
from support.dashboard import log_counts, log_lesions, open_lesions
from support.forms import form_to, send
from support.logging_runs import log, work_off
from support.pages import Page, PageClient


def row_of(page: Page, dataset: str) -> list[str]:
    (row,) = [row for row in page.table("data") if row[0].startswith(f"{dataset} ")]
    return row


def mark_as_seen(client: PageClient, database: Database) -> None:
    """A second later, so that what was logged last is over as well."""
    a_second_passes(database)
    form = form_to(client, "/", "/seen")
    send(client, form)
    a_second_passes(database)


def a_second_passes(database: Database) -> None:
    now = database.clock
    database.clock = lambda: now() + timedelta(seconds=1)


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


def test_what_takes_long_to_compare_is_left_to_later_views(
    client: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_three(database)
    log_lesions(database)
    said = "The runs of 1 dataset are not compared yet: refresh for best sets and drops."

    with monkeypatch.context() as patch:
        patch.setattr("offdiag_web.pages.home.page._MOST_COMPARING_S", 0.0)
        first = client.page("/")
        row = row_of(client.page("/"), "a")
    later = client.page("/")
    with monkeypatch.context() as patch:
        patch.setattr("offdiag_web.pages.home.page._MOST_COMPARING_S", 0.0)
        kept = client.page("/")

    assert [each.text for each in first.all("p", "callout")] == [said]
    assert row[4] == "highest of 3"
    assert row[2].endswith("Balanced accuracy")
    for page in (later, kept):
        assert page.all("p", "callout") == []
        assert row_of(page, "a")[4] == "2 runs share the lead"


def test_a_dataset_stands_where_its_page_says_with_champion_and_candidate(
    client: PageClient, database: Database
) -> None:
    _, alike, bad = log_three(database)
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
    assert row[4] == f"{len(found.best_set)} runs share the lead" == "2 runs share the lead"
    flattered = "A value that is the best of three or more runs is flattered by the choice"
    assert flattered in client.page("/").one("main").text

    approve(database, alike, reason="stable", author="ana")
    propose(database, bad, author="ana")
    page = client.page("/")
    assert flattered not in page.one("main").text
    row = row_of(page, "a")
    assert (row[1], row[4]) == ("alike champion", "candidate −47.5 pp")
    news = [item.text for item in page.one("ul", "news").inside("li")]
    assert news[-2:] == ["★ bad is candidate a, by ana", "★ alike is champion a, by ana"]
    delete_run(database, bad, by=None)
    assert "bad is candidate" not in client.page("/").one("main").text

    mark_as_seen(client, database)
    assert "Nothing new since" in client.page("/").one("main").text


def test_a_candidate_that_is_not_significantly_different_is_named(
    client: PageClient, database: Database
) -> None:
    fine, alike, _ = log_three(database)
    log_lesions(database)
    approve(database, alike, reason="stable", author="ana")
    propose(database, fine, author="ana")

    row = row_of(client.page("/"), "a")

    assert row[4] == "candidate: not significant"


@pytest.mark.parametrize(("key", "word"), [("macro_f1", "highest"), ("error_rate", "lowest")])
def test_a_first_run_that_was_not_tested_is_said_to_be_no_more_than_that(
    client: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch, key: str, word: str
) -> None:
    log_three(database)
    log_lesions(database)
    set_primary_metric(database, project="default", dataset="a", key=key)
    monkeypatch.setattr("offdiag.services.champions.dataset_status.MOST_PREDICTIONS", 10)

    assert row_of(client.page("/"), "a")[4] == f"{word} of 3, not tested"


def test_a_champion_is_not_said_to_lead_or_to_be_the_highest_if_it_is_not(
    client: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine, alike, bad = log_three(database)
    log_lesions(database)
    approve(database, bad, reason="in use", author="ana")
    outside = row_of(client.page("/"), "a")
    with monkeypatch.context() as patch:
        patch.setattr("offdiag.services.champions.dataset_status.MOST_PREDICTIONS", 10)
        untested = row_of(client.page("/"), "a")
    delete_run(database, alike, by=None)
    behind = row_of(client.page("/"), "a")
    with monkeypatch.context() as patch:
        patch.setattr("offdiag.services.champions.dataset_status.MOST_TESTED", 1)
        unranked = row_of(client.page("/"), "a")
    approve(database, fine, reason="better", author="ana")
    leading = row_of(client.page("/"), "a")

    assert (outside[1], outside[4]) == ("bad champion", "behind 2 leading runs")
    assert untested[4] == "rank 3 of 3, not tested"
    assert behind[4] == "another run leads"
    assert (unranked[1], unranked[4]) == ("fine", "champion not ranked")
    assert (leading[1], leading[4]) == ("fine champion", "1 run leads")


def test_a_value_without_an_interval_says_so(client: PageClient, database: Database) -> None:
    actual = ["x"] * 40 + ["y"] * 2
    log(database, y_true=actual, y_pred=["x"] * 40 + ["x", "y"], dataset="a")
    log_lesions(database)
    work_off(database)

    assert row_of(client.page("/"), "a")[2].endswith("no interval · Balanced accuracy")


def test_the_long_name_of_a_champion_keeps_its_end_and_its_tag(
    client: PageClient, database: Database
) -> None:
    names = [f"a very long name of a run · epoch {epoch}" for epoch in (19, 20)]
    first, _ = (log_lesions(database, name=name) for name in names)
    log_lesions(database, name="elsewhere")
    approve(database, first, reason="stable", author="ana")

    (cell,) = client.page("/?q=derm").all("td", "home-run")

    assert cell.text == "a very l…poch 19 champion"
    assert cell.inside("a")[0]["title"] == names[0]


def test_less_of_an_error_rate_is_no_bad_news(client: PageClient, database: Database) -> None:
    _, alike, bad = log_three(database)
    log_lesions(database)
    set_primary_metric(database, project="default", dataset="a", key="error_rate")
    approve(database, bad, reason="in use", author="ana")
    propose(database, alike, author="ana")
    better = client.get("/").text
    approve(database, alike, reason="better", author="ana")
    propose(database, bad, author="ana")

    assert re.search(r'class="home-state">candidate −47.5 pp', better)
    assert re.search(r'class="home-state is-worse">candidate \+47.5 pp', client.get("/").text)


def test_a_single_dataset_without_news_is_led_to(client: PageClient, database: Database) -> None:
    run_id = log_lesions(database)
    assert client.get("/").status_code == 200
    mark_as_seen(client, database)

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
        listed = reader.get(runs["href"].replace("/runs", "/runs.json", 1)).get_json()

        assert listed["dataset"] == dataset.text
        assert runs.text.startswith(f"{listed['total']} run")


def test_problems_are_counted_as_their_list_counts_them(reader: PageClient) -> None:
    row = next(
        row
        for row in reader.page("/").one("table", "home-table").inside("tr")
        if "derm-7" in row.text
    )

    link = next(link for link in row.inside("a") if "problems on derm-7" in link.text)

    listed = reader.get(link["href"].replace("/problems", "/problems.json", 1))
    n_listed = len(listed.get_json()["problems"])
    assert n_listed > 1
    assert link.text == f"{n_listed} new problems on derm-7"


def test_seen_problems_are_counted_without_being_new(
    client: PageClient, database: Database
) -> None:
    log_lesions(database)
    log_three(database)
    mark_as_seen(client, database)

    row = row_of(client.page("/"), "derm-7")

    assert re.fullmatch(r"\d+ problems on derm-7", row[5])


def log_drop(database: Database) -> None:
    """The model of the last run was significantly better before."""
    truth, ids = ["x", "y"] * 60, [f"s{i}" for i in range(120)]
    for name, n_wrong in (("before", 3), ("after", 50)):
        predicted = [t if i >= n_wrong else "xy"[t == "x"] for i, t in enumerate(truth)]
        log(database, y_true=truth, y_pred=predicted, sample_ids=ids, dataset="falls",
            facts=RunFacts(name=name, model="vit"))  # fmt: skip
    work_off(database)


def test_news_are_five_at_most_and_some_of_each_kind(
    client: PageClient, database: Database
) -> None:
    fine, *_ = log_three(database)
    log_lesions(database)
    log_drop(database)
    revise_truth(database, project="default", dataset="a", labels={"s5": "x"},
                 reason="typo", author="ana")  # fmt: skip
    work_off(database)
    approve(database, fine, reason="best", author="ana")

    page = client.page("/")

    news = page.one("ul", "news").inside("li")
    said = [item.inside("a")[0].text for item in news]
    assert said[2:] == [
        "Balanced accuracy down 39.2 pp",
        "labels v2 evaluated",
        "fine is champion",
    ]
    problems = [item.inside("a")[0]["href"] for item in news[:2]]
    assert all(href.startswith("/problems/") for href in problems)
    n_new = len(client.json("/problems.json?show=new")["problems"])
    assert f"All {n_new} new problems" in page.one("main").text
    assert "significant drop" in client.get("/").text


def test_runs_on_earlier_labels_are_not_called_unevaluated(
    client: PageClient, database: Database
) -> None:
    ids = log_three(database)
    log_lesions(database)
    revise_truth(database, project="default", dataset="a", labels={"s5": "x"},
                 reason="typo", author="ana")  # fmt: skip

    row = row_of(client.page("/"), "a")
    for run_id in ids:
        delete_run(database, run_id, by=None)
    emptied = client.page("/")

    assert (row[1], row[2], row[4]) == ("none", "none on labels v2", "3 runs on earlier labels")
    assert row_of(emptied, "a")[2] == "not evaluated"
    assert "✓ labels v2 a, no runs" in [
        item.text for item in emptied.one("ul", "news").inside("li")
    ]


def test_runs_without_a_value_of_the_metric_are_not_called_unevaluated(
    client: PageClient, database: Database
) -> None:
    log(database, y_true=["x", "x"], y_pred=["x", "y"], labels=["x", "y"], dataset="a")
    log(database, y_true=["x", "y"], y_pred=["x", "y"], dataset="b")
    work_off(database)
    set_primary_metric(database, project="default", dataset="a", key="mcc")
    why = "all examples are of one class"

    row = row_of(client.page("/"), "a")

    assert (row[1], row[4]) == ("none", why)
    assert row[2] == "Matthews correlation coefficient (MCC) undefined"
    assert f"MCC is undefined: {why}" in client.page("/datasets/a").one("div", "empty").text
    assert "worker" not in client.page("/datasets/a").one("main").text


def test_a_drop_is_news_only_while_the_newest_run_shows_it(
    client: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_drop(database)
    log_three(database)
    monkeypatch.setattr("offdiag_web.pages.home.page.DATASETS_PER_PAGE", 1)
    assert "Balanced accuracy down 39.2 pp" in client.page("/").one("main").text
    truth, ids = ["x", "y"] * 60, [f"s{i}" for i in range(120)]
    log(database, y_true=truth, y_pred=truth, sample_ids=ids, dataset="falls",
        facts=RunFacts(name="again", model="vit"))  # fmt: skip
    work_off(database)

    assert "Drop" not in client.page("/").one("main").text


def test_many_datasets_are_on_several_pages(
    client: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        log_counts(database, ((90, 10), (10, 90)), ("x", "y"), dataset=name)
    assert not client.page("/").all("nav", "pager")
    monkeypatch.setattr("offdiag_web.pages.home.page.DATASETS_PER_PAGE", 2)

    first = client.page("/")
    (following,) = first.one("nav", "pager").inside("a")
    second = client.page(following["href"])

    shown = [[row[0].split()[0] for row in page.table("data")] for page in (first, second)]
    assert shown == [["one", "three"], ["two"]]
    assert first.one("form", "filter").inside("input")[0]["name"] == "q"
    assert "1–2 of 3 datasets" in first.one("nav", "pager").text


def test_a_single_dataset_with_a_failure_stays_on_the_home_page(
    client: PageClient, database: Database
) -> None:
    log_counts(database, ((90, 10), (10, 90)), ("x", "y"))
    assert client.get("/").status_code == 302
    log_counts(database, ((90, 10), (10, 90)), ("x", "y"), evaluated=False)
    with database.write() as session:
        session.execute(update(WorkRow).values(state="dead", error="ValueError: too wide"))

    assert "too wide" in client.page("/").one("ul", "failures").text
    mark_as_seen(client, database)
    assert client.get("/").status_code == 302


def test_a_dataset_whose_only_run_is_still_open_does_not_count_its_labels(
    client: PageClient, database: Database
) -> None:
    open_lesions(database)
    log_counts(database, ((90, 10), (10, 90)), ("x", "y"), dataset="pets")

    lines = {row[0].split()[0]: " ".join(row) for row in client.page("/?q=").table("data")}

    assert "no results yet" in lines["derm-7"]
    assert "0 of 0" not in lines["derm-7"]


def test_an_empty_registry_leads_to_how_to_log_a_run(client: PageClient) -> None:
    assert client.get("/").headers["Location"] == "/runs"
    assert "log_run" in client.page("/runs").one("main").text


def test_what_failed_can_be_repeated(reader: PageClient) -> None:
    home = reader.page("/")

    (failure,) = home.one("ul", "failures").inside("li")
    said = re.match(r"(.+?) evaluate, job \d+ .*ValueError: wrong shape", failure.text)
    run, job = failure.inside("a")
    assert said is not None
    assert reader.page(run["href"]).one("h1").text.startswith(said[1])
    assert reader.get(job["href"]).status_code == 200
    (form,) = failure.inside("form")
    assert re.fullmatch(r"/jobs/\d+/retry", form["action"])


def test_names_are_filtered_by_words_in_any_order(reader: PageClient) -> None:
    page = reader.page("/?q=7 derm")

    assert [row[0].split()[0] for row in page.table("data")] == ["derm-7"]
    assert "No dataset matches" in reader.page("/?q=none-such").one("main").text


def test_one_thing_is_not_said_to_be_several(client: PageClient, database: Database) -> None:
    truth = ["x"] * 190 + ["y"] * 40
    wrong = ["y"] * 80 + ["x"] * 110 + ["y"] * 40
    for dataset in ("one", "two"):
        log(database, y_true=truth, y_pred=wrong, dataset=dataset)
    work_off(database)

    row = row_of(client.page("/"), "one")

    assert row[5] == "1 new problem on one"
