"""The page of suspect labels: a statement, a line for each, pictures, and who has a vote."""

from __future__ import annotations

import numpy as np
import pytest
from werkzeug.test import TestResponse

from offdiag.domain.runs import RunFacts
from offdiag.domain.sample_content import ContentPlaces
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.services.samples.log import log_samples, set_places
from offdiag.store.database import Database
from support.filled_once import filled_once
from support.forms import forms_of, send
from support.logging_runs import log
from support.pages import Element, Page, PageClient

WHERE = {"project": "default", "dataset": "d"}
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
    return [image for image in page.all("img") if image.attributes["alt"].startswith("Sample ")]


def test_suspects_are_stated_listed_and_exported(filled: Database, client: PageClient) -> None:
    page = client.page(URL)

    assert page.one("p", "lead").text == (
        "2 of 300 labels are contradicted by most of 2 models, 1 also by confident learning."
    )
    rows = page.table("suspects")
    assert {row[2] for row in rows} == {"4", "7"}
    assert {row[6] for row in rows} == {"2 of 2"}
    assert any("wrong at random" in paragraph.text for paragraph in page.all("p"))
    assert {line["sample"] for line in client.records(f"{URL}.csv")} == {"4", "7"}
    assert client.json(f"{URL}.json")["n_suspect"] == 2
    assert client.page(f"{URL}?class=mel&against=2").one("h1").text == "d"


def test_content_is_text_and_a_picture_of_ours(filled: Database, client: PageClient) -> None:
    page = client.page(URL)

    [picture] = pictures(page)
    assert client.get(picture.attributes["src"]).mimetype == "image/png"
    assert "<b>a mole</b>" in page.one("table", "suspects").text
    assert "&lt;b&gt;a mole" in client.get(URL).text


def test_sensitive_content_is_shown_to_whoever_asks(filled: Database, client: PageClient) -> None:
    places = ContentPlaces(is_hidden=True)
    set_places(filled, **WHERE, places=places, hosts=frozenset())

    page = client.page(URL)

    assert pictures(page) == []
    assert "a mole" not in page.one("table", "suspects").text
    assert len(pictures(client.page(page.link("Show content")))) == 1


def test_a_dataset_without_votes_says_what_is_needed(
    database: Database, client: PageClient
) -> None:
    log(database, dataset="d", sample_ids=[1, 2, 3, 4, 5, 6])
    assert "Needs a model with probabilities" in client.page(URL).one("div", "empty").text


def correct(client: PageClient, **typed: str) -> TestResponse:
    form = next(
        f
        for f in forms_of(client, URL)
        if f.attributes["method"] == "post" and "suspects" in f.attributes["action"]
    )
    return send(client, form, {"reason": "seen again", "action": "suggested", **typed})


def labels_of(client: PageClient) -> dict[str, str | None]:
    """Labels that differ between the first two versions, by sample."""
    found = client.json("/datasets/d/truth/1..2.json")
    return {str(each["sample"]): each["after"] for each in found["samples"]}


@pytest.mark.parametrize("action", ["suggested", "leave out"])
def test_selected_labels_are_corrected_in_one_version(
    filled: Database, client: PageClient, action: str
) -> None:
    [suggested] = [
        each["suggested"] for each in client.json(f"{URL}.json")["suspects"] if each["sample"] == 4
    ]

    answer = correct(client, sample="4", action=action)

    assert (answer.status_code, answer.location) == (303, "/datasets/d/truth/2/impact")
    assert labels_of(client) == {"4": suggested if action == "suggested" else None}
    assert client.json(f"{URL}.json")["n_suspect"] == 1


@pytest.mark.parametrize(
    "typed",
    [
        {"sample": "9"},
        {"sample": "4", "reason": " "},
        {"sample": "4", "version": "7"},
        {"sample": "4", "action": "other", "label": "unknown"},
        {},
    ],
    ids=["no suspect", "no reason", "another version", "no class", "nothing selected"],
)
def test_an_unusable_correction_changes_nothing(
    filled: Database, client: PageClient, typed: dict[str, str]
) -> None:
    answer = correct(client, **typed)

    assert answer.status_code == 422
    assert "Nothing was changed" in answer.text
    assert client.json(f"{URL}.json")["version"] == 1
