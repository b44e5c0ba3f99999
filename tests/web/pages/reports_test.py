"""The list of reports, the page of each, its editions, and the files frozen with them."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from offdiag.reports.scope import RunTerm, TermField
from offdiag.services.delivery.message import EmailTarget
from offdiag.services.jobs.reconcile import submit_missing
from offdiag.services.reports.edition import report_now
from offdiag.services.retention.deletion import delete_run
from offdiag.services.schedules.edit import add_schedule, run_schedule
from offdiag.store import job_lease
from offdiag.store.database import Database
from offdiag.store.models import ReportEditionRow, ReportFileRow, WorkRow
from offdiag_web.app.security import CONTENT_SECURITY_POLICY
from offdiag_web.pages.reports import page as report_page
from offdiag_web.pages.reports.edition_page import policy_of
from support.dashboard import counted_statements, log_counts, log_lesions
from support.forms import form_to, send
from support.logging_runs import work_off
from support.pages import PageClient
from support.reported import BINARY, SECRET, ReportedRegistry, make_editions, scope_on
from support.reporting import deliveries, editions
from support.sound import small_page

FILES = ("report.html", "report.md", "report.json", "report.csv")


@pytest.fixture
def planned(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A registry with one schedule that has issued nothing; deliveries cannot leave."""
    monkeypatch.chdir(tmp_path)
    log_counts(database, [[58, 5], [4, 104]], BINARY, name="lr", dataset="holdout")
    add_schedule(
        database,
        name="weekly",
        cron="0 6 * * 1",
        zone="UTC",
        scope=scope_on("holdout"),
        delivery=[EmailTarget("ana@example.org")],
    )
    return database


# -- the list ---------------------------------------------------------------------------------


def test_the_list_says_what_each_report_is_about_and_how_it_fared(
    report_reader: PageClient,
) -> None:
    listed = report_reader.page("/reports")
    lines = {line[0]: line for line in listed.table("data")}

    weekly = lines["weekly"]
    assert weekly[1] == "reported2 runs · costs by triage · 1 alert condition"
    assert weekly[2] == "Mondays at 06:00, Europe/Ljubljana0 6 * * 1"
    assert re.match(r"(in \d+ \w+|due now)Mon \d\d \w+ \d{4} 06:00", weekly[3])
    assert weekly[4].startswith("#3 of weekly ✕failed")
    assert "is locked." in weekly[4]
    assert weekly[5] == "nothing yet"
    assert "alert" in weekly[6]
    assert re.search(r"\d\.\d{3}Balanced accuracy$", weekly[7])
    assert lines["by hand"][2:4] == ["on demand", "none"]
    assert lines["by hand"][5] == "stored here"
    assert lines["hourly smoke"][3] == "paused"
    assert lines["hourly smoke"][4] == "none yet"
    assert "being made" in lines["being made"][4]
    assert lines["being made"][6:] == ["not known", "no value"]
    drawn = [svg["aria-label"] for svg in listed.all("svg", "spark")]
    assert any(each.startswith("Best balanced accuracy in each of 2 editions") for each in drawn)
    assert "Schedules are not running." in listed.one("div", "callout-warning").text
    link = listed.one("a", aria_keyshortcuts="g p")
    assert (link["href"], link["aria-current"]) == ("/reports", "page")


def test_the_baseline_is_named_as_its_run_is(client: PageClient, planned: Database) -> None:
    run = log_counts(planned, [[60, 3], [4, 104]], BINARY, name="first try", dataset="holdout")
    scope = replace(scope_on("holdout"), baseline=run)
    add_schedule(planned, name="against one", cron="0 6 * * 1", zone="UTC", scope=scope)

    (line,) = [each for each in client.page("/reports").table("data") if "against" in each[0]]
    facts = client.page("/reports/against%20one").all("dl", "facts")[0]

    assert "against first try" in line[1]
    assert "Baselinefirst try" in facts.text
    assert run not in line[1] + facts.text
    delete_run(planned, run, by="ana")
    assert f"against {run}" in client.page("/reports").one("table", "data").text
    assert run in client.page("/reports/against%20one").all("dl", "facts")[0].text


