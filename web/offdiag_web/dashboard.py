"""The application object: Flask, patient with a database that ends a connection."""

from __future__ import annotations

from pathlib import Path

from flask import Flask, request
from flask.typing import ResponseReturnValue
from jinja2 import BaseLoader, FileSystemLoader
from werkzeug.utils import cached_property

from offdiag.store.failures import after_failures

_TEMPLATES = [Path(__file__).parent / part for part in ("pages", "components")]
"""A template of a page is named after its folder: `compare/pair.html`."""
_READING = frozenset({"GET", "HEAD"})


class Dashboard(Flask):
    """What only reads is asked for again where the server ended its transaction."""

    @cached_property
    def jinja_loader(self) -> BaseLoader:
        """Finds templates beside the code that uses them."""
        return FileSystemLoader(_TEMPLATES)

    def dispatch_request(self) -> ResponseReturnValue:
        """The answer of the view, which for reading may be called up to four times."""
        if request.method in _READING:
            return after_failures(super().dispatch_request)
        return super().dispatch_request()
