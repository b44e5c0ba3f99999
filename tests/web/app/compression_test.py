"""Texts are compressed for our own pages, and secrets do not show in their length."""

from __future__ import annotations

import gzip

from offdiag_web.app.security import masked, unmasked
from support.pages import Page, PageClient

GZIP = {"Accept-Encoding": "gzip, br"}


def test_a_page_is_compressed_for_a_browser_that_reads_it(client: PageClient) -> None:
    for site in [None, "same-origin", "none"]:
        headers = GZIP | ({} if site is None else {"Sec-Fetch-Site": site})

        answer = client.get("/audit", headers=headers)

        assert answer.headers["Content-Encoding"] == "gzip", site
        assert len(answer.data) == int(answer.headers["Content-Length"]), site
        assert len(answer.data) * 2 < len(gzip.decompress(answer.data)), site
        assert {"Accept-Encoding", "Sec-Fetch-Site"} <= set(answer.vary), site
        assert "</html>" in gzip.decompress(answer.data).decode(), site


def test_what_another_site_asks_for_is_sent_as_it_is(client: PageClient) -> None:
    for headers in [
        {},
        {"Accept-Encoding": "gzip;q=0"},
        GZIP | {"Sec-Fetch-Site": "cross-site"},
        GZIP | {"Sec-Fetch-Site": "same-site"},
    ]:
        answer = client.get("/audit?guess=token", headers=headers)

        assert "Content-Encoding" not in answer.headers, headers
        assert "Sec-Fetch-Site" in answer.vary, headers


def test_the_token_of_a_form_looks_different_in_every_answer(client: PageClient) -> None:
    first, second = (token_on(client) for _ in range(2))

    shared = max(
        (length for length in range(8, len(first)) if first[:length] in second), default=0
    )
    assert first != second
    assert shared == 0
    assert unmasked(first).split(".")[0] == unmasked(second).split(".")[0]


def token_on(client: PageClient) -> str:
    page = Page(client.get("/audit").text)
    fields = (field.attributes for field in page.all("input"))
    return next(field["value"] for field in fields if field.get("name") == "csrf_token")


def test_a_mask_comes_off_again() -> None:
    assert unmasked(masked("a.b-c")) == "a.b-c"


def test_what_is_no_masked_token_opens_nothing(client: PageClient) -> None:
    for text in ["", "abc", "ä", "AAA=", "//8=", "x" * 33]:
        assert client.post("/seen", data={"csrf_token": text}).status_code == 403, text
