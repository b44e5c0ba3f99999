"""What holds for every page: it is small, and names in it are text and nothing else."""

from __future__ import annotations

import csv
import gzip
import io
import re

from support.pages import Page

KIB = 1024
MOST_BYTES, MOST_COMPRESSED, MOST_NODES = 150 * KIB, 20 * KIB, 3_000
TAGS = frozenset(
    {
        *("html", "head", "meta", "title", "link", "script", "body", "header", "nav", "main"),
        *("footer", "article", "section", "div", "h1", "h2", "h3", "p", "pre", "code", "a"),
        *("span", "strong", "small", "sup", "br", "del", "kbd", "time", "abbr", "ul", "ol", "li"),
        *("dl", "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
        *("form", "fieldset", "legend", "label", "input", "output", "select", "option"),
        *("datalist", "textarea", "button", "dialog", "details", "summary"),
        *(
            "figure",
            "figcaption",
            "img",
            "picture",
            "source",
            "svg",
            "g",
            "path",
            "rect",
            "circle",
            "text",
        ),
    }
)
"""What templates use. Escaped text makes no elements, so no others may be there."""
_NO_NUMBER = re.compile(rb"\bnan\b|\binf\b|\bNone\b(?![.:]| (?:is|yet|were) )")
"""Sentences may begin with None."""


def small_page(body: bytes) -> Page:
    """A page that is loaded and drawn fast, and says in words where a number is not there."""
    page = Page(body.decode())
    assert not _NO_NUMBER.search(body)
    assert len(body) <= MOST_BYTES, f"{len(body)} bytes"
    assert len(gzip.compress(body)) <= MOST_COMPRESSED
    assert len(page.elements) <= MOST_NODES, f"{len(page.elements)} nodes"
    return page


def assert_harmless(page: Page) -> None:
    """No name, wherever it was typed, has become more than text."""
    others = {element.tag for element in page.elements} - TAGS
    assert not others, others
    for element in page.elements:
        attributes = element.attributes
        assert not [name for name in attributes if name.startswith(("on", "style"))]
        assert not attributes.get("href", "").startswith("javascript")
        assert attributes.get("action", "/").startswith(("/", "#"))
        if element.tag == "script":
            assert attributes["src"].startswith("/assets/")
            assert element.text == ""
        if element.tag == "img":
            assert attributes["src"].startswith(("/assets/", "/runs/", "/datasets/", "data:image"))


def cells_without_formulas(text: str) -> list[str]:
    """The cells of a CSV file, none of which a spreadsheet would compute."""
    cells = [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]
    for cell in cells:
        assert not cell.startswith(("=", "+", "@")), cell
        assert not cell.startswith("-") or float(cell), cell
    return cells
