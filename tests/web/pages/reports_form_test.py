"""Making and changing reports with a form: everything wrong is told, nothing typed is lost."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from offdiag.inputs.slice_columns import GivenSlices
from offdiag.reports.scope import Condition, ReportScope, RunTerm, Side, TermField
from offdiag.services.cost_matrices import add_costs
from offdiag.services.delivery.message import (
    EmailTarget,
    FolderTarget,
    NotifyTarget,
    Target,
    WebhookTarget,
)
from offdiag.services.schedules.edit import (
    Definition,
    add_schedule,
    remove_schedule,
    report_choices,
    report_definition,
)
from offdiag.services.truth.versions import add_slices
from offdiag.store.database import Database
from offdiag_web.pages.reports.typed_report import (
    TEXT_FIELDS,
    ReportForm,
    TypedReport,
    read_report,
    typed_definition,
)
from support.dashboard import HOSTILE_NAMES, log_counts
from support.filled_once import filled_once
from support.forms import forms_of
from support.pages import Element, Page, PageClient
from support.reported import BINARY, SECRET
from support.reporting import editions

WEIGHTS = {
    "malignant": {"malignant": 0.0, "benign": 9.0},
    "benign": {"malignant": 1.0, "benign": 0.0},
}
GOOD = {
    "name": "weekly",
    "dataset": "1",
    "metrics": "mcc\noverall_accuracy",
    "cron": "0 6 * * 1",
    "zone": "Europe/Ljubljana",
}


@filled_once
def log_the_only_run(database: Database) -> str:
    return log_counts(
        database, [[58, 5], [4, 104]], BINARY, name="lr", dataset="holdout", model="v1"
    )


@pytest.fixture
def run_id(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The only run, on the dataset with the id 1."""
    monkeypatch.chdir(tmp_path)
    return log_the_only_run(database)


def test_the_form_opens_with_the_next_five_times_and_the_only_dataset(
    client: PageClient, run_id: str
) -> None:
    page = _page(client.get("/reports/new"))

    assert "Mondays at 06:00, UTC." in page.one("div", "callout").text
    assert len(page.one("ol", "times").inside("li")) == 5
    (chosen,) = [each for each in page.all("option") if "selected" in each.attributes]
    assert chosen.text == "holdout"


def test_a_schedule_is_saved_as_it_was_typed(
    client: PageClient, run_id: str, database: Database
) -> None:
    add_costs(database, project="default", dataset="holdout", name="visits", weights=WEIGHTS)
    columns = GivenSlices(columns={"site": ["a"] * 171})
    add_slices(database, project="default", dataset="holdout", given=columns)

    response = _send(
        client,
        GOOD
        | {
            "model": "v*",
            "name_contains": "l",
            "tags": "team=derm\r\nfinal\r\n",
            "baseline": run_id,
            "slices": "site = a\r\n\r\n",
            "alerts": "recall[benign]<0.5\nmean_cost>0.7",
            "cost_matrix": "visits@1",
            "folders": "weekly",
            "emails": "ana@example.org\nbo@example.org",
            "webhooks": SECRET,
            "places": "team",
        },
    )

    assert (response.status_code, response.headers["Location"]) == (303, "/reports/weekly")
    kept = _kept(database)
    assert kept.scope == ReportScope(
        project="default",
        dataset="holdout",
        terms=(
            RunTerm(TermField.TAG, "team", "derm"),
            RunTerm(TermField.TAG, "final"),
            RunTerm(TermField.MODEL, "v*"),
            RunTerm(TermField.NAME, "l"),
        ),
        baseline=run_id,
        slices=("site=a",),
        metrics=("mcc", "overall_accuracy"),
        alerts=(
            Condition("recall", Side.BELOW, 0.5, "benign"),
            Condition("mean_cost", Side.ABOVE, 0.7),
        ),
        cost_matrix="visits@1",
    )
    assert kept.targets == (
        FolderTarget("weekly"),
        EmailTarget("ana@example.org"),
        EmailTarget("bo@example.org"),
        WebhookTarget(SECRET),
        NotifyTarget("team"),
    )
    assert (kept.cron, kept.zone) == ("0 6 * * 1", "Europe/Ljubljana")