def test_the_runs_of_a_report_are_described_as_in_its_editions(
    client: PageClient, planned: Database
) -> None:
    terms = (RunTerm(TermField.MODEL, "knn"), RunTerm(TermField.TAG, "team", "vision"))
    scope = replace(scope_on("holdout"), terms=terms)
    add_schedule(planned, name="some runs", cron="0 6 * * 1", zone="UTC", scope=scope)

    (line,) = [each for each in client.page("/reports").table("data") if "some" in each[0]]
    facts = client.page("/reports/some%20runs").all("dl", "facts")[0]

    assert "model is knn and tag team is vision" in line[1]
    assert "Runsmodel is knn and tag team is vision" in facts.text


def test_a_living_scheduler_is_said_to_be_healthy(client: PageClient, planned: Database) -> None:
    with planned.write() as session:
        job_lease.beat(session, job_lease.Heart("scheduler", "host", 1, planned.clock()))

    page = client.page("/reports")

    # How long ago depends on how busy the machine is.
    assert re.search(r"scheduler healthy, heartbeat \d+ s ago", page.one("p", "subtitle").text)
    assert not page.all("div", "callout-warning")


def test_an_empty_registry_says_how_a_report_is_made(client: PageClient) -> None:
    page = client.page("/reports")

    assert page.one("div", "empty").inside("h2")[0].text == "No reports yet"
    assert "/reports/new" in {a["href"] for a in page.all("a")}


def test_a_long_list_comes_in_parts(client: PageClient, planned: Database) -> None:
    for number in range(55):
        add_schedule(
            planned, name=f"r{number:02d}", cron="0 6 * * 1", zone="UTC", scope=scope_on("holdout")
        )
    with counted_statements() as statements:
        first = client.page("/reports")
    second = client.page("/reports?from=51")
    odd = client.get("/reports?from=x").text

    assert len(first.table("data")) == 50
    assert [line[0] for line in second.table("data")][-1] == "weekly"
    assert "1–50 of 56 reports" in first.one("nav", "pager").text
    assert "position in the list is invalid" in odd
    assert len(statements) <= 7  # One of them counts open flags, for some seconds.


def test_the_twins_of_the_list_hold_no_secrets(report_reader: PageClient) -> None:
    record, lines = report_reader.json("/reports.json"), report_reader.records("/reports.csv")

    (weekly,) = [report for report in record["reports"] if report["name"] == "weekly"]
    (line,) = [line for line in lines if line["name"] == "weekly"]
    assert weekly["delivery"][2] == "webhook https://hooks.example.org/…"
    assert line["last_state"] == "failed"
    assert SECRET not in f"{record} {lines}"


# -- one report -------------------------------------------------------------------------------


def test_a_report_shows_its_plan_its_next_times_and_how_its_editions_fared(
    report_reader: PageClient,
) -> None:
    page = report_reader.page("/reports/weekly")

    facts = page.all("dl", "facts")
    assert "Recall of benign below >0.999" in facts[0].text or "0.999" in facts[0].text
    assert "folder weekly, e-mail ana@example.org, webhook https://hooks.example.org/…" in (
        facts[0].text
    )
    times = page.one("ol", "times").inside("li")
    assert len(times) == 5
    assert all(re.fullmatch(r"Mon \d\d \w{3} \d{4} 06:00", time.text) for time in times)
    assert "in Europe/Ljubljana" in facts[1].text
    lines = page.table("data")
    assert [(line[0], line[2]) for line in lines] == [
        ("#3", "✕failed"),
        ("#2", "✓done"),
        ("", "▲missed"),
        ("#1", "✓done"),
    ]
    assert lines[0][1] == "2026-02-09 06:00 Europe/Ljubljana"
    assert lines[2][3] == (
        "3 earlier times missed: no scheduler was up; edition 2 stands for them."
    )
    assert lines[1][5] == "✓2 sent▲1 refused"
    assert lines[3][5] == "✓3 sent"
    assert page.one("svg", "trend")["aria-label"].startswith(
        "Best balanced accuracy in each of 2 editions; 0.9"
    )
    assert "Editions 1 to 2, each with its 95 % interval" in page.one("main").text


def test_every_row_of_an_edition_has_a_header(report_reader: PageClient) -> None:
    page = report_reader.page("/reports/weekly/2")
    rows = [row for body in page.all("tbody") for row in body.inside("tr")]

    assert all(len(row.inside("th")) == 1 for row in rows)
    assert {"lr", "malignant"} <= {row.inside("th")[0].text for row in rows}


