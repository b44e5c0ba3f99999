"""Tags, review state and note of a run, changed on its page and over HTTP."""

from __future__ import annotations

import pytest

from offdiag.domain.runs import RunFacts
from offdiag.errors import InvalidInput, NotFound
from offdiag.services.run_notes import change_run, tag_runs
from offdiag.store.audit_log import AuditFilter, audit_page
from offdiag.store.database import Database
from offdiag.store.runs import get_run
from offdiag_web.app.dispatch import PREFIX
from support.dashboard import log_lesions
from support.filled_once import filled_once
from support.forms import form_to, forms_of, send
from support.logging_runs import log
from support.pages import Page, PageClient


@pytest.fixture
@filled_once
def run_id(database: Database) -> str:
    return log_lesions(database, tags={"team": "derm", "fold": 3})


def test_tags_and_review_state_are_edited_on_the_metadata_page(
    client: PageClient, run_id: str
) -> None:
    page = f"/runs/{run_id}/meta"
    form = next(each for each in forms_of(client, page) if each.inside("textarea"))
    assert form.inside("textarea")[0].text == "fold=3 team=derm"

    answer = send(client, form, {"review": "reviewed", "tags": "fold=3\nteam=skin\nbest"})

    assert (answer.status_code, answer.location) == (303, page)
    tags = client.json(f"/runs/{run_id}/meta.json")["tags"]
    assert tags == {"fold": 3, "team": "skin", "best": "", "review": "reviewed"}
    listed = client.json("/runs.json?q=tag:review=reviewed")["runs"]
    assert [run["id"] for run in listed] == [run_id]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("fold=3\n\n=skin", "Line 3 of the tags has no key: “=skin”. Write key=value"),
        ("team=a\nfold=3\nteam=b", "Lines 1 and 3 of the tags both give “team”. Keep one"),
        (f"{'x' * 600}=1", "xxx” has 600 characters. At most 500 are stored."),
    ],
)
def test_tags_that_cannot_be_stored_are_refused_in_the_form_that_keeps_them(
    client: PageClient, run_id: str, typed: str, said: str
) -> None:
    page = f"/runs/{run_id}/meta"
    form = next(each for each in forms_of(client, page) if each.inside("textarea"))

    answer = send(client, form, {"tags": typed, "note": "mine", "review": "reviewed"})

    shown = Page(answer.text)
    again = next(each for each in shown.all("form") if each.inside("textarea"))
    assert answer.status_code == 400
    assert said in shown.one("div", "callout-warning").text
    assert [field.text for field in again.inside("textarea")] == [" ".join(typed.split()), "mine"]
    edit = shown.one("details", id="edit")
    assert "open" in edit.attributes
    assert [each.text for each in again.inside("option") if "selected" in each.attributes] == [
        "reviewed"
    ]
    assert client.json(f"{page}.json")["tags"] == {"team": "derm", "fold": 3}
    assert send(client, again, {"tags": "team=skin", "note": "mine"}).status_code == 303
    assert client.json(f"{page}.json")["tags"] == {"team": "skin"}


def test_lines_of_a_tag_of_several_lines_are_no_error(
    client: PageClient, database: Database, run_id: str
) -> None:
    change_run(database, run_id, tags={"x": "a\n=b\nx=c"})
    form = next(
        each for each in forms_of(client, f"/runs/{run_id}/meta") if each.inside("textarea")
    )

    assert send(client, form, {"tags": "x=a\n=b\nx=c\nnew=1"}).status_code == 303
    assert client.json(f"/runs/{run_id}/meta.json")["tags"] == {"x": "a\n=b\nx=c", "new": "1"}


def test_tags_are_replaced_over_http(client: PageClient, run_id: str) -> None:
    url = f"{PREFIX}/runs/{run_id}"

    answer = client.patch(url, json={"tags": {"stage": "candidate"}})

    assert answer.status_code == 200
    assert answer.get_json()["tags"] == {"stage": "candidate"}
    assert client.get(url).get_json()["tags"] == {"stage": "candidate"}
    refused = client.patch(url, json={"tags": {"x" * 10_000: 1}})
    assert refused.status_code == 422
    assert client.patch(f"{PREFIX}/runs/r_0000000000aa", json={"tags": {}}).status_code == 404


def test_a_note_is_written_on_the_metadata_page_and_shown_first(
    client: PageClient, run_id: str
) -> None:
    page = f"/runs/{run_id}/meta"
    form = next(each for each in forms_of(client, page) if each.inside("textarea"))

    send(client, form, {"tags": "fold=3", "note": " Do not ship.\r\nTrained on <test>. "})

    assert client.json(f"/runs/{run_id}/meta.json")["note"] == "Do not ship.\nTrained on <test>."
    shown = client.get(f"/runs/{run_id}").get_data(as_text=True)
    assert "Note</strong> Do not ship.</summary>" in shown
    assert "Trained on &lt;test&gt;." in shown
    form = next(each for each in forms_of(client, page) if each.inside("textarea"))
    send(client, form, {"tags": "fold=3", "note": " "})
    assert client.json(f"/runs/{run_id}/meta.json")["note"] is None
    assert client.json(f"/runs/{run_id}/meta.json")["tags"] == {"fold": 3}