def test_the_next_times_are_shown_before_anything_is_saved(
    client: PageClient, run_id: str, database: Database
) -> None:
    response = _send(
        client, GOOD | {"cron": "30 7 * * 2", "zone": "Asia/Tokyo", "alerts": "odd"}, "preview"
    )
    page = _page(response)

    assert "Tuesdays at 07:30, Asia/Tokyo." in page.one("div", "callout").text
    assert all("07:30" in time.text for time in page.one("ol", "times").inside("li"))
    assert _value(page, "alerts") == "odd"
    assert client.json("/reports.json")["reports"] == []


def test_a_plan_that_means_nothing_is_told_where_the_times_would_be(
    client: PageClient, run_id: str
) -> None:
    response = _send(client, GOOD | {"cron": "0 0 31 2 *"}, "preview")

    assert response.status_code == 200
    assert "never happens" in _page(response).one("div", "callout").text


WRONG = {
    "name": " ",
    "dataset": "",
    "metrics": "mcc\nno_such",
    "alerts": "recall[benign]<0.5\nlow(mcc)<0.5\nmcc<",
    "slices": "site",
    "cron": "61 * * * *",
    "zone": "Mars",
    "folders": "../up",
    "emails": "ana",
    "webhooks": "ftp://example.org",
    "places": "slack://a/b/c",
}


def test_everything_wrong_is_told_at_once_at_its_field_and_in_a_summary(
    client: PageClient, run_id: str, database: Database
) -> None:
    response = _send(client, WRONG)
    page = Page(response.text)

    assert response.status_code == 422
    summary = page.one("ul", "form-summary")
    links = [a["href"] for a in summary.inside("a")]
    assert sorted(set(links)) == sorted(f"#f-{name}" for name in WRONG)
    assert len(links) == len(WRONG) + 1  # Two alerts are wrong.
    fields = [f"#{each.attributes.get('id')}" for each in page.elements]
    assert links == sorted(links, key=fields.index)
    assert "Cron expression: 61 in the field minute" in summary.text
    for name in WRONG:
        field = _field(page, name)
        assert field["aria-invalid"] == "true", name
        errors = next(
            each for each in page.elements if each.attributes.get("id") == f"f-{name}-errors"
        )
        assert errors.text
        assert f"f-{name}-errors" in field["aria-describedby"]
    assert editions(database) == []


def test_nothing_that_was_typed_is_lost(client: PageClient, run_id: str) -> None:
    typed = {name: f" {name} <b>\"{number}'</b>\nmore " for number, name in enumerate(TEXT_FIELDS)}
    typed["dataset"] = "1"

    response = _send(client, typed)
    page = Page(response.text)

    assert response.status_code == 422
    for name, text in typed.items():
        assert _value(page, name) == text, name


def test_a_field_that_is_too_long_is_named_and_keeps_its_text(
    client: PageClient, run_id: str
) -> None:
    long = {"tags": "ä" * 90_000, "cron": "1" * 20_000}

    response = _send(client, {**GOOD, **long})
    page = Page(response.text)

    assert response.status_code == 422
    assert [each.text for each in page.one("ul", "form-summary").inside("li")] == [
        "Tags: It has 90,000 characters. A field has at most 12,000.",
        "Cron expression: It has 20,000 characters. A field has at most 12,000.",
    ]
    assert {name: _value(page, name) for name in long} == long


