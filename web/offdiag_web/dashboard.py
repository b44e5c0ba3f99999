"""The application object: Flask, patient with a database that ends a connection."""

from __future__ import annotations

from flask import Flask, request
from flask.typing import ResponseReturnValue

from offdiag.store.failures import after_failures

_READING = frozenset({"GET", "HEAD"})


class Dashboard(Flask):
    """What only reads is asked for again where the server ended its transaction."""

    def dispatch_request(self) -> ResponseReturnValue:
        """The answer of the view, which for reading may be called up to four times."""
        if request.method in _READING:
            return after_failures(super().dispatch_request)
        return super().dispatch_request()
