"""The glossary: definitions, maps at an imbalance, runs on them."""

from __future__ import annotations

import re

import pytest
from markupsafe import escape

from offdiag.metrics.catalogue import SPECS
from offdiag.store.database import Database
from offdiag_web.pages.glossary.page import specs_of
from support.dashboard import HOSTILE_MARKUP, counted_statements, log_counts
from support.filled_once import filled_once
from support.pages import PageClient

MAPPED = ("recall", "precision", "f1", "mcc", "overall_accuracy", "dor", "cohen_kappa")


@pytest.fixture
@filled_once
def dataset_id(database: Database) -> int:
    """A dataset with two runs, one of which never answers with the second class."""
    for name, counts in {"good": ((80, 20), (3, 7)), "never": ((100, 0), (10, 0))}.items():
        log_counts(database, counts, ("well", "ill"), name=name, dataset="clinic")
    return 1


def test_every_metric_is_listed_with_its_page(client: PageClient) -> None:
    page = client.page("/glossary")

    links = {link["href"] for link in page.all("a")}
    assert {f"/glossary/{spec.key}" for spec in SPECS} <= links


def test_every_metric_has_a_page(client: PageClient) -> None:
    for key in sorted({spec.key for spec in SPECS}):
        answer = client.get(f"/glossary/{key}")

        assert answer.status_code == 200, key
        assert f"<h1>{escape(specs_of(key)[0].title)}</h1>" in answer.text, key
        assert not re.search(r"=\"nan|>nan<", answer.text), key


def test_words_narrow_the_list(client: PageClient) -> None:
    page = client.page("/glossary?q=sensitivity")
    nothing = client.get("/glossary?q=xyzzy")

    links = {link["href"] for link in page.all("a")}
    assert "/glossary/recall" in links
    assert "/glossary/mcc" not in links
    assert "No metric has" in nothing.text


def test_the_empty_search_is_the_plain_address(client: PageClient) -> None:
    assert client.get("/glossary?q=++").headers["Location"] == "/glossary"


def test_a_map_is_drawn_inside_its_frame(client: PageClient) -> None:
    for key in MAPPED:
        page = client.page(f"/glossary/{key}?share=0.01")

        drawing = page.one("svg", "rate-map")
        width, height = (float(drawing.attributes[side]) for side in ("width", "height"))
        fields = [e.attributes for e in drawing.inside("rect")]
        assert len(fields) > 24, key
        for field in fields:
            assert 0 <= float(field["x"]) <= float(field["x"]) + float(field["width"]) <= width, (
                key
            )
            assert (
                0 <= float(field["y"]) <= float(field["y"]) + float(field["height"]) <= height
            ), key


def test_a_value_of_exactly_0_is_not_said_to_be_nearly_0(client: PageClient) -> None:
    page = client.page("/glossary/mcc?share=0.5")

    assert "0.9000.0000.2500.4360.6120.8000.894" in [row.text for row in page.all("tr")]


def test_runs_are_letters_on_the_map_and_lines_beside_it(
    client: PageClient, dataset_id: int
) -> None:
    page = client.page(f"/glossary/precision?dataset={dataset_id}")

    places = [place.text for place in page.all("g", "place")]
    assert places == ["A", "B"]
    rows = [row.text for row in page.all("tr")]
    assert "A never0.0001.000undefined" in rows
    assert "B good0.7000.8000.259" in rows
    assert "share of “ill” in clinic" in [word.text for word in page.all("span", "sub")]


def test_another_share_is_another_precision_and_the_same_recall(
    client: PageClient, dataset_id: int
) -> None:
    at = f"dataset={dataset_id}&share=0.5"
    precision = client.page(f"/glossary/precision?{at}")
    recall = client.page(f"/glossary/recall?{at}")

    assert "B good0.7000.8000.778" in [row.text for row in precision.all("tr")]
    assert "B good0.7000.8000.700" in [row.text for row in recall.all("tr")]
    assert "changes with the imbalance" in precision.all("p", "note")[0].text
    assert "the same at every imbalance" in recall.all("p", "note")[0].text


def test_a_form_ends_at_the_canonical_address(client: PageClient) -> None:
    for typed, kept in [("10%", "0.1"), (" 0.100 ", "0.1"), ("0.5", "0.5")]:
        answer = client.get(
            "/glossary/mcc", query_string={"form": "1", "share": typed, "dataset": ""}
        )

        assert answer.headers["Location"] == f"/glossary/mcc?share={kept}", (typed, kept)


def test_a_share_that_is_none_is_said_so(client: PageClient) -> None:
    for typed in ["0", "1", "150%", "lots", "NaN", "1e-9", "-0.5"]:
        answer = client.get("/glossary/mcc", query_string={"form": "1", "share": typed})

        assert answer.status_code == 200, typed
        assert "is not a share between 0 and 1" in answer.text, typed


def test_the_twins_hold_all_definitions_and_all_fields(client: PageClient) -> None:
    whole = client.json("/glossary.json")
    table = client.records("/glossary.csv")
    one = client.json("/glossary/recall.json")
    fields = client.records("/glossary/recall.csv?share=0.2")

    assert len(whole["metrics"]) == len(table) == len(SPECS)
    assert [each["scope"] for each in one["definitions"]] == ["per_class", "per_label"]
    assert len(fields) == 576
    assert all(float(line["value"]) == pytest.approx(float(line["recall"])) for line in fields)
    assert {line["positive_share"] for line in fields} == {"0.2"}


def test_what_does_not_exist_is_not_found(client: PageClient) -> None:
    for path in [
        "/glossary/nothing",
        "/glossary/nothing.json",
        "/glossary/n.csv",
        "/glossary/roc_auc.csv",
    ]:
        assert client.get(path).status_code == 404, path


def test_names_of_runs_and_datasets_are_text(client: PageClient, database: Database) -> None:
    name = "".join(HOSTILE_MARKUP)
    log_counts(database, ((5, 1), (1, 5)), ("a", "b"), name=name, dataset=name)

    text = client.get("/glossary/f1?dataset=1").text

    assert "<script>alert" not in text
    assert "<img src=x" not in text


def test_the_number_of_statements_does_not_grow_with_the_runs(
    client: PageClient, database: Database, dataset_id: int
) -> None:
    with counted_statements() as few:
        client.get(f"/glossary/f1?dataset={dataset_id}")
    for number in range(5):
        log_counts(
            database,
            ((80, 20), (3, 7)),
            ("well", "ill"),
            name=f"{number}",
            dataset="clinic",
        )
    with counted_statements() as many:
        client.get(f"/glossary/f1?dataset={dataset_id}")

    assert len(few) == len(many) <= 6
