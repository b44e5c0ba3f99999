"""Pasting a table into the page as a reader does, and reading the verdicts off it."""

from __future__ import annotations

from werkzeug.test import TestResponse

from support.forms import forms_of, send
from support.pages import Element, Page, PageClient

Verdicts = dict[str, dict[str, str]]
"""By model, "" where there is only one, and by number: the verdict."""


def paste(client: PageClient, text: str, **fields: str) -> TestResponse:
    """Send the form of the empty page with a text in it; the answer where it leads to."""
    (form,) = forms_of(client, "/audit")
    answer = send(client, form, {"table": text, **fields})
    return client.get(answer.location) if answer.status_code == 303 else answer


def audited(response: TestResponse) -> Page:
    assert response.status_code == 200, response.status
    return Page(response.text)


def verdicts_on(page: Page) -> Verdicts:
    """What the page says of each number of each model."""
    found: Verdicts = {}
    for section in page.all("section"):
        if section.attributes.get("aria-labelledby", "").startswith("model-"):
            heading = section.inside("h2")[0].text
            name = "" if heading == "Number by number" else heading
            found[name] = {
                number.inside("th")[0].text: _verdict(number) for number in numbers_in(section)
            }
    return found


def numbers_in(section: Element) -> list[Element]:
    """The rows of the first table: one for each number."""
    return section.inside("tbody")[0].inside("tr")


def _verdict(row: Element) -> str:
    return row.inside("td")[0].text.lstrip("✓▲✕ ")


def contested(verdicts: Verdicts) -> Verdicts:
    """Only what is not consistent, without the models that have nothing of it."""
    left = {
        model: {name: verdict for name, verdict in of.items() if verdict != "consistent"}
        for model, of in verdicts.items()
    }
    return {model: of for model, of in left.items() if of}
