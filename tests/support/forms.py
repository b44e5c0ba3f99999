"""Sending the forms of a page as a browser does."""

from __future__ import annotations

from collections.abc import Mapping

from werkzeug.test import TestResponse

from support.pages import Element, Page, PageClient


def forms_of(client: PageClient, path: str) -> list[Element]:
    """All forms on a page that change something, but for that of the theme."""
    response = client.get(path)
    assert response.status_code == 200, response.text[-300:]
    page = Page(response.text)
    return [
        form
        for form in page.all("form")
        if form.attributes.get("method") == "post" and form.attributes["action"] != "/preferences"
    ]


def form_to(client: PageClient, path: str, end: str) -> Element:
    """The first form on a page that is sent to an address with this end."""
    return next(
        form
        for form in forms_of(client, path)
        if form.attributes["action"].partition("?")[0].endswith(end)
    )


def send(
    client: PageClient,
    form: Element,
    data: Mapping[str, str | list[str]] | None = None,
    *,
    page: str = "",
) -> TestResponse:
    """Post a form with what it holds and with what a reader typed, from a page that is named."""
    held = {
        field.attributes["name"]: field.attributes.get("value", "")
        for field in form.inside("input")
        if field.attributes.get("type") == "hidden"
    }
    headers = {"Referer": f"http://localhost{page}"} if page else {}
    return client.post(form.attributes["action"], data={**held, **(data or {})}, headers=headers)
