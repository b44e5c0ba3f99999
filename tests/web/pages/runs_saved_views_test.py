"""Saving a view of the runs list, opening it, removing it."""

from __future__ import annotations

from support.dashboard import HOSTILE_NAMES
from support.forms import forms_of, send
from support.pages import Page, PageClient

FILTER = "/views?of=q%3Dflag%253Aopen%26sort%3D-mcc"


def save(client: PageClient, name: str, path: str = FILTER) -> str:
    """Save the view of an address; returns where that leads."""
    return send(client, forms_of(client, path)[0], {"name": name}).headers["Location"]


def test_a_saved_view_leads_to_its_list_until_it_is_removed(client: PageClient) -> None:
    address = save(client, "flagged")

    assert address.startswith("/v/")
    assert client.get(address).headers["Location"] == "/runs?q=flag:open&sort=-mcc"
    assert "flagged" in client.page("/views").one("tbody").text
    assert save(client, "flagged") == address
    form = forms_of(client, "/views?of=q%3Dflag%253Aopen")[0]
    again, empty = send(client, form, {"name": "flagged"}), send(client, form, {"name": " "})
    assert (again.status_code, empty.status_code) == (409, 400)
    for refused, said, typed in (
        (again, "View “flagged” already exists.", "flagged"), (empty, "The name is empty.", " "),
    ):  # fmt: skip
        page = Page(refused.text)
        assert said in page.one("div", "callout-warning").text
        field = page.one("input", name="name")
        assert field["value"] == typed
        assert "q=flag" in page.one("main").inside("a")[1]["href"]

    send(client, forms_of(client, "/views")[1])

    assert client.get(address).status_code == 404
    assert "No saved views yet" in client.get("/views").text


def test_a_view_of_everything_is_the_plain_list(client: PageClient) -> None:
    assert client.get(save(client, "all", "/views")).headers["Location"] == "/runs"


def test_what_is_no_part_of_the_list_is_not_kept(client: PageClient) -> None:
    address = save(client, "odd", "/views?of=q%3Dx%26next%3Dhttps%253A%252F%252Felsewhere")

    assert client.get(address).headers["Location"] == "/runs?q=x"


def test_names_of_views_are_text(client: PageClient) -> None:
    for name in HOSTILE_NAMES:
        save(client, name)

    text = client.get("/views").text

    assert "<script>alert" not in text
    assert "<img src=x" not in text
    heads = [head.text for head in Page(text).all("th") if head["scope"] == "row"]
    assert sorted(heads) == sorted(HOSTILE_NAMES)