def test_a_report_without_a_schedule_can_get_one(report_reader: PageClient) -> None:
    text = report_reader.page("/reports/by%20hand").one("main").text

    assert "No schedule." in text
    assert "Add schedule" in text


def test_a_report_that_never_was_is_not_found(report_reader: PageClient) -> None:
    for path in ("/reports/never", "/reports/never.json", "/reports/weekly/9", "/reports/never/1"):
        assert report_reader.get(path).status_code == 404


def test_a_report_called_new_is_not_the_form(client: PageClient, planned: Database) -> None:
    add_schedule(planned, name="new", cron="0 6 * * 1", zone="UTC", scope=scope_on("holdout"))
    (link,) = [a for a in client.page("/reports").all("a") if a.text == "new"]

    assert client.page(link["href"]).one("h1").text == "new"
    assert client.page("/reports/new").one("h1").text == "New report"


# -- doing something --------------------------------------------------------------------------


def alert(client: PageClient, path: str) -> str:
    """What a page says of the button that led to it."""
    found = client.page(path).all("p", "callout-warning")
    return next(each.text for each in found if each.attributes.get("role") == "alert")


def test_a_second_click_on_run_now_leads_to_the_edition_of_the_first(
    client: PageClient, planned: Database
) -> None:
    button, other = (form_to(client, "/reports/weekly", "/run") for _ in range(2))

    first, second = (send(client, button) for _ in range(2))

    assert (first.status_code, second.status_code) == (303, 303)
    assert first.headers["Location"] == second.headers["Location"] == "/reports/weekly/1"
    values = [[field["value"] for field in each.inside("input")] for each in (button, other)]
    assert values[0][-1] != values[1][-1]


def test_a_report_is_run_now_and_leads_to_its_edition(
    client: PageClient, planned: Database
) -> None:
    response = send(client, form_to(client, "/reports/weekly", "/run"))
    waiting = client.page(response.headers["Location"])
    work_off(planned)
    done = client.page(response.headers["Location"])

    assert (response.status_code, response.headers["Location"]) == (303, "/reports/weekly/1")
    assert "This edition is being created." in waiting.one("div", "results").text
    assert waiting.one("div", "results")["hx-trigger"] == "every 5s"
    assert "hx-get" not in done.one("div", "results").attributes
    assert done.one("p", "lead").text.startswith("This is the first edition")


def test_a_report_is_paused_and_resumed(client: PageClient, planned: Database) -> None:
    paused = send(client, form_to(client, "/reports/weekly", "/pause"))
    page = client.page("/reports/weekly")
    resumed = send(client, form_to(client, "/reports/weekly", "/resume"))

    assert (paused.status_code, resumed.status_code) == (303, 303)
    assert "▲paused No editions are created until it is resumed" in page.all("dl", "facts")[1].text
    assert not page.all("ol", "times")
    assert len(client.page("/reports/weekly").one("ol", "times").inside("li")) == 5


