"""Pinning a run as the baseline from its page."""

from __future__ import annotations

from offdiag.services.datasets import baseline_of
from offdiag.store.database import Database
from support.dashboard import log_lesions, open_lesions
from support.forms import forms_of, send
from support.pages import PageClient


def test_a_run_is_pinned_from_its_page_and_the_page_says_so(
    client: PageClient, database: Database
) -> None:
    run_id = log_lesions(database)
    client.post("/preferences", data={"reader": "Ana"})
    (form,) = forms_of(client, f"/runs/{run_id}/classes?min=2")
    assert form.inside("button")[0].text == "Pin as baseline"

    answer = send(client, form)

    assert (answer.status_code, answer.location) == (303, f"/runs/{run_id}/classes?min=2")
    pinned = _baseline(database)
    assert pinned == (run_id, "Ana")
    page = client.page(f"/runs/{run_id}")
    assert [tag.text for tag in page.all("span", "role")] == ["baseline"]


def test_only_the_baseline_can_be_unpinned(client: PageClient, database: Database) -> None:
    first, second = log_lesions(database), log_lesions(database, name="other")
    send(client, forms_of(client, f"/runs/{first}")[0])
    (of_first,) = forms_of(client, f"/runs/{first}")
    assert of_first.inside("button")[0].text == "Unpin as baseline"

    send(client, forms_of(client, f"/runs/{second}")[0])
    late = send(client, of_first)

    assert late.status_code == 303
    assert _baseline(database) == (second, None)
    send(client, forms_of(client, f"/runs/{second}")[0])
    assert _baseline(database) is None


def test_an_open_run_cannot_be_pinned(client: PageClient, database: Database) -> None:
    finished, still_open = log_lesions(database), open_lesions(database)
    assert forms_of(client, f"/runs/{still_open}") == []
    (form,) = forms_of(client, f"/runs/{finished}")
    form.attributes["action"] = f"/runs/{still_open}/baseline/pin"

    answer = send(client, form)

    assert answer.status_code == 409
    assert "is open" in answer.text
    assert _baseline(database) is None


def test_the_way_back_never_leaves_this_server(client: PageClient, database: Database) -> None:
    (form,) = forms_of(client, f"/runs/{log_lesions(database)}")

    assert send(client, form, {"back": "https://evil.example/"}).location == "/"


def test_the_link_of_the_page_is_copied_with_its_state(
    client: PageClient, database: Database
) -> None:
    address = f"/runs/{log_lesions(database)}?norm=col"
    (link,) = [a for a in client.page(address).all("a") if a.text == "Copy link"]

    assert link["href"] == address
    assert link["data-copy"] == "link"


def _baseline(database: Database) -> tuple[str, str | None] | None:
    found = baseline_of(database, project="default", dataset="derm-7")
    return None if found is None else (found.run_id, found.author)
