"""Reading answers of the dashboard as a browser would: elements, attributes, tables."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

_VOID = frozenset({"meta", "link", "input", "br", "img", "source"})
_SVG_LEAVES = frozenset({"path", "circle", "rect"})


@dataclass
class Element:
    """A start tag with its attributes and all text inside."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    """The text that stands in no element further inside."""

    @property
    def text(self) -> str:
        """All text inside, white space collapsed."""
        return " ".join("".join(self.parts).split())

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    def inside(self, tag: str) -> list[Element]:
        """All elements of a kind below this one."""
        found = []
        for child in self.children:
            if child.tag == tag:
                found.append(child)
            found += child.inside(tag)
        return found


class Page(HTMLParser):
    """A parsed page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parent = self._open[-1] if self._open else None
        element = Element(tag, {name: value or "" for name, value in attrs}, parent)
        if parent is not None:
            parent.children.append(element)
        self.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1].tag == tag:
            self._open.pop()
        else:
            raise AssertionError(f"</{tag}> closes <{self._open[-1].tag if self._open else ''}>")

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.parts.append(data)
        if self._open:
            self._open[-1].own.append(data)

    def all(self, tag: str, css_class: str | None = None) -> list[Element]:
        """All elements of a kind, narrowed to a class."""
        return [
            element
            for element in self.elements
            if element.tag == tag and (css_class is None or css_class in element.classes)
        ]

    def one(self, tag: str, css_class: str | None = None) -> Element:
        """The only element of a kind."""
        found = self.all(tag, css_class)
        assert len(found) == 1, f"{len(found)} × <{tag} {css_class or ''}>"
        return found[0]

    def link(self, text: str) -> str:
        """Where the first link of a text leads."""
        return next(a.attributes["href"] for a in self.all("a") if a.text == text)

    def table(self, css_class: str) -> list[list[str]]:
        """Texts of the body of the first table of a class, row by row."""
        body = self.all("table", css_class)[0].inside("tbody")[0]
        return [
            [cell.text for cell in row.children if cell.tag in {"td", "th"}]
            for row in body.inside("tr")
        ]


class PageClient(FlaskClient):
    """A client that reads what it is answered. Whatever is read was answered with 200."""

    def page(self, path: str, status: int = 200, **options: Any) -> Page:
        """A page, parsed; options are those of a request."""
        answer = self.get(path, **options)
        assert answer.status_code == status, answer.text[-400:]
        return Page(answer.text)

    def json(self, path: str) -> Any:
        """A JSON document."""
        return self._answer(path).get_json()

    def rows(self, path: str) -> list[list[str]]:
        """The lines of a CSV file, with its headers."""
        return list(csv.reader(self._file(path)))

    def records(self, path: str) -> list[dict[str, str]]:
        """The lines of a CSV file by its headers."""
        return list(csv.DictReader(self._file(path)))

    def _file(self, path: str) -> io.StringIO:
        answer = self._answer(path)
        assert answer.headers["Content-Disposition"].startswith("attachment")
        return io.StringIO(answer.text, newline="")

    def _answer(self, path: str) -> TestResponse:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text[-400:]
        return answer


def client_for(app: Flask) -> PageClient:
    """A client of an application, with cookies of its own."""
    return PageClient(app, app.response_class)