def test_the_csv_of_a_report_has_all_its_editions(
    report_reader: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = report_reader.json("/reports/weekly.json?project=default")["editions"]
    monkeypatch.setattr(report_page, "EDITIONS_PER_PAGE", 1)
    monkeypatch.setattr(report_page, "EDITIONS_READ_AT_ONCE", 2, raising=False)

    lines = report_reader.records("/reports/weekly.csv?project=default")

    assert [line["number"] for line in lines] == [str(each["number"]) for each in whole]
    assert len(lines) == 3
    assert len(report_reader.json("/reports/weekly.json?project=default")["editions"]) == 1


def test_editions_outlive_their_schedule(client: PageClient, planned: Database) -> None:
    run_schedule(planned, project="default", name="weekly")
    make_editions(planned)

    response = send(client, form_to(client, "/reports/weekly", "/delete"))
    page = client.page(response.headers["Location"])

    assert response.headers["Location"] == "/reports/weekly"
    assert [line[0] for line in page.table("data")] == ["#1"]
    assert "No schedule." in page.all("section", "card")[1].text


def test_a_schedule_that_never_made_an_edition_is_gone_when_deleted(
    client: PageClient, planned: Database
) -> None:
    deletion = form_to(client, "/reports/weekly", "/delete")

    response = send(client, deletion)

    assert response.headers["Location"] == "/reports"
    assert client.get("/reports/weekly").status_code == 404
    late = send(client, deletion, page="/reports/weekly")
    assert client.get(late.location).location == "/reports"
    assert "no report" in alert(client, "/reports")


def test_a_failed_edition_is_tried_again(client: PageClient, planned: Database) -> None:
    run_schedule(planned, project="default", name="weekly")
    with planned.write() as session:
        session.execute(update(WorkRow).values(state="dead", attempts=5, error="boom"))
        session.execute(update(ReportEditionRow).values(state="failed", error="Traceback\nboom"))
    failed = client.page("/reports/weekly/1")

    again = form_to(client, "/reports/weekly/1", "/retry")

    response = send(client, again)
    work_off(planned)

    assert failed.one("pre", "snippet").text == "Traceback boom"
    assert response.status_code == 303
    assert editions(planned)[0].state.value == "computed"
    late = send(client, again, page="/reports/weekly/1")
    assert (late.status_code, late.location) == (303, "/reports/weekly/1")
    assert "Edition 1 of “weekly” is computed." in alert(client, late.location)
    assert client.post("/reports/weekly/1/retry").status_code == 403


def test_a_refused_delivery_is_tried_again_from_its_edition(
    client: PageClient, planned: Database
) -> None:
    run_schedule(planned, project="default", name="weekly")
    work_off(planned)
    form = form_to(client, "/reports/weekly/1", "/retry")

    response = send(client, form)
    before = deliveries(planned, editions(planned)[0].id)[0]
    work_off(planned)
    after = deliveries(planned, editions(planned)[0].id)[0]

    assert form["action"].endswith(f"/deliveries/{after.id}/retry")
    assert response.status_code == 303
    assert before.state.value == "pending"
    assert (after.state.value, after.attempts) == ("refused", 2)


def test_an_edition_says_when_a_delivery_is_tried_next(
    client: PageClient, planned: Database
) -> None:
    run_schedule(planned, project="default", name="weekly")
    make_editions(planned)
    submit_missing(planned)
    with planned.write() as session:
        session.execute(update(WorkRow).values(due=WorkRow.due + 150))

    page = client.page("/reports/weekly/1")
    (told,) = client.json("/reports/weekly/1.json")["deliveries"]

    assert "next attempt in 2 min" in page.one("div", "results").text
    ahead = datetime.fromisoformat(told["next_attempt"]) - datetime.now(UTC)
    assert timedelta(seconds=60) < ahead <= timedelta(seconds=150)


# -- one edition --------------------------------------------------------------------------------


def test_an_edition_says_first_what_changed_and_tells_figures_and_deliveries(
    report_reader: PageClient,
) -> None:
    page = report_reader.page("/reports/weekly/2")

    frozen = report_reader.get("/reports/weekly/2/report.md").text
    headline = page.one("p", "lead").text
    assert headline
    assert headline.split("(")[0].strip() in frozen.replace("\\", "")
    results = page.one("div", "results").text
    assert "3 earlier times missed" in results
    titles = [heading.text for heading in page.all("h2")]
    assert "Alerts" in titles
    assert "Runs, best by balanced accuracy first" in titles
    runs = next(each for each in page.all("table", "data") if "Place" in each.text)
    heads = {head.text: "number" in head.classes for head in runs.inside("th")}
    expected = {"Place": True, "Run": False, "Logged": False, "Balanced accuracy": True}
    assert {name: heads[name] for name in expected} == expected
    places = [cell for cell in runs.inside("td") if re.fullmatch(r"\d", cell.text)]
    assert {"number" in cell.classes for cell in places} == {True}
    assert "Cost per 1,000 examples" in results
    assert "triage@1, in EUR" in results
    (table,) = [each for each in page.all("table", "data") if "Action" in each.text]
    rows = table.inside("tbody")[0].inside("tr")
    lines = [[cell.text for cell in row.children] for row in rows]
    assert lines[0][:3] == ["folder weekly", "▲refused", "1"]
    assert lines[0][3] == "'weekly' leads out of 'reports'."
    assert lines[0][4] == "Retry delivery to folder weekly"
    assert lines[1][1].startswith("✓sent ")
    assert lines[1][4] == ""


def test_files_of_an_edition_are_served_byte_for_byte_and_saved_but_for_the_page(
    report_reader: PageClient,
) -> None:
    record = report_reader.json("/reports/weekly/2.json")
    digests = {file["kind"]: file["sha256"] for file in record["files"]}

    for kind, name in zip(("html", "markdown", "json", "csv"), FILES, strict=True):
        response = report_reader.get(f"/reports/weekly/2/{name}")

        assert hashlib.sha256(response.data).hexdigest() == digests[kind]
        assert response.headers["ETag"] == f'"{digests[kind]}"'
        how = "inline" if kind == "html" else "attachment"
        saved_as = f'{how}; filename="weekly-0002{Path(name).suffix}"'
        assert response.headers["Content-Disposition"] == saved_as
        again = report_reader.get(
            f"/reports/weekly/2/{name}", headers={"If-None-Match": response.headers["ETag"]}
        )
        assert again.status_code == 304


def test_the_frozen_page_may_do_nothing_at_all(report_reader: PageClient) -> None:
    response = report_reader.get("/reports/weekly/1/report.html")

    policy = response.headers["Content-Security-Policy"]
    rules = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    style = re.search(rb"<style>(.*?)</style>", response.data, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1]).digest()).decode()
    assert rules == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "sandbox": "",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert policy != CONTENT_SECURITY_POLICY
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"