def test_an_edit_keeps_what_others_changed_meanwhile(
    client: PageClient, database: Database, run_id: str
) -> None:
    page, url = f"/runs/{run_id}/meta", f"{PREFIX}/runs/{run_id}"
    form = next(each for each in forms_of(client, page) if each.inside("textarea"))
    client.patch(url, json={"tags": {"team": "ward", "new": 1, "two": "a\nb"}, "note": "theirs"})

    assert send(client, form, {"tags": "team=derm\nbest", "review": "reviewed"}).status_code == 303

    run = client.get(url).get_json()
    assert run["tags"] == {
        "team": "ward", "new": 1, "two": "a\nb", "best": "", "review": "reviewed",
    }  # fmt: skip
    assert run["note"] == "theirs"
    refused = send(client, form, {"tags": "", "note": "mine"})
    assert refused.status_code == 409
    assert "The note was changed since this page was opened." in refused.text
    assert client.get(url).get_json() == run
    again = next(each for each in Page(refused.text).all("form") if each.inside("textarea"))
    assert send(client, again, {"tags": "", "note": "both"}).status_code == 303
    assert client.get(url).get_json()["note"] == "both"


def test_an_edit_that_is_sent_twice_is_no_change_by_others(
    client: PageClient, run_id: str
) -> None:
    form = next(
        each for each in forms_of(client, f"/runs/{run_id}/meta") if each.inside("textarea")
    )
    typed = {"tags": "fold=3\nbest", "note": "Do not ship."}

    assert [send(client, form, typed).status_code for _ in range(2)] == [303, 303]

    assert client.json(f"/runs/{run_id}/meta.json")["note"] == "Do not ship."


def test_a_note_alone_changes_no_tags_over_http(client: PageClient, run_id: str) -> None:
    url = f"{PREFIX}/runs/{run_id}"

    assert client.patch(url, json={"note": "see the minutes"}).get_json()["tags"]
    assert client.get(url).get_json()["note"] == "see the minutes"
    client.patch(url, json={"tags": {}})
    assert client.get(url).get_json()["note"] == "see the minutes"
    assert client.patch(url, json={"note": "x" * 5_001}).status_code == 422
    assert client.patch(url, json={}).status_code == 422


def test_a_retry_finds_its_run_though_somebody_edited_the_tags(database: Database) -> None:
    facts = RunFacts(name="one", client_key="k", tags={"a": "b"})
    run = log(database, facts=facts)
    change_run(database, run.id, tags={"a": "c"})

    assert log(database, facts=facts).id == run.id


def test_several_runs_are_tagged_from_the_list(
    client: PageClient, database: Database, run_id: str
) -> None:
    other = log_lesions(database, name="other")
    asked = f"/runs/tag?q=dataset:derm-7&runs={run_id}&runs={other}"
    assert [run.text for run in client.page(asked).all("li") if run.text == "other"]
    form = form_to(client, asked, "tag")

    answer = send(client, form, {"tag": "team = skin", "action": "add"})

    assert answer.status_code == 303
    assert answer.location == f"/runs?q=dataset:derm-7&sel={run_id},{other}"
    assert "Tagged 2 runs: team=skin." in client.get(answer.location).get_data(as_text=True)
    tags = [client.json(f"/runs/{each}/meta.json")["tags"] for each in (run_id, other)]
    assert tags == [{"team": "skin", "fold": 3}, {"team": "skin"}]
    send(client, form, {"tag": "team", "action": "remove"})
    tags = [client.json(f"/runs/{each}/meta.json")["tags"] for each in (run_id, other)]
    assert tags == [{"fold": 3}, {}]
    for tag, said in (
        ("fold=2", "No selected run had the tag fold=2."),
        ("fold = 3", "Removed tag fold=3 from 1 run."),
        ("fold", "No selected run had the tag fold."),
    ):
        late = send(client, form, {"tag": tag, "action": "remove"})
        assert said in client.page(late.location).one("main").text
    with database.read() as session:
        *_, removed, added = audit_page(session, AuditFilter(text="tag-runs")).events
    assert added.subject == ", ".join(sorted((run_id, other)))
    assert added.project == removed.project == "default"
    assert (added.detail["tag"], added.detail["value"]) == ("team", "skin")


def test_all_runs_are_tagged_or_none(database: Database, run_id: str) -> None:
    with pytest.raises(NotFound):
        tag_runs(database, [run_id, "r_zzzzzzzzzzzz"], "team", "skin")
    with pytest.raises(InvalidInput, match="no run"):
        tag_runs(database, [], "team", "skin")

    with database.read() as session:
        assert get_run(session, run_id).tags == {"team": "derm", "fold": 3}


def test_without_a_ticked_run_or_a_tag_there_is_nothing_to_change(
    client: PageClient, run_id: str
) -> None:
    assert client.get("/runs/tag?q=acc:>0.5").location == "/runs?q=acc:%3E0.5"
    (form,) = [
        each for each in forms_of(client, f"/runs/tag?runs={run_id}") if "tag" in each["action"]
    ]
    for typed, said in (("=x", "No tag was entered."), ("x" * 600, "has 600 characters.")):
        refused = send(client, form, {"tag": typed, "action": "add"})
        page = Page(refused.text)
        assert refused.status_code == 400
        assert said in page.one("div", "callout-warning").text
        assert typed in [each.attributes.get("value") for each in page.all("input")]
        assert "Tag 1 run" in page.one("h1").text
