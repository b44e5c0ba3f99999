"""Text compressed on its way to a browser, but for what another site asked it to fetch.

A page that holds a secret beside what an address says would tell the secret by its compressed
length (BREACH): a foreign site guesses in the address, and somebody on the wire counts bytes. So
what a foreign site causes is sent as it is, and tokens of forms are masked anew in each answer.
"""

from __future__ import annotations

import gzip
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NoBase64
from collections.abc import Callable
from typing import cast

from flask import Flask, Response, g, request
from flask_wtf.csrf import CSRFProtect, generate_csrf

FEWEST_BYTES = 1_000
_LEVEL = 5
_TEXTS = frozenset(
    {
        *("text/html", "text/css", "text/csv", "text/javascript", "text/markdown"),
        *("text/plain", "application/json", "image/svg+xml"),
    }
)
_OURS = frozenset({"same-origin", "none"})


def compress_answers(app: Flask) -> None:
    """Send texts compressed to browsers that can read them, where our own pages ask."""

    @app.after_request
    def compress(response: Response) -> Response:
        if not _is_worth_it(response):
            return response
        response.vary.update(("Accept-Encoding", "Sec-Fetch-Site"))
        from_ours = request.headers.get("Sec-Fetch-Site", "none") in _OURS
        if from_ours and request.accept_encodings.quality("gzip") > 0:
            content = gzip.compress(response.get_data(), _LEVEL, mtime=0)
            response.set_data(content)
            response.content_encoding = "gzip"
        return response


def _is_worth_it(response: Response) -> bool:
    return (
        request.method == "GET"
        and response.status_code == 200
        and response.mimetype in _TEXTS
        and not response.is_streamed
        and not response.direct_passthrough
        and "Content-Encoding" not in response.headers
        # What has a digest is sent byte by byte.
        and response.get_etag()[0] is None
        and (response.content_length or 0) >= FEWEST_BYTES
    )


class MaskedTokens(CSRFProtect):  # type: ignore[misc]  # the library ships no types
    """Tokens of forms that look different in every answer."""

    def init_app(self, app: Flask) -> None:
        super().init_app(app)

        # After the one of the library, whose token would be the same in every answer.
        @app.context_processor
        def masked_token() -> dict[str, Callable[[], str]]:
            return {"csrf_token": _token_of_answer}

    def _get_csrf_token(self) -> str | None:
        sent = super()._get_csrf_token()
        return None if sent is None else unmasked(sent)


def _token_of_answer() -> str:
    """The same mask for all forms of a page, which are many where lists are long."""
    if "masked_token" not in g:
        g.masked_token = masked(generate_csrf())
    return cast(str, g.masked_token)


def masked(token: str) -> str:
    """A token under a mask of random bytes that precedes it."""
    plain = token.encode()
    mask = secrets.token_bytes(len(plain))
    return urlsafe_b64encode(mask + _under(mask, plain)).decode()


def unmasked(text: str) -> str:
    """The token under its mask; "" for what is none."""
    try:
        both = urlsafe_b64decode(text.encode())
        half = len(both) // 2
        return _under(both[:half], both[half:]).decode()
    except (NoBase64, UnicodeError, ValueError):
        return ""


def _under(mask: bytes, plain: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(mask, plain, strict=True))