def test_a_stylesheet_in_a_name_is_not_let_in() -> None:
    page = b"<head><style>a{}</style></head><body><style>b{}</style>"
    first, second = (
        base64.b64encode(hashlib.sha256(text).digest()).decode() for text in (b"a{}", b"b{}")
    )

    assert f"'sha256-{first}'" in policy_of(page)
    assert second not in policy_of(page)
    assert "style-src 'none'" in policy_of(b"<p>no style")


def test_files_of_unknown_names_and_of_editions_not_computed_are_not_found(
    report_reader: PageClient,
) -> None:
    for path in (
        "/reports/weekly/1/report.exe",
        "/reports/weekly/1/other.html",
        "/reports/weekly/3/report.html",
        "/reports/being%20made/1/report.html",
    ):
        assert report_reader.get(path).status_code == 404


def test_an_edition_of_another_version_still_offers_its_files(
    client: PageClient, planned: Database
) -> None:
    run_schedule(planned, project="default", name="weekly")
    make_editions(planned)
    with planned.write() as session:
        session.execute(
            update(ReportFileRow)
            .where(ReportFileRow.kind == "json")
            .values(content=b'{"format": 0}')
        )

    page = client.page("/reports/weekly/1")

    assert (
        "This edition was created by another version of offdiag."
        in page.one("div", "results").text
    )
    assert client.get("/reports/weekly/1/report.html").status_code == 200


# -- hostile names and sizes ------------------------------------------------------------------


def test_hostile_names_are_read_in_full_and_name_no_file(
    report_reader: PageClient, reported: ReportedRegistry
) -> None:
    page = report_reader.page(reported.hostile.url())
    file = report_reader.get(reported.hostile.file_url(1, "report.html"))

    assert page.one("h1").text == reported.hostile.name
    assert "<script" not in file.text
    assert 'filename="script-alert-1-script' in file.headers["Content-Disposition"]


def test_an_edition_of_many_runs_and_classes_stays_small(
    client: PageClient, database: Database
) -> None:
    size = 12
    labels = [f"class {code:02d} with a longer name" for code in range(size)]
    band = [[max(0, 12 - 5 * abs(i - j)) for j in range(size)] for i in range(size)]
    for number in range(size):
        name = f"a run with a name of ordinary length {number}"
        log_counts(database, band, labels, name=name, dataset="wide", evaluated=False)
    work_off(database)
    add_schedule(database, name="wide", cron="0 6 * * 1", zone="UTC", scope=scope_on("wide"))
    run_schedule(database, project="default", name="wide")
    make_editions(database)

    small_page(client.get("/reports/wide/1").data)


def test_an_edition_of_many_flags_shows_a_few_and_links_the_problems(
    client: PageClient, database: Database
) -> None:
    for name in ("one", "two", "three"):
        log_lesions(database, name=name)
    report_now(database, name="derm", scope=scope_on("derm-7"))
    make_editions(database)

    page = client.page("/reports/derm/1")

    (card,) = [each for each in page.all("div", "card") if each.text.startswith("Open flags")]
    assert len(card.inside("tbody")[0].inside("tr")) == 5
    assert "The first 5 lines; the files have more." in card.text
    (link,) = card.inside("a")
    assert client.page(link["href"]).one("h1").text.startswith("Problems")
