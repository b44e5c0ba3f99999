"""Tokens of the pages of long lists, which only this server can write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from flask import current_app, request
from itsdangerous import BadData, URLSafeSerializer

from offdiag.errors import Malformed

_NOT_PART_OF_THE_QUESTION = frozenset({"page_token", "limit"})


def write_token(place: Sequence[object] | None) -> str | None:
    """The token of the page that begins after a place: JSON values; None for no page."""
    return None if place is None else str(_writer().dumps(list(place)))


def read_token(token: str | None) -> list[Any] | None:
    """The place in a token that was written for the same path and query.

    Raises `Malformed` for any other token.
    """
    if token is None:
        return None
    try:
        return cast("list[Any]", _writer().loads(token))
    except BadData:
        raise Malformed(
            "this page token does not belong to this list.",
            field="page_token",
            hint="Send the `next_page_token` of an answer with the query it answered.",
        ) from None


def _writer() -> URLSafeSerializer:
    """Tokens are signed, so that what they hold needs no further check."""
    asked = sorted(
        (name, value)
        for name, value in request.args.items(multi=True)
        if name not in _NOT_PART_OF_THE_QUESTION
    )
    key = current_app.secret_key
    if key is None:
        raise RuntimeError("The application has no key to sign tokens with.")
    return URLSafeSerializer(key, salt=f"{request.path} {asked!r}")
