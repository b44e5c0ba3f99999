"""Tags and review state of a run, changed on its page and over HTTP."""

from __future__ import annotations

import pytest

from offdiag.domain.runs import RunFacts
from offdiag.services.runs import set_tags
from offdiag.store.database import Database
from offdiag_web.app.paths import PREFIX
from support.dashboard import log_lesions
from support.forms import forms_of, send
from support.logging_runs import log
from support.pages import PageClient


@pytest.fixture
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


def test_tags_are_replaced_over_http(client: PageClient, run_id: str) -> None:
    url = f"{PREFIX}/runs/{run_id}"

    answer = client.patch(url, json={"tags": {"stage": "candidate"}})

    assert answer.status_code == 200
    assert answer.get_json()["tags"] == {"stage": "candidate"}
    assert client.get(url).get_json()["tags"] == {"stage": "candidate"}
    refused = client.patch(url, json={"tags": {"x" * 10_000: 1}})
    assert refused.status_code == 422
    assert client.patch(f"{PREFIX}/runs/r_0000000000aa", json={"tags": {}}).status_code == 404


def test_a_retry_finds_its_run_though_somebody_edited_the_tags(database: Database) -> None:
    facts = RunFacts(name="one", client_key="k", tags={"a": "b"})
    run = log(database, facts=facts)
    set_tags(database, run.id, {"a": "c"})

    assert log(database, facts=facts).id == run.id
