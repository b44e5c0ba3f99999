"""Settling flags in the browser: alone, several at once, by two people at the same time."""

import re
from datetime import timedelta

import pytest

from offdiag.flags.lifecycle import Action, FlagState
from offdiag.services.flags import triage
from offdiag.services.flags.page import browse_flag
from offdiag.services.retention.deletion import delete_run
from offdiag.store.database import Database
from offdiag.store.models import FlagRow
from support.dashboard import HOSTILE_MARKUP
from support.forms import form_to, send
from support.pages import Page, PageClient


@pytest.fixture
def database(lesions_database: Database) -> Database:
    """A registry of its own for each test, with one run and its flags, F-1 among them."""
    return lesions_database


def state_of(database: Database, number: int) -> FlagState:
    return browse_flag(database, number).entry.flag.status.state


def test_a_decision_is_carried_out_told_and_remembered_and_the_flag_opened_again(
    ana: PageClient, database: Database
) -> None:
    for action, typed, state, said in (
        ("acknowledge", {}, FlagState.ACKNOWLEDGED, "F-1 acknowledged."),
        ("snooze", {"until": "2099-01-31"}, FlagState.SNOOZED, "F-1 snoozed until 2099-01-31."),
        ("dismiss", {"reason": "known"}, FlagState.DISMISSED, "F-1 dismissed."),
        ("assign", {"assignee": " lee "}, FlagState.OPEN, "F-1 assigned to lee."),
        ("comment", {"comment": "why?"}, FlagState.OPEN, "Comment added to F-1."),
    ):
        response = send(ana, form_to(ana, "/flags/1", f"/flags/1/{action}"), typed)
        page = ana.page(response.headers["Location"])

        assert response.status_code == 303
        assert page.one("p", "callout").text == f"✓ {said}"
        assert state_of(database, 1) is state
        assert browse_flag(database, 1).history[-1].author == "ana"
        assert ana.page("/flags/1").all("p", "callout") == []
        if state is not FlagState.OPEN:
            send(ana, form_to(ana, "/flags/1", "/flags/1/reopen"))
            assert state_of(database, 1) is FlagState.OPEN
            assert ana.page("/flags/1").all("p", "callout")


def test_a_closed_flag_offers_no_decision_but_a_remark(
    ana: PageClient, database: Database
) -> None:
    with database.write() as session:
        session.query(FlagRow).update({"state": "closed", "closed_at": database.clock()})

    page = ana.page("/flags/1")

    actions = {form.attributes.get("action", "") for form in page.all("form")}
    assert {a for a in actions if a.startswith("/flags/1/")} == {
        "/flags/1/assign",
        "/flags/1/comment",
    }


def test_two_people_with_one_flag_open_do_not_overwrite_each_other(
    ana: PageClient, database: Database
) -> None:
    late = form_to(ana, "/flags/1", "/flags/1/dismiss")
    triage.decide_flags(database, [1], Action.ACKNOWLEDGE, author="kim")

    response = send(ana, late, {"reason": "I typed this"})
    page = Page(response.text)

    assert response.status_code == 409
    warning = page.one("div", "callout-warning").text
    assert "Flag 1 was acknowledged by kim in the meantime." in warning
    assert warning.count("Nothing was changed.") == 1
    assert state_of(database, 1) is FlagState.ACKNOWLEDGED
    assert page.all("textarea")[0].text == "I typed this"

    again = page.all("form", action="/flags/1/dismiss")[0]
    assert send(ana, again, {"reason": "I typed this"}).status_code == 303
    assert state_of(database, 1) is FlagState.DISMISSED


def test_what_cannot_be_meant_is_said_where_it_was_typed(
    ana: PageClient, database: Database
) -> None:
    for action, typed, said in [
        ("dismiss", {"reason": " "}, "no reason is given"),
        ("snooze", {"until": ""}, "no day is given"),
        ("comment", {"comment": " "}, "no comment is given. Write a sentence"),
        ("snooze", {"until": "tomorrow"}, "“tomorrow” is not a day"),
        ("snooze", {"until": "2020-01-01"}, "2020-01-01 00:00 UTC is over"),
    ]:
        response = send(ana, form_to(ana, "/flags/1", f"/flags/1/{action}"), typed)

        assert response.status_code == 400, (action, typed, said)
        told = Page(response.text).one("div", "callout-warning").text
        assert said.lower() in told.lower(), (action, typed, said)
        assert state_of(database, 1) is FlagState.OPEN, (action, typed, said)


