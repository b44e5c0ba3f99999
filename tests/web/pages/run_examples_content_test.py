"""Examples as pictures in groups of cells, as texts and fields in the list, or hidden."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from offdiag.domain.runs import RunFacts
from offdiag.domain.sample_content import ContentPlaces
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.services.reports.edition import report_now
from offdiag.services.retention.deletion import delete_run
from offdiag.services.samples.content import log_samples, set_places
from offdiag.services.samples.drafts import label_draft
from offdiag.store.database import Database
from support.filled_once import filled_once
from support.forms import forms_of, send
from support.logging_runs import log, work_off
from support.pages import Page, PageClient
from support.reported import make_editions, scope_on

WHERE: dict[str, Any] = {"project": "default", "dataset": "d"}


@pytest.fixture
@filled_once
def url(database: Database) -> str:
    """Examples of a run that takes b for a, and c for a, a sample each."""
    run = log(
        database,
        dataset="d",
        y_true=["a", "b", "c"],
        y_pred=["a", "a", "a"],
        y_score=[[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.9, 0.1, 0.0]],
        labels=["a", "b", "c"],
        sample_ids=[1, 2, 3],
    )
    work_off(database)
    return f"/runs/{run.id}/examples"


def store(database: Database, **of_each: object) -> None:
    given = [GivenSample(str(at), **of_each) for at in (1, 2, 3)]  # type: ignore[arg-type]
    log_samples(database, **WHERE, given=given)


def headings(page: Page) -> list[str]:
    [groups] = page.all("div", "sample-groups")
    return [heading.text for heading in groups.inside("h3")]


def test_pictures_are_grouped_by_actual_and_predicted_class(
    database: Database, client: PageClient, url: str
) -> None:
    store(database, image=image_file([[0, 255]]))

    page = client.page(url)

    assert headings(page) == ["c → a", "b → a"]
    tiles = page.all("li", "sample-tile")
    assert [tile.inside("img")[0]["alt"] for tile in tiles] == ["Sample 3", "Sample 2"]
    assert "a 0.900 actual c" in tiles[0].text
    lowest = client.page(page.link("Lowest score"))
    assert headings(lowest) == ["b → a", "c → a"]
    unlikely = client.page(page.link("Lowest score of the label"))
    assert headings(unlikely) == ["c → a", "b → a"]
    fewest = client.page(page.link("Fewest models agree"))
    assert "No model has a vote" in fewest.all("section", "card")[-1].text
    assert client.page(page.link("List")).all("li", "sample-tile") == []
    cell = client.page(f"{url}?true=b&pred=a")
    assert (len(cell.all("li", "sample-tile")), headings(cell)) == (1, [])


def test_texts_and_fields_are_columns(database: Database, client: PageClient, url: str) -> None:
    store(database, text="<i>urgent</i>", fields={"amount": 1.5, "country": "JP"})

    [first, *_] = client.page(url).table("data")

    assert first[:4] == ["3", "<i>urgent</i>", "1.5", "JP"]


def test_hidden_content_is_shown_on_demand(
    database: Database, client: PageClient, url: str
) -> None:
    store(database, text="private", fields={"name": "Ann"})
    set_places(database, **WHERE, places=ContentPlaces(is_hidden=True), hosts=frozenset())

    page = client.page(url)

    assert "private" not in client.get(url).text
    shown = client.page(page.link("Show content"))
    assert "private" in shown.table("data")[0]
    assert shown.link("Hide content")


def test_what_only_one_run_gets_right_is_shown_as_pictures(
    database: Database, client: PageClient, url: str
) -> None:
    other = log(
        database,
        dataset="d",
        y_true=["a", "b", "c"],
        y_pred=["a", "b", "a"],
        labels=["a", "b", "c"],
        sample_ids=[1, 2, 3],
    )
    work_off(database)
    store(database, image=image_file([[0, 255]]), text="a note", fields={"ink": 0.5})
    pair = f"/compare/examples?runs={url.split('/')[2]},{other.id}&which=only_b"

    page = client.page(pair)

    pictures = [image["alt"] for image in page.all("img")]
    assert [alt for alt in pictures if alt.startswith("Sample")] == ["Sample 2"]
    assert "a note" in page.table("suspects")[0][0]
    set_places(database, **WHERE, places=ContentPlaces(is_hidden=True), hosts=frozenset())
    hidden = client.page(pair)
    assert "a note" not in hidden.one("table", "suspects").text
    shown = client.page(hidden.link("Show content"))
    assert "a note" in shown.one("table", "suspects").text


def test_examples_say_how_many_models_agree_with_their_label(
    database: Database, client: PageClient
) -> None:
    """Of two models, one takes the only b for a and the other does not."""
    first, _ = (
        log(
            database,
            dataset="d",
            facts=RunFacts(name=model, model=model),
            y_true=["a", "a", "b", "b"],
            y_pred=predicted,
            labels=["a", "b"],
            sample_ids=[1, 2, 3, 4],
        )
        for model, predicted in (("net", ["a", "a", "b", "a"]), ("tree", ["a", "a", "b", "b"]))
    )
    work_off(database)
    url = f"/runs/{first.id}/examples?show=all"

    page = client.page(client.page(url).link("Fewest models agree"))

    assert [row[0] for row in page.table("data")] == ["4", "1", "2", "3"]
    assert [row[4] for row in page.table("data")] == ["1 of 2 models"] + ["2 of 2 models"] * 3
    orders = [link.text for link in page.all("a") if link.attributes.get("aria-current") == "true"]
    assert "Fewest models agree" in orders
    log_samples(database, **WHERE, given=[GivenSample("4", image=image_file([[0, 255]]))])
    [wrong] = client.page(f"/runs/{first.id}/examples?sort=agreement").all("li", "sample-tile")
    assert "1 of 2 models agree" in wrong.text


def test_a_flag_and_its_problem_show_what_the_class_was_taken_for(
    database: Database, client: PageClient
) -> None:
    """Of 30 examples of b, none is found."""
    log(
        database,
        dataset="d",
        y_true=["a"] * 200 + ["b"] * 30,
        y_pred=["a"] * 230,
        labels=["a", "b"],
        sample_ids=list(range(230)),
    )
    work_off(database)
    image = image_file([[0, 255]])
    given = [GivenSample(str(at), image=image, text="a note") for at in range(230)]
    log_samples(database, **WHERE, given=given)
    flags = client.json("/flags.json?rule=F3")["flags"]

    pages = [client.page(f"/flags/{flags[0]['id']}")]
    pages.append(
        client.page(next(a["href"] for a in pages[0].all("a") if "/problems/" in a["href"]))
    )

    for page in pages:
        strip = page.one("ul", "problem-examples")
        pictures = [image["alt"] for image in strip.inside("img")]
        assert pictures == [f"Sample {at}" for at in range(200, 205)]
        assert "a note" in strip.text
        everything = client.page(page.link("30 missed"))
        assert len(everything.all("li", "sample-tile")) == 30
        heads = [head.text for head in everything.all("h2")]
        assert "30 wrong examples, actual “b”" in heads
    set_places(database, **WHERE, places=ContentPlaces(is_hidden=True), hosts=frozenset())
    hidden = client.page(f"/flags/{flags[0]['id']}").one("ul", "problem-examples")
    assert not hidden.inside("img")
    assert "a note" not in hidden.text


def test_a_report_shows_errors_of_its_best_run(
    database: Database, client: PageClient, url: str
) -> None:
    store(database, image=image_file([[0, 255]]))
    edition = report_now(database, name="weekly", scope=scope_on("d"))
    make_editions(database)

    page = client.page(f"/reports/weekly/{edition.number}")

    strip = page.one("ul", "problem-examples")
    assert [each["alt"] for each in strip.inside("img")] == ["Sample 3", "Sample 2"]
    assert page.link("2 wrong by run") == url
    delete_run(database, url.split("/")[2], by=None)
    assert not client.page(f"/reports/weekly/{edition.number}").all("ul", "problem-examples")


def test_labels_are_proposed_in_the_gallery(
    database: Database, client: PageClient, url: str
) -> None:
    store(database, image=image_file([[0, 255]]))
    cell = f"{url}?pred=a&true=b"
    [form] = [each for each in forms_of(client, cell) if "gallery" in each.classes]
    (box,) = form.inside("input", name="sample")
    [label] = [each for each in form.inside("option") if "selected" in each.attributes]
    assert (box["value"], label.text) == ("2", "a")

    sent = {
        "sample": "2",
        "label": "a",
        "reader": "ana",
        "note": "An a.",
        "action": "propose",
    }
    answer = send(client, form, sent)

    assert (answer.status_code, answer.headers["Location"]) == (303, cell)
    assert client.page(cell).all("p", "callout")[0].text == "✓ 1 label proposed."
    [item] = label_draft(database, **WHERE).items
    assert (item.sample, item.label, item.outcome, item.answers[0].author) == (2, "b", "a", "ana")
    listed = [each for each in forms_of(client, f"{url}?view=list") if "gallery" in each.classes]
    names = [each.attributes.get("value") for each in listed[0].inside("input")]
    assert {"2", "3"} <= set(names)


def test_labels_that_are_refused_stay_in_the_form_on_the_page_of_the_examples(
    database: Database, client: PageClient, url: str
) -> None:
    store(database, image=image_file([[0, 255]]))
    refusals: list[tuple[str, dict[str, str], str | None, str]] = [
        ("list", {"sample": ""}, None, "No example is selected."),
        ("images", {"label": "no class"}, "label", "no class"),
        ("list", {"reader": "ana " * 50}, "reader", "The name has 199 characters."),
        ("images", {"note": "seen " * 1500}, "note", "The note has 7500 characters."),
    ]
    for view, typed, wrong, said in refusals:
        client.delete_cookie("reader")
        shown = f"{url}?show=all&view={view}"
        [form] = [each for each in forms_of(client, shown) if "gallery" in each.classes]
        sent = {"sample": "2", "label": "b", "reader": "ana", "note": "An a.", **typed}

        answer = send(client, form, {name: text for name, text in sent.items() if text})

        page = Page(answer.text)
        assert answer.status_code == 422
        assert said in page.one("div", "callout-warning").text
        assert "3 examples" in [head.text for head in page.all("h2")]
        [kept] = [each for each in page.all("form") if "gallery" in each.classes]
        assert kept["action"] == form["action"]
        fields = {each["name"]: each for each in kept.inside("input")}
        assert fields["note"]["value"] == sent["note"]
        if wrong == "reader":
            assert fields["reader"]["value"] == sent["reader"]
        else:
            remembered = client.get_cookie("reader")
            assert remembered is not None
            assert (remembered.value, "reader" in fields) == ("ana", False)
        ticked = [e["value"] for e in kept.inside("input") if "checked" in e.attributes]
        assert ticked == ([sent["sample"]] if sent["sample"] else [])
        marked = [
            each["name"]
            for each in (*kept.inside("input"), *kept.inside("select"))
            if "aria-invalid" in each.attributes
        ]
        assert marked == ([wrong] if wrong else [])
    assert label_draft(database, **WHERE).items == ()


def test_labels_of_other_samples_than_those_of_the_draft_are_not_proposed(
    database: Database, client: PageClient
) -> None:
    by_position = partial(
        log, database, dataset="e", y_pred=["b", "b", "a"], labels=["a", "b"], sample_ids=None
    )
    old = by_position(y_true=["a", "b", "b"])
    by_position(y_true=["b", "a", "a"])
    work_off(database)
    [form] = [
        each for each in forms_of(client, f"/runs/{old.id}/examples") if "gallery" in each.classes
    ]

    answer = send(client, form, {"sample": "0", "label": "b", "reader": "ana"})

    assert answer.status_code == 422
    assert "The draft is about the samples of label version 2" in answer.text
    boxes = Page(answer.text).all("input")
    assert [e["value"] for e in boxes if "checked" in e.attributes] == ["0"]
    assert label_draft(database, project="default", dataset="e").items == ()