def test_every_field_may_be_full(client: PageClient, run_id: str) -> None:
    full = dict.fromkeys(("tags", "slices", "alerts", "folders", "emails"), "ä" * 12_000)

    response = _send(client, {**GOOD, **full})

    assert response.status_code == 422
    assert "at most 12,000" not in response.text


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        (
            {"alerts": "recall[df]<0.5"},
            "alerts",
            "“df” is not a class of “holdout”. Known classes: ",
        ),
        ({"alerts": "mean_cost>1"}, "alerts", "needs a cost matrix"),
        ({"baseline": "r_none"}, "baseline", "There is no run “r_none”"),
        ({"cost_matrix": "none"}, "cost_matrix", "no cost matrix “none”"),
        ({"metrics": "mcc\nmcc"}, "metrics", "A metric is named twice"),
        ({"metrics": ""}, "metrics", "0 metrics were named"),
        ({"metrics": "n"}, "metrics", "does not rank runs"),
        ({"name": "x" * 600}, "name", "has 600 characters"),
        ({"name": "taken"}, "name", "has a schedule “taken”"),
        (
            {"emails": "\n".join(f"a{n}@example.org" for n in range(21))},
            "emails",
            "There are 21 targets",
        ),
    ],
)
def test_what_only_the_registry_knows_is_told_at_the_field_too(
    client: PageClient,
    run_id: str,
    database: Database,
    change: dict[str, str],
    field: str,
    sentence: str,
) -> None:
    add_schedule(
        database,
        name="taken",
        cron="0 6 * * 1",
        zone="UTC",
        scope=ReportScope(project="default", dataset="holdout"),
    )

    response = _send(client, GOOD | change)
    page = Page(response.text)

    assert response.status_code == 422
    (link,) = page.one("ul", "form-summary").inside("a")
    assert link["href"] == f"#f-{field}"
    assert sentence in link.text
    for name, text in (GOOD | change).items():
        assert _value(page, name) == text


def test_a_form_that_is_sent_twice_is_answered_twice_alike(
    client: PageClient, run_id: str, database: Database
) -> None:
    for path, change in (("/reports/new", GOOD), ("/reports/weekly/edit", {"cron": "0 7 * * 1"})):
        (form,) = [each for each in forms_of(client, path) if each.attributes.get("id")]
        sent = form.fields() | GOOD | change | {"action": "save"}

        first, second = (client.post(form["action"], data=sent) for _ in range(2))

        assert first.status_code == second.status_code == 303
        assert first.location == second.location == "/reports/weekly"
    found = report_definition(database, project="default", name="weekly")
    assert (found.cron, found.version) == ("0 7 * * 1", 2)


def test_a_report_is_created_once_without_a_schedule_and_without_a_plan(
    client: PageClient, run_id: str, database: Database
) -> None:
    response = _send(client, GOOD | {"cron": "not a plan", "folders": "once"}, "once")

    (edition,) = editions(database)
    assert (response.status_code, response.headers["Location"]) == (303, "/reports/weekly/1")
    assert edition.schedule_id is None
    assert edition.fire_time.endswith("Europe/Ljubljana (by hand)")
    assert edition.delivery == [{"kind": "folder", "folder": "once"}]


def test_one_form_creates_one_edition_however_often_it_is_sent(
    client: PageClient, run_id: str, database: Database
) -> None:
    form = {"form": _hidden(_page(client.get("/reports/new")), "form")}

    sent = [
        _send(client, GOOD | form | change, "once").location
        for change in ({}, {}, {"folders": "other"}, {"form": "later"})
    ]

    assert sent == [f"/reports/weekly/{number}" for number in (1, 1, 2, 3)]
    assert len(editions(database)) == 3


def test_a_schedule_is_changed_and_keeps_its_name_and_its_webhooks(
    client: PageClient, run_id: str, database: Database
) -> None:
    _send(client, GOOD | {"webhooks": SECRET, "emails": "ana@example.org"})
    path = "/reports/weekly/edit"
    before = _page(client.get(path))

    response = _send(
        client,
        GOOD | {"name": "other", "cron": "0 7 * * 1", "kept_webhooks": "0", "version": "1"},
        path=path,
    )

    assert response.status_code == 303
    assert SECRET not in client.get(path).text
    assert "webhook https://hooks.example.org/…" in before.one("label", "form-check").text
    kept = _kept(database)
    assert (kept.cron, kept.version) == ("0 7 * * 1", 2)
    assert kept.targets == (WebhookTarget(SECRET),)


