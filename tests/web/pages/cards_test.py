"""Cards for slides: one picture that says what was measured, on what, and how surely."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from offdiag.store.database import Database
from support.compared import ComparedRegistry
from support.dashboard import LESIONS, log_lesions
from support.logging_runs import work_off
from support.pages import PageClient, client_for
from support.registries import dashboard
from support.set_runs import log_sets

SVG = "{http://www.w3.org/2000/svg}"
AUDIT = "actual \\ predicted,A,B\nA,80,5\nB,4,11\nAccuracy 91.0 %\nMCC 0.658"


def card_of(client: PageClient, page: str, *, query: dict[str, str] | None = None) -> list[str]:
    """The texts of the card that a page offers, with what every card has checked."""
    link = client.page(page, query_string=query).all("a", data_copy="picture")[0]
    answer = client.get(link["href"])
    assert (answer.status_code, answer.mimetype) == (200, "image/svg+xml")
    root = ET.fromstring(answer.text)
    assert (root.get("width"), root.get("height")) == ("1200", "675")
    # It needs nothing but itself.
    outside = [value for each in root.iter() for name, value in each.items() if "href" in name]
    assert all(value.startswith("data:image/png;base64,") for value in outside)
    for each in root.findall(f"{SVG}text"):
        assert 0 <= float(each.get("x", "")) <= 1200
        assert 0 <= float(each.get("y", "")) <= 675
    return [text for each in root.iter(f"{SVG}text") if (text := each.text)]


def test_the_card_of_a_run_names_data_numbers_with_intervals_and_axes(
    client: PageClient, database: Database
) -> None:
    run_id = log_lesions(database, name="<b>first</b>")

    texts = card_of(client, f"/runs/{run_id}")

    assert texts[0] == "<b>first</b>"
    assert f"{len(LESIONS)} classes" in texts[1]
    page = client.get(f"/runs/{run_id}").text
    assert "Accuracy" in texts
    value, interval = texts[texts.index("Accuracy") + 1 :][:2]
    assert value in page
    assert interval in page
    assert {"Predicted →", "Actual ↓"} <= set(texts)
    turned = card_of(client, f"/runs/{run_id}", query={"t": "1"})
    assert {"Actual →", "Predicted ↓"} <= set(turned)


def test_the_card_of_many_classes_has_a_map_with_named_axes(compared: ComparedRegistry) -> None:
    client = client_for(dashboard(compared.database))

    texts = card_of(client, f"/runs/{compared.large}")

    assert {"Predicted →", "← Actual"} <= set(texts)
    assert len(texts) < 30


def test_the_card_of_a_comparison_has_the_verdict_and_differences(
    compared: ComparedRegistry,
) -> None:
    client = client_for(dashboard(compared.database))

    texts = card_of(client, f"/compare?{compared.pair}")

    page = client.get(f"/compare?{compared.pair}").text
    assert "B − A" in texts
    assert texts[texts.index("Accuracy") + 3] in page
    assert {"Predicted →", "Actual ↓"} <= set(texts)
    assert "Balanced accuracy" in card_of(
        client, f"/compare?{compared.runs('plain', 'focal', 'almost')}"
    )
    refused = card_of(client, f"/compare?{compared.runs('part', 'other_part')}")
    assert any("example" in text for text in refused)


def test_the_card_of_an_audit_begins_with_what_contradicts(client: PageClient) -> None:
    texts = card_of(client, "/audit", query={"table": AUDIT, "classes": "A 85, B 15"})

    assert texts[texts.index("Reason") + 1] == "MCC"
    assert "impossible" in texts


@pytest.mark.parametrize("missing", ["/runs/r_0000000000aa/card.svg", "/compare/card.svg?runs=x"])
def test_there_is_no_card_of_nothing(client: PageClient, missing: str) -> None:
    assert client.get(missing).status_code in {400, 404}


def test_the_card_of_a_run_with_sets_of_labels_has_its_numbers(
    client: PageClient, database: Database
) -> None:
    run = log_sets(database)
    work_off(database)

    texts = card_of(client, f"/runs/{run.id}")

    assert "Subset accuracy" in texts
