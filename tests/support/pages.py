"""Reading answers of the dashboard as a browser would: elements, attributes, tables."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from types import MappingProxyType
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

_VOID = frozenset({"meta", "link", "input", "br", "img", "source"})
_RAW = frozenset({"script", "style"})
"""What stands in these is not markup."""

_TOKEN = re.compile(
    r"""(?P<text>[^<]+)|</(?P<end>[a-z][\w-]*)\s*>
    |<(?P<name>[a-z][\w-]*)(?P<attributes>(?:[^<>"'/]|"[^"]*"|'[^']*'|/(?!>))*)(?P<alone>/?)>
    |<!--.*?-->|<!doctype[^<>]*>""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_NAME = re.compile(r"\{(\w+)\}")
_ATTRIBUTE = re.compile(r"""([^\s=/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+)))?""")


@dataclass
class Element:
    """A start tag with its attributes and all text inside."""

    tag: str
    written: str = ""
    """Its attributes, as they are in the tag."""
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    """The text that stands in no element further inside."""
    within: tuple[list[str], int, int] = ([], 0, 0)
    """All texts of the page, and between which of them it stands."""

    @cached_property
    def attributes(self) -> dict[str, str]:
        return {
            name.lower(): unescape(double or single or bare)
            for name, double, single, bare in _ATTRIBUTE.findall(self.written)
        }

    def __getitem__(self, attribute: str) -> str:
        return self.attributes[attribute]

    @property
    def parts(self) -> list[str]:
        """All texts inside, between their tags."""
        texts, begin, end = self.within
        return texts[begin:end]

    @property
    def text(self) -> str:
        """All text inside, white space collapsed."""
        return " ".join("".join(self.parts).split())

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    def inside(self, tag: str, css_class: str | None = None, **attributes: str) -> list[Element]:
        """All elements of a kind below this one, as `Page.all` narrows them."""
        found = []
        for child in self.children:
            if child.is_a(tag, css_class, attributes):
                found.append(child)
            found += child.inside(tag, css_class, **attributes)
        return found

    def fields(self, **attributes: str) -> dict[str, str]:
        """What the named inputs inside hold."""
        inputs = [each for each in self.inside("input", **attributes) if "name" in each.attributes]
        return {each["name"]: each.attributes.get("value", "") for each in inputs}

    def is_a(self, tag: str, css_class: str | None, attributes: Mapping[str, str]) -> bool:
        """Whether it has a tag, a class and attributes, where `aria_label` is `aria-label`."""
        return (
            self.tag == tag
            and (css_class is None or css_class in self.classes)
            and all(self.attributes.get(k.replace("_", "-")) == v for k, v in attributes.items())
        )


class Page:
    """A parsed page.

    It has to be sound: a `<` that begins no tag, an attribute whose quotes do not end and a tag
    that closes another element are errors. For that, and as pages are parsed by the thousand, no
    lenient parser reads it.
    """

    def __init__(self, text: str) -> None:
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self._texts: list[str] = []
        at = 0
        while at < len(text):
            token = _TOKEN.match(text, at)
            assert token is not None, f"no tag: {text[at : at + 80]!r}"
            at = token.end()
            said, end, name, attributes, alone = token.groups()
            if said:
                self._read_text(unescape(said))
            elif end:
                self._close(end.lower())
            elif name:
                tag = name.lower()
                self._begin(tag, attributes)
                if alone and tag not in _VOID:
                    self._close(tag)
                elif tag in _RAW:
                    until = text.index(f"</{tag}>", at)
                    self._read_text(text[at:until])
                    at = until
        assert not self._open, f"<{self._open[-1].tag}> is not closed"

    def _begin(self, tag: str, attributes: str) -> None:
        parent = self._open[-1] if self._open else None
        element = Element(tag, attributes, parent)
        if parent is not None:
            parent.children.append(element)
        self.elements.append(element)
        if tag not in _VOID:
            element.within = self._texts, len(self._texts), -1
            self._open.append(element)

    def _close(self, tag: str) -> None:
        if not self._open or self._open[-1].tag != tag:
            raise AssertionError(f"</{tag}> closes <{self._open[-1].tag if self._open else ''}>")
        closed = self._open.pop()
        closed.within = self._texts, closed.within[1], len(self._texts)

    def _read_text(self, text: str) -> None:
        self._texts.append(text)
        if self._open:
            self._open[-1].own.append(text)

    def all(self, tag: str, css_class: str | None = None, **attributes: str) -> list[Element]:
        """All elements of a kind, narrowed to a class and to values of attributes."""
        return [each for each in self.elements if each.is_a(tag, css_class, attributes)]

    def one(self, tag: str, css_class: str | None = None, **attributes: str) -> Element:
        """The only element of a kind."""
        found = self.all(tag, css_class, **attributes)
        assert len(found) == 1, f"{len(found)} × <{tag} {css_class or ''}> {attributes or ''}"
        return found[0]

    def value(self, name: str) -> str:
        """What the first field of a name holds."""
        return self.all("input", name=name)[0]["value"]

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
    """A client that reads what it is answered. Whatever is read was answered with 200.

    Of a registry that tests share, it knows things by name: "/runs/{plain}" asks for that run.
    """

    names: Mapping[str, str] = MappingProxyType({})

    def open(self, *args: Any, **options: Any) -> TestResponse:
        """Send a request."""
        if self.names and args and isinstance(args[0], str):
            path = _NAME.sub(lambda found: self.names.get(found[1], found[0]), args[0])
            args = (path, *args[1:])
        return super().open(*args, **options)

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


def client_for(app: Flask, **names: str) -> PageClient:
    """A client of an application, with cookies of its own."""
    client = PageClient(app, app.response_class)
    client.names = names
    return client