def test_a_webhook_that_is_not_kept_is_gone(
    client: PageClient, run_id: str, database: Database
) -> None:
    _send(client, GOOD | {"webhooks": SECRET})

    _send(client, GOOD | {"version": "1"}, path="/reports/weekly/edit")

    assert _kept(database).targets == ()


def test_two_who_edit_one_schedule_are_told(
    client: PageClient, run_id: str, database: Database
) -> None:
    _send(client, GOOD)
    path = "/reports/weekly/edit"
    _send(client, GOOD | {"cron": "0 7 * * 1", "version": "1"}, path=path)

    late = _send(client, GOOD | {"cron": "0 8 * * 1", "version": "1"}, path=path)
    page = Page(late.text)
    again = _send(
        client,
        GOOD | {"cron": "0 8 * * 1", "version": _hidden(page, "version")},
        path=path,
    )

    assert late.status_code == 422
    assert "changed in the meantime" in page.one("ul", "form-summary").text
    assert _value(page, "cron") == "0 8 * * 1"
    assert again.status_code == 303
    assert _kept(database).cron == "0 8 * * 1"


def test_what_others_changed_is_told_also_after_a_preview_and_another_mistake(
    client: PageClient, run_id: str, database: Database
) -> None:
    _send(client, GOOD)
    path = "/reports/weekly/edit"
    _send(client, GOOD | {"cron": "0 7 * * 1", "version": "1"}, path=path)

    typed = GOOD | {"cron": "0 8 * * 1", "version": "1"}
    for action, cron in (("preview", "0 8 * * 1"), ("save", "each Monday")):
        shown = Page(_send(client, typed | {"cron": cron}, action, path=path).text)
        assert _hidden(shown, "version") == "1", action

    remove_schedule(database, project="default", name="weekly")
    token = client.page("/reports/new").value("csrf_token")
    gone = client.post(path, data=typed | {"csrf_token": token, "action": "save"})
    assert gone.status_code == 422
    assert "no report" in Page(gone.text).one("ul", "form-summary").text
    assert _value(Page(gone.text), "cron") == "0 8 * * 1"

    _send(client, GOOD, "once")
    by_hand = _send(client, typed, path=path)
    assert "was deleted in the meantime" in Page(by_hand.text).one("ul", "form-summary").text
    assert _send(client, GOOD, path=path).status_code == 303
    late = _send(client, GOOD, path=path)
    assert "was created in the meantime" in Page(late.text).one("ul", "form-summary").text


def test_a_report_by_hand_gets_a_schedule_and_goes_on_counting(
    client: PageClient, run_id: str, database: Database
) -> None:
    _send(client, GOOD, "once")
    page = _page(client.get("/reports/weekly/edit"))

    response = _send(client, GOOD, path="/reports/weekly/edit")

    assert page.one("h1").text == "Schedule for weekly"
    assert response.status_code == 303
    assert _kept(database).cron == "0 6 * * 1"


def test_a_copy_has_everything_of_the_report_but_its_name(
    client: PageClient, run_id: str, database: Database
) -> None:
    _send(client, GOOD | {"webhooks": SECRET, "alerts": "mcc<0.5"})
    (link,) = [a for a in _page(client.get("/reports/weekly")).all("a") if a.text == "Duplicate"]
    page = _page(client.get(link["href"]))

    response = _send(
        client,
        {name: _value(page, name) for name in TEXT_FIELDS} | {"kept_webhooks": "0"},
        path=link["href"],
    )

    assert _value(page, "name") == "weekly (copy)"
    assert response.status_code == 303
    copy = report_definition(database, project="default", name="weekly (copy)")
    source = _kept(database)
    assert (copy.scope, copy.targets) == (source.scope, source.targets)
    assert (copy.cron, copy.zone) == (source.cron, source.zone)


