"""The page of suspect labels: a statement, a line for each, pictures, and who has a vote."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from werkzeug.test import TestResponse

from offdiag.domain.runs import RunFacts
from offdiag.domain.sample_content import ContentPlaces
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.services.samples.content import log_samples, set_places
from offdiag.services.samples.suspects import SuspectLabels
from offdiag.store.database import Database
from offdiag_web.app.dispatch import PREFIX
from offdiag_web.pages.samples import draft_page, suspects_page
from support.filled_once import filled_once
from support.forms import form_to, forms_of, send
from support.logging_runs import log
from support.pages import Element, Page, PageClient

WHERE: dict[str, Any] = {"project": "default", "dataset": "d"}
URL = "/datasets/d/suspects"


@pytest.fixture
@filled_once
def filled(database: Database) -> Database:
    """Two models that know that the labels of 4 and 7 of 300 samples are wrong."""
    random = np.random.default_rng(5)
    true = random.integers(0, 2, 300)
    labels = true.copy()
    labels[[4, 7]] = 1 - labels[[4, 7]]
    names = np.array(["mel", "nv"])
    for model in ("net", "forest"):
        own = np.clip(random.normal(0.9, 0.03, 300), 0, 1)
        of_nv = np.where(true == 1, own, 1 - own)
        log(
            database,
            dataset="d",
            facts=RunFacts(name=model, model=model),
            y_true=names[labels],
            y_pred=names[true],
            y_score=np.stack([1 - of_nv, of_nv], axis=1),
            sample_ids=list(range(300)),
            labels=["mel", "nv"],
        )
    log_samples(
        database,
        **WHERE,
        given=[GivenSample("4", image=image_file([[0, 255]]), text="<b>a mole</b>")],
    )
    return database


def pictures(page: Page) -> list[Element]:
    return [image for image in page.all("img") if image["alt"].startswith("Sample ")]


def test_suspects_are_stated_listed_and_exported(
    filled: Database, client: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = client.page(URL)

    assert page.one("p", "lead").text == (
        "2 of 300 labels are contradicted by most of 2 models, 1 also by confident learning."
    )
    rows = page.table("suspects")
    assert {row[2] for row in rows} == {"4", "7"}
    assert {row[6] for row in rows} == {"2 of 2"}
    assert any("wrong at random" in paragraph.text for paragraph in page.all("p"))
    assert {line["sample"] for line in client.records(f"{URL}.csv")} == {"4", "7"}
    monkeypatch.setattr(suspects_page, "MOST_SUSPECTS", 1)
    assert (client.json(f"{URL}.json")["total"], len(client.json(f"{URL}.json")["suspects"])) == (
        2,
        1,
    )
    assert len(client.records(f"{URL}.csv")) == 2
    assert client.json(f"{URL}.json")["n_suspect"] == 2
    asked = client.page(f"{URL}?class=mel&against=2")
    assert asked.one("h1").text == "d"
    assert "number of models is invalid" not in asked.one("main").text
    assert "number of models is invalid" in client.page(f"{URL}?against=x").one("main").text


def test_content_is_text_and_a_picture_of_ours_and_if_sensitive_shown_to_whoever_asks(
    filled: Database, client: PageClient
) -> None:
    page = client.page(URL)
    text = client.get(URL).text
    places = ContentPlaces(is_hidden=True)
    set_places(filled, **WHERE, places=places, hosts=frozenset())
    hidden = client.page(URL)

    [picture] = pictures(page)
    assert picture["src"].startswith("data:image/png;base64,")
    assert "<b>a mole</b>" in page.one("table", "suspects").text
    assert "&lt;b&gt;a mole" in text
    assert pictures(hidden) == []
    assert "a mole" not in hidden.one("table", "suspects").text
    assert len(pictures(client.page(hidden.link("Show content")))) == 1


def test_a_dataset_without_votes_says_what_is_needed(
    database: Database, client: PageClient
) -> None:
    log(database, dataset="d", sample_ids=[1, 2, 3, 4, 5, 6])
    assert "Needs a model with probabilities" in client.page(URL).one("div", "empty").text


DRAFT = "/datasets/d/draft"


def answer(client: PageClient, url: str = URL, **typed: str | list[str]) -> TestResponse:
    form = next(f for f in forms_of(client, url) if f["action"].endswith(url[-6:]))
    return send(client, form, {"reader": "ana", "action": "suggested", **typed})


def listed(page: Page) -> list[str]:
    boxes = [box.attributes for box in page.all("input") if box.attributes.get("name") == "sample"]
    return [box["value"] for box in boxes]


def publish(client: PageClient, **typed: str) -> TestResponse:
    form = form_to(client, DRAFT, "publish")
    return send(client, form, {"reason": "seen again", **typed})


def labels_of(client: PageClient) -> dict[str, str | None]:
    """Labels that differ between the first two versions, by sample."""
    found = client.json("/datasets/d/truth/1..2.json")
    return {str(each["sample"]): each["after"] for each in found["samples"]}


def test_selected_labels_are_published_in_one_version(
    filled: Database, client: PageClient
) -> None:
    [suggested] = [
        each["suggested"] for each in client.json(f"{URL}.json")["suspects"] if each["sample"] == 4
    ]

    answered = answer(client, sample="4")
    shown = client.page(URL)
    published = publish(client)

    assert (answered.status_code, answered.location) == (303, URL)
    assert listed(shown) == ["7"]
    assert any("1 change by 1 person." in each.text for each in shown.all("p"))
    assert (published.status_code, published.location) == (303, "/datasets/d/truth/2/impact")
    assert labels_of(client) == {"4": suggested}
    assert client.json(f"{URL}.json")["n_suspect"] == 1


@pytest.mark.parametrize("place", [URL, DRAFT])
@pytest.mark.both_databases
def test_answers_that_came_after_the_page_was_opened_are_not_published(
    filled: Database, client: PageClient, place: str
) -> None:
    answer(client, sample="4")
    form = form_to(client, place, "publish")
    answer(client, sample="7")

    refused = send(client, form, {"reason": "seen"})

    assert refused.status_code == 409
    said = Page(refused.text).one("div", "callout-warning").text
    assert "since you saw the draft. Look at them, then publish again." in said
    assert client.get("/datasets/d/truth/1..2.json").status_code == 404
    assert Page(refused.text).value("reason") == "seen"
    again = next(f for f in Page(refused.text).all("form") if "publish" in f["action"])
    assert send(client, again, {"reason": "seen"}).status_code == 303


def test_a_program_publishes_the_draft_that_it_read(filled: Database, client: PageClient) -> None:
    path = f"{PREFIX}/datasets/d/draft"
    answer(client, sample="4")
    etag = client.get(path).headers["ETag"]
    answer(client, sample="7")

    def published(**headers: str) -> int:
        body = {"reason": "seen"}
        return client.post(f"{path}/publish", json=body, headers=headers).status_code

    answers = {
        query: [each["answers"] for each in client.json(f"{path}{query}")["samples"]]
        for query in ("?author=ana", "?author=ben", "")
    }
    assert all(answers["?author=ana"])
    assert answers["?author=ben"] == answers[""] == [[], []]
    assert published(**{"If-Match": etag}) == 412
    assert published(**{"If-Match": client.get(path).headers["ETag"]}) == 201


def test_an_unusable_answer_changes_nothing(filled: Database, client: PageClient) -> None:
    for typed in [
        {"sample": "9"},
        {"sample": "4", "reader": ""},
        {"sample": "4", "version": "7"},
        {"sample": "4", "action": "other", "label": "unknown"},
        {},
    ]:
        refused = answer(client, **typed)

        assert refused.status_code == 422, typed
        said = Page(refused.text).one("div", "callout-warning").text
        assert said.endswith(" Nothing was changed."), typed
        sentences = said.removesuffix(".").split(". ")
        assert len(set(sentences)) == len(sentences), typed
        assert client.page(DRAFT).one("div", "empty").text.startswith("No answers yet"), typed


def test_an_empty_label_is_one_thing_or_refused(database: Database, client: PageClient) -> None:
    log(database, dataset="d", labels=["", "b"], y_true=["", "b", "b"], y_pred=["b", "b", ""])
    page = f"/runs/{client.json('/runs.json')['runs'][0]['id']}/examples"
    form = form_to(client, page, "/examples")
    typed = {"reader": "ana", "sample": "0"}

    of_class = send(client, form, {**typed, "label": ""})
    without = send(client, form, {**typed, "label": []})

    for refused, said in (
        (of_class, "A class of this dataset has an empty"),
        (without, "No label is"),
    ):
        assert refused.status_code == 422
        assert said in Page(refused.text).one("div", "callout-warning").text
        chooser = Page(refused.text).one("select", name="label")
        assert chooser["aria-invalid"] == "true"
    assert client.page(DRAFT).one("div", "empty").text.startswith("No answers yet")


@pytest.mark.parametrize("url", [URL, DRAFT])
def test_a_refused_answer_stays_in_the_form(
    filled: Database, client: PageClient, url: str
) -> None:
    answer(client, sample="7", action="other", label="nv")
    sample = "4" if url == URL else "7"
    typed = {"label": "nv", "note": "seen twice", "action": "other"}

    for n_ticked, more in ((0, {}), (1, {"sample": sample, "label": "unknown"})):
        refused = answer(client, url, **{**typed, **more})
        page = Page(refused.text)
        assert refused.status_code == 422
        fields = {field.attributes.get("name"): field for field in page.all("input")}
        assert fields["note"]["value"] == "seen twice"
        assert sum("checked" in box.attributes for box in page.all("input")) == n_ticked
        chosen = [each.text for each in page.all("option") if "selected" in each.attributes]
        assert more or "nv" in chosen


@pytest.mark.parametrize("url", [URL, DRAFT, "/runs/{run}/examples"])
def test_selected_examples_that_are_no_longer_listed_are_named(
    filled: Database, client: PageClient, url: str
) -> None:
    answer(client, sample="7", action="other", label="nv")
    url = url.format(run=client.json("/runs.json")["runs"][0]["id"])
    [one, *_] = listed(client.page(url))
    said = "are no longer listed and no longer selected"

    refused = Page(answer(client, url, sample=[one, "298", "299"], label="?", action="other").text)
    as_listed = answer(client, url, sample=one, label="?", action="other").text

    boxes = [box["value"] for box in refused.all("input") if "checked" in box.attributes]
    assert boxes == [one]
    assert f"2 selected examples {said}: 298 and 299." in refused.one("main").text
    assert said not in as_listed


def test_an_answer_leads_back_to_the_part_of_the_list_that_it_was_given_on(
    filled: Database, client: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suspects_page, "SUSPECTS_PER_PAGE", 1)
    monkeypatch.setattr(draft_page, "PER_PAGE", 1)
    label = client.json(f"{URL}.json")["suspects"][1]["label"]
    second = f"{URL}?against=2&class={label}", f"{URL}?from=2"

    for url in (*second, f"{DRAFT}?from=2"):
        if url.startswith(DRAFT):
            for sample in ("4", "7"):
                answer(client, sample=sample, action="right")
        [sample] = listed(client.page(url))
        form = next(f for f in forms_of(client, url) if f.inside("input", name="sample"))
        typed = {"sample": sample, "action": "other", "label": label}
        refused = Page(send(client, form, {**typed, "label": "unknown", "reader": "ana"}).text)
        [box] = [each for each in refused.all("input") if "checked" in each.attributes]
        assert (box["value"], form["action"]) == (sample, url)

    assert send(client, form, {**typed, "reader": "ana"}).location == url


def test_a_reason_to_publish_that_is_refused_stays_in_the_form(
    filled: Database, client: PageClient
) -> None:
    answer(client, sample="4", action="right")

    page = Page(publish(client, reason="the minutes", opinions="2").text)

    fields = {field.attributes.get("name"): field for field in page.all("input")}
    assert fields["reason"]["value"] == "the minutes"
    assert "checked" in fields["opinions"].attributes


def test_a_second_person_answers_without_seeing_the_first_answer(
    filled: Database, client: PageClient
) -> None:
    answer(client, sample="4", action="other", label="nv", note="clear")
    client.set_cookie("reader", "ben")

    [row] = client.page(DRAFT).table("suspects")
    assert (row[-2], row[-1]) == ("needs a second answer", "")
    answer(client, DRAFT, sample="4", label="mel", action="propose", reader="ben")

    page = client.page(DRAFT)
    [row] = page.table("suspects")
    assert (row[-2], row[-1]) == ("disagree", "ana: nv (clear), ben: mel")
    assert any("ana and ben agree on 0 of 1" in each.text for each in page.all("li"))
    assert "No label would change" in publish(client).text


def test_a_decision_ends_a_disagreement_and_an_answer_can_be_withdrawn(
    filled: Database, client: PageClient
) -> None:
    client.set_cookie("reader", "ana")
    for sample in ("4", "7"):
        answer(client, sample=sample, action="other", label="mel")
    answer(client, DRAFT, sample="7", action="withdraw")
    page = client.page(DRAFT)
    decide = form_to(client, DRAFT, DRAFT)
    decide.attributes["action"] = f"{DRAFT}/decide"

    send(client, decide, {"sample": "4", "label": ""})

    assert len(page.table("suspects")) == 1
    [row] = client.page(DRAFT).table("suspects")
    assert (row[-2], row[-1]) == ("decided", "ana: mel, ana decided: cannot be told")
    publish(client, opinions="2")
    assert labels_of(client) == {"4": None}


def test_a_version_is_undone_on_the_page_of_its_impact(
    filled: Database, client: PageClient
) -> None:
    answer(client, sample="4")
    publish(client)
    undo = form_to(client, "/datasets/d/truth/2/impact", "undo")

    assert send(client, undo, {"reason": "wrong"}).location == "/datasets/d/truth/3/impact"
    assert client.json("/datasets/d/truth/1..3.json")["samples"] == []
    late = send(client, undo, {"reason": "wrong again"})
    page = Page(late.text)
    assert late.status_code == 422
    assert page.one("h1").text == "Impact of label version 2"
    assert "were changed again" in page.one("div", "callout-warning").text
    [menu] = [e for e in page.one("main").inside("details") if "open" in e.attributes]
    assert "wrong again" in [e.attributes.get("value") for e in menu.inside("input")]


def test_undoing_a_version_that_is_gone_ends_on_the_label_versions_with_the_reason(
    filled: Database, client: PageClient
) -> None:
    answer(client, sample="4")
    publish(client)
    undo = form_to(client, "/datasets/d/truth/2/impact", "undo")
    undo.attributes["action"] = undo["action"].replace("/2/", "/9/")

    response = send(client, undo, {"reason": "wrong"})
    page = Page(response.text)

    assert response.status_code == 404
    assert "Label versions" in {each.text for each in page.all("h2")}
    assert "has no label version 9" in page.one("div", "callout-warning").text
    assert page.one("p", "quote").text == "wrong"


def test_the_page_of_noise_has_ranges_and_says_when_it_cannot_tell(
    filled: Database, client: PageClient
) -> None:
    page = client.page("/datasets/d/noise?share=5")

    assert page.one("p", "lead").text.startswith("An estimated 0.")
    assert {tuple(row[1:5]) for row in page.table("data")} == {
        ("99.3 %", "98.9 to 99.8 %", "94.3 to 100.0 %", "1 to 2")
    }
    [pair] = client.json("/datasets/d/noise.json")["pairs"]
    assert pair["statement"].endswith(
        "show no significant difference, even if all labels are right."
    )
    assert "not a share" in client.get("/datasets/d/noise?share=x").text


def test_one_of_many_labels_is_contradicted() -> None:
    found = SimpleNamespace(n_suspect=1, n_labelled=300, families=("a", "b"), n_confident=0)

    assert suspects_page.statement(cast("SuspectLabels", found)) == (
        "1 of 300 labels is contradicted by most of 2 models, 0 also by confident learning."
    )
