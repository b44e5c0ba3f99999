"""Sending the forms of a page as a browser does."""

from __future__ import annotations

from collections.abc import Mapping

from werkzeug.test import TestResponse

from support.pages import Element, PageClient


def forms_of(client: PageClient, path: str) -> list[Element]:
    """All forms on a page that change something, but for that of the theme."""
    forms = client.page(path).all("form", method="post")
    return [form for form in forms if form["action"] != "/preferences"]


def form_to(client: PageClient, path: str, end: str) -> Element:
    """The first form on a page that is sent to an address with this end."""
    return next(
        form for form in forms_of(client, path) if form["action"].partition("?")[0].endswith(end)
    )


def send(
    client: PageClient,
    form: Element,
    data: Mapping[str, str | list[str]] | None = None,
    *,
    page: str = "",
) -> TestResponse:
    """Post a form with what it holds and with what a reader typed, from a page that is named."""
    held = form.fields(type="hidden")
    headers = {"Referer": f"http://localhost{page}"} if page else {}
    return client.post(form["action"], data={**held, **(data or {})}, headers=headers)