def test_datasets_of_other_projects_are_offered_and_reports_stay_in_theirs(
    client: PageClient, run_id: str, database: Database
) -> None:
    log_counts(database, [[5, 1], [1, 5]], BINARY, name="r", dataset="other", project="b-side")
    offered = [each.text for each in _page(client.get("/reports/new")).all("option")[:3]]

    made = _send(client, GOOD | {"dataset": "2"})
    editing = _page(client.get("/reports/weekly/edit?project=b-side"))

    assert offered == ["Choose a dataset", "other (b-side)", "holdout"]
    assert made.headers["Location"] == "/reports/weekly?project=b-side"
    assert [each.text for each in editing.all("option")[:2]] == [
        "Choose a dataset",
        "other (b-side)",
    ]


def test_without_a_dataset_the_form_says_how_one_is_made(client: PageClient) -> None:
    page = _page(client.get("/reports/new"))

    assert page.one("div", "empty").inside("h2")[0].text == "No dataset to report on"
    assert not page.all("form", "form")


EVERY_TARGET = (FolderTarget("a/b"), EmailTarget("a@example.org"), WebhookTarget(SECRET))


@pytest.mark.parametrize("label", [*HOSTILE_NAMES[:4], 'a]"b', "two\nlines"])
def test_a_report_that_is_shown_in_the_form_means_the_same_again(
    database: Database, label: str
) -> None:
    targets: tuple[Target, ...] = EVERY_TARGET if label.isprintable() else ()
    log_counts(database, [[2, 1], [1, 2]], (label, "other"), dataset="holdout", evaluated=False)
    scope = ReportScope(
        project="default",
        dataset="holdout",
        terms=(
            RunTerm(TermField.TAG, "team", "a=b"),
            RunTerm(TermField.TAG, "x"),
            RunTerm(TermField.MODEL, "v*"),
            RunTerm(TermField.NAME, "=1+1"),
        ),
        slices=("a=b & c=d",),
        metrics=("mcc", "mean_cost"),
        alerts=(Condition("recall", Side.BELOW, 0.1 + 0.2, label),),
        cost_matrix="visits",
    )
    choices = report_choices(database)
    known = Definition("weekly", scope, targets, "0 6 * * 1", "UTC", 1)

    typed = typed_definition(known, dataset_id=choices.datasets[0].id)
    webhooks = [each for each in targets if isinstance(each, WebhookTarget)]
    read = read_report(typed, datasets=choices.datasets, webhooks=webhooks)

    assert read == ReportForm("weekly", scope, targets, "0 6 * * 1", "UTC")
    assert isinstance(typed, TypedReport)


def _kept(database: Database) -> Definition:
    return report_definition(database, project="default", name="weekly")


def _send(
    client: PageClient, typed: dict[str, str], action: str = "save", path: str = "/reports/new"
) -> TestResponse:
    """Fill the form of a page, as far as it is typed, and press a button."""
    (form,) = [each for each in forms_of(client, path) if each.attributes.get("id")]
    token = form.fields()["csrf_token"]
    return client.post(form["action"], data={"csrf_token": token, "action": action} | typed)


def _page(response: TestResponse) -> Page:
    assert response.status_code == 200, response.text[-400:]
    return Page(response.text)


def _field(page: Page, name: str) -> Element:
    return next(
        each
        for each in page.elements
        if each.attributes.get("name") == name and each.tag in {"input", "textarea", "select"}
    )


def _value(page: Page, name: str) -> str:
    """What a field holds, as a browser would send it."""
    field = _field(page, name)
    if field.tag == "textarea":
        # A browser drops the line break behind the start tag.
        return unescape("".join(field.parts)).removeprefix("\n")
    if field.tag == "select":
        chosen = [each for each in field.children if "selected" in each.attributes]
        return chosen[0]["value"] if chosen else ""
    return field["value"]


def _hidden(page: Page, name: str) -> str:
    return _field(page, name)["value"]
