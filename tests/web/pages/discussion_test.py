"""Comments on runs, decisions of datasets and problems: one thread, on the page and over HTTP."""

from __future__ import annotations

import pytest

from offdiag.store.database import Database
from offdiag_web.app.dispatch import PREFIX
from support.dashboard import log_lesions
from support.filled_once import filled_once
from support.forms import form_to, send
from support.pages import Page, PageClient


@pytest.fixture
@filled_once
def run_id(database: Database) -> str:
    return log_lesions(database)


def comment(client: PageClient, page: str, text: str) -> None:
    form = form_to(client, page, "/comments")
    answer = send(client, form, {"comment": text})
    assert (answer.status_code, answer.location) == (303, f"{page}#discussion")


@pytest.mark.parametrize("of_dataset", [False, True])
def test_people_discuss_a_page_in_plain_text_and_what_is_refused_stays_in_its_form(
    client: PageClient, run_id: str, of_dataset: bool
) -> None:
    dataset = client.json(f"/runs/{run_id}/meta.json")["dataset"]
    page = f"/datasets/{dataset}" if of_dataset else f"/runs/{run_id}"
    assert "Enter your name to comment" in client.get(page).get_data(as_text=True)
    client.set_cookie("reader", "kim")

    comment(client, page, " Why is <b>mel</b> low? ")
    comment(client, page, "Few images.")

    found = client.json(f"{PREFIX}{page}/comments")["comments"]
    assert [(each["author"], each["text"]) for each in found] == [
        ("kim", "Why is <b>mel</b> low?"),
        ("kim", "Few images."),
    ]
    shown = client.get(page).get_data(as_text=True)
    assert shown.index("Why is &lt;b&gt;mel&lt;/b&gt; low?") < shown.index("Few images.")

    form = form_to(client, page, "/comments")
    for typed, said in ((" ", "No comment is given."), ("x" * 5_001, "has 5001 characters.")):
        refused = send(client, form, {"comment": typed})
        thread = Page(refused.text).one("details", "discussion")
        assert refused.status_code == 400
        assert said in thread.text
        assert "open" in thread.attributes
        assert thread.inside("textarea")[0].text == typed.strip()
        assert client.json(f"{PREFIX}{page}/comments")["comments"] == found


def test_a_comment_that_is_sent_twice_in_a_row_is_one(client: PageClient, run_id: str) -> None:
    page = f"/runs/{run_id}"
    for reader, text in (("kim", "Seen."), ("kim", "Seen."), ("lee", "Seen."), ("kim", "Seen.")):
        client.set_cookie("reader", reader)
        comment(client, page, text)

    found = client.json(f"{PREFIX}{page}/comments")["comments"]

    assert [each["author"] for each in found] == ["kim", "lee", "kim"]


@pytest.mark.parametrize("of_dataset", [False, True])
def test_a_comment_without_a_name_is_sent_again_with_one(
    client: PageClient, run_id: str, of_dataset: bool
) -> None:
    dataset = client.json(f"/runs/{run_id}/meta.json")["dataset"]
    page = f"/datasets/{dataset}" if of_dataset else f"/runs/{run_id}"
    client.set_cookie("reader", "kim")
    form = form_to(client, page, "/comments")
    client.delete_cookie("reader")

    refused = send(client, form, {"comment": "Few images."})
    thread = Page(refused.text).one("details", "discussion")
    (again,) = thread.inside("form")
    done = send(client, again, {"reader": "lee"})

    assert refused.status_code == 400
    assert "No name was entered" in thread.text
    assert "Few images." in thread.text
    assert (done.status_code, done.location) == (303, f"{page}#discussion")
    (kept,) = client.json(f"{PREFIX}{page}/comments")["comments"]
    assert (kept["author"], kept["text"]) == ("lee", "Few images.")


def test_programs_comment_under_the_name_they_state(client: PageClient, run_id: str) -> None:
    url = f"{PREFIX}/runs/{run_id}/comments"

    answer = client.post(url, json={"text": "Gate passed.", "author": "ci"})

    assert answer.get_json()["comments"][0]["author"] == "ci"
    assert client.post(url, json={"text": " "}).status_code == 422
    assert client.get(f"{PREFIX}/runs/r_0000000000aa/comments").status_code == 404
    other = f"{PREFIX}/datasets/missing/comments"
    assert client.post(other, json={"text": "?"}).status_code == 404


def test_comments_on_the_flags_of_a_problem_are_its_discussion(
    client: PageClient, run_id: str
) -> None:
    client.set_cookie("reader", "kim")
    problem = client.json("/problems.json")["problems"][0]
    page = f"/problems/{problem['id']}"
    form = form_to(client, page, "/comment")

    refused = send(client, form, {"comment": "x" * 5_001})
    answer = send(client, form, {"comment": "See the minutes."})

    assert (
        Page(refused.text).one("details", "discussion").inside("textarea")[0].text == "x" * 5_001
    )

    assert answer.location == f"{page}#discussion"
    assert "See the minutes." in client.get(page).get_data(as_text=True)
    flags = client.json(f"{PREFIX}/runs/{run_id}/flags")["flags"]
    histories = [client.json(f"{PREFIX}/flags/{f['id']}")["history"] for f in flags]
    remarks = [event for events in histories for event in events if event["kind"] == "commented"]
    assert [event["text"] for event in remarks] == ["See the minutes."]