def test_a_date_or_assignee_that_is_refused_stays_in_its_open_form(
    ana: PageClient, database: Database
) -> None:
    problem = next(
        url
        for each in ana.page("/flags/1").all("a")
        if (url := each["href"]).startswith("/problems/")
    )
    for page in ("/flags/1", problem):
        for action, field, typed in [
            ("snooze", "until", "2020-01-01"),
            ("assign", "assignee", "kim " * 200),
        ]:
            response = send(ana, form_to(ana, page, f"{page}/{action}"), {field: typed})

            assert response.status_code == 400, (page, action)
            decisions = Page(response.text).all("details", "decision")
            [opened] = [each for each in decisions if "open" in each.attributes]
            (kept,) = opened.inside("input", name=field)
            assert kept["value"] == typed, (page, action)


def test_who_is_nobody_is_asked_first(client: PageClient, database: Database) -> None:
    page = client.page("/flags/1")

    actions = [form.attributes.get("action", "") for form in page.all("form")]
    assert not [action for action in actions if action.startswith("/flags/1")]
    assert page.one("label").text == "Enter your name to decide about problems"
    assert not page.all("input", type="checkbox")


def test_a_decision_of_nobody_is_refused(ana: PageClient, database: Database) -> None:
    form = form_to(ana, "/flags/1", "/flags/1/acknowledge")
    ana.delete_cookie("reader")

    response = send(ana, form)

    assert response.status_code == 400
    assert "No name was entered" in response.text
    assert state_of(database, 1) is FlagState.OPEN
    for name in (" ", "x" * 101, "two\nlines"):
        refused = ana.post("/preferences", data={"reader": name})
        assert refused.status_code == 400, name
        assert "Set-Cookie" not in refused.headers, name


@pytest.mark.parametrize("end", ["dismiss", "assign", "comment"])
@pytest.mark.parametrize("has_name", [True, False])
def test_a_decision_about_a_flag_that_is_gone_ends_on_the_list_with_what_was_typed(
    ana: PageClient, database: Database, end: str, has_name: bool
) -> None:
    form = form_to(ana, "/flags/1", f"/flags/1/{end}")
    delete_run(database, browse_flag(database, 1).entry.flag.run_id, by=None)
    if not has_name:
        ana.delete_cookie("reader")

    response = send(ana, form, dict.fromkeys(("reason", "assignee", "comment"), "too few"))
    page = Page(response.text)

    assert response.status_code == 404
    assert page.one("h1").text == "Problems"
    assert "There is no flag 1." in page.one("div", "callout-warning").text
    assert "too few" in {each.text for each in page.all("p", "quote")}


@pytest.mark.parametrize("end", ["dismiss", "comment"])
def test_what_was_typed_without_a_name_is_sent_again_with_one(
    ana: PageClient, database: Database, end: str
) -> None:
    form = form_to(ana, "/flags/1", f"/flags/1/{end}")
    ana.delete_cookie("reader")

    page = Page(send(ana, form, {"reason": "known", "comment": "known"}).text)
    (again,) = [each for each in page.all("form") if "Enter your name" in each.text]
    done = send(ana, again, {"reader": " lee "})

    assert "known" in {each.text for each in page.all("p", "quote")}
    assert done.status_code == 303
    last = browse_flag(database, 1).history[-1]
    assert (last.author, last.text) == ("lee", "known")


def test_browsers_send_no_name_of_spaces_alone(client: PageClient, database: Database) -> None:
    fields = client.page("/flags/1").all("input")
    (asked,) = [each.attributes for each in fields if each.attributes.get("name") == "reader"]

    sent = [name for name in (" ", "ana", " 李 雷") if re.fullmatch(asked["pattern"], name)]

    assert sent == ["ana", " 李 雷"]


def test_a_name_is_kept_as_it_was_given(client: PageClient, database: Database) -> None:
    for name in ("李雷; x=1", "".join(HOSTILE_MARKUP)):
        client.post("/preferences", data={"reader": f" {name} ", "back": "/flags/1"})

        send(client, form_to(client, "/flags/1", "/flags/1/comment"), {"comment": "look"})

        assert browse_flag(database, 1).history[-1].author == name
        assert name in client.page("/flags/1").one("ol", "history").text


def test_a_decision_does_not_lead_to_another_site(ana: PageClient, database: Database) -> None:
    form = form_to(ana, "/flags/1", "/flags/1/acknowledge")

    response = send(ana, form, {"back": "https://evil.example/"})

    assert response.headers["Location"] == "/"


def test_a_rest_is_offered_from_tomorrow_on(ana: PageClient, database: Database) -> None:
    page = ana.page("/flags/1")

    until = page.one("input", name="until")
    tomorrow = database.clock() + timedelta(days=1)
    assert until["min"] == f"{tomorrow:%Y-%m-%d}"
