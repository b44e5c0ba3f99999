"""The header `Idempotency-Key`: a request that is sent again acts once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from flask import Response, request

from offdiag.errors import InvalidInput
from offdiag.services.repeating import Answer, AnswerKey, answer_once
from offdiag_web.api.author import key_owner
from offdiag_web.api.media_types import JSON
from offdiag_web.app.context import current_registry

HEADER = "Idempotency-Key"
_LONGEST_KEY = 200


def answered_once(act: Callable[[], Response]) -> Response:
    """What `act` answers, or what it answered when this key first came with this request.

    Raises `InvalidInput` for an unusable key, and `Conflict` for one that came with another
    request.
    """
    key = AnswerKey(key_owner(), _key(), _digest())

    def acted() -> Answer:
        response = act()
        return Answer(response.status_code, response.get_data(as_text=True))

    answer = answer_once(current_registry().database, key, acted)
    return Response(answer.body, status=answer.status, mimetype=JSON)


def _key() -> str:
    key = request.headers[HEADER]
    if not 1 <= len(key) <= _LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise InvalidInput(
            "the key cannot be used.",
            field=HEADER,
            hint=f"Take 1 to {_LONGEST_KEY} printable ASCII characters, such as a UUID.",
        )
    return key


def _digest() -> str:
    """Of everything that is asked."""
    asked = f"{request.method} {request.full_path}\n".encode()
    return hashlib.sha256(asked + request.get_data()).hexdigest()
