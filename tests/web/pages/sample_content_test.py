"""Where content lies, set on a page; stored pictures, which can do nothing."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from offdiag.inputs.content.given_images import image_file
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web.app.dispatch import PREFIX
from offdiag_web.application import create_app
from support.forms import form_to, send
from support.logging_runs import log
from support.pages import Page, PageClient, client_for

GREY = base64.b64encode(image_file([[0, 255]])).decode()
SAMPLES = f"{PREFIX}/datasets/holdout/samples"


@pytest.fixture
def client(database: Database) -> PageClient:
    settings = Settings.model_validate(
        {
            "server": {
                "secret_key": "2b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da5",
                "content_hosts": "images.example.org",
                "content_limit_mb": 1,
            }
        }
    )
    log(database, sample_ids=[1, 2, 3, 4, 5, 6])
    return client_for(create_app(settings, database))


def test_a_stored_picture_can_do_nothing(client: PageClient) -> None:
    stored = client.post(SAMPLES, json={"samples": [{"sample": 1, "image": GREY, "text": "<b>"}]})
    assert stored.get_json()["n_added"] == 1

    for address in ("/datasets/holdout/image?sample=1", f"{SAMPLES}/image?sample=1"):
        answer = client.get(address)
        assert (answer.status_code, answer.mimetype) == (200, "image/png")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        again = client.get(address, headers={"If-None-Match": answer.headers["ETag"]})
        assert again.status_code == 304
    assert client.get("/datasets/holdout/image?sample=2").status_code == 404
    listed = client.get(SAMPLES).get_json()
    assert [each["text"] for each in listed["samples"]] == ["<b>"]


def test_small_pictures_are_in_the_page_and_large_ones_are_requests(client: PageClient) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (48, 48, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).save(buffer, "PNG")
    large = base64.b64encode(buffer.getvalue()).decode()
    given = [{"sample": 1, "image": GREY}, {"sample": 2, "image": large}]
    assert client.post(SAMPLES, json={"samples": given}).status_code == 200
    run = client.json("/api/v1/runs")["runs"][0]["id"]

    page = client.get(f"/runs/{run}/examples?show=all").get_data(as_text=True)

    sources = dict(re.findall(r'<img src="([^"]+)" alt="Sample (\d)"', page))
    by_sample = {sample: source for source, sample in sources.items()}
    assert by_sample["1"].startswith("data:image/png;base64,")
    assert by_sample["2"].startswith("/datasets/holdout/image?")


def test_unusable_uploads_store_nothing(client: PageClient) -> None:
    for sample, field in [
        ({"sample": 1, "image": "no base64!"}, "samples.image"),
        ({"sample": 1, "image": base64.b64encode(b"<svg/>").decode()}, "images"),
        ({"sample": 1, "audio": "https://b.org/a.mp3"}, "audio"),
        ({"sample": 1, "text": 5}, None),
    ]:
        answer = client.post(SAMPLES, json={"samples": [sample]})

        assert answer.status_code == 422, (sample, field)
        assert field is None or answer.get_json()["error"]["field"] == field, (sample, field)
        assert client.get(SAMPLES).get_json()["samples"] == [], (sample, field)


def test_samples_are_listed_page_by_page_and_removed(client: PageClient) -> None:
    client.post(SAMPLES, json={"samples": [{"sample": at, "text": "a"} for at in range(1, 4)]})

    first = client.json(f"{SAMPLES}?limit=2")
    token = first["next_page_token"]
    second = client.json(f"{SAMPLES}?limit=2&page_token={token}")

    names = [each["sample"] for part in (first, second) for each in part["samples"]]
    assert (names, second["next_page_token"]) == (["1", "2", "3"], None)
    assert client.post(f"{SAMPLES}/remove", json={"samples": [1]}).get_json() == {"n_removed": 1}
    assert client.post(f"{SAMPLES}/remove", json={"samples": None}).get_json() == {"n_removed": 2}


def test_hosts_of_templates_are_those_of_the_policy(client: PageClient) -> None:
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "img-src 'self' data: https://images.example.org;" in policy
    assert "media-src https://images.example.org" in policy
    page = "/datasets/holdout/content"
    form = form_to(client, page, "/content")

    refused = send(client, form, {"image_template": "https://evil.org/{sample}"})
    saved = send(
        client,
        form,
        {"image_template": "https://images.example.org/{sample}.jpg", "hidden": "on"},
    )

    assert (refused.status_code, "not allowed" in refused.text) == (422, True)
    [field] = [
        each for each in Page(refused.text).all("input") if "aria-invalid" in each.attributes
    ]
    assert field["value"] == "https://evil.org/{sample}"
    assert (saved.status_code, saved.location) == (303, page)
    assert client.json(f"{PREFIX}{page}") == {
        "image_template": "https://images.example.org/{sample}.jpg",
        "link_template": None,
        "is_hidden": True,
    }


def test_the_form_of_content_changes_what_its_reader_changed(client: PageClient) -> None:
    page = "/datasets/holdout/content"
    late = form_to(client, page, "/content")
    template = "https://images.example.org/{sample}.jpg"
    send(client, form_to(client, page, "/content"), {"hidden": "on"})

    assert send(client, late, {"image_template": template}).status_code == 303

    stored = client.json(f"{PREFIX}{page}")
    assert (stored["image_template"], stored["is_hidden"]) == (template, True)
    refused = send(client, late, {"image_template": "https://images.example.org/{sample}.png"})
    assert refused.status_code == 409
    shown_again = Page(refused.text)
    assert f"now it is {template}" in shown_again.one("div", "callout-warning").text
    assert shown_again.value("image_template").endswith(".png")
    assert "checked" in shown_again.one("input", name="hidden").attributes
    again = shown_again.one("form", action=page)
    png = {"image_template": shown_again.value("image_template"), "hidden": "on"}
    assert send(client, again, png).status_code == 303
    assert client.json(f"{PREFIX}{page}")["image_template"].endswith(".png")
    shown = form_to(client, page, "/content")
    assert send(client, shown, {"image_template": template}).status_code == 303
    assert client.json(f"{PREFIX}{page}")["is_hidden"] is False


def test_content_beyond_the_limit_of_the_project_is_refused(client: PageClient) -> None:
    texts = [{"sample": at, "text": "a" * 20_000} for at in range(51)]

    refused = client.post(SAMPLES, json={"samples": texts})

    error = refused.get_json()["error"]
    assert (refused.status_code, error["field"]) == (413, "samples")
    assert "would take 1,020,000 bytes" in error["message"]
    assert client.post(SAMPLES, json={"samples": texts[:50]}).status_code == 200
    shown = client.page("/datasets/holdout/content").one("main").text
    assert "The limit for all datasets of the project is 1 MB." in shown
