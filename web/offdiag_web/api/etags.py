"""Which content somebody has seen: ETags on answers, and what they guard."""

from __future__ import annotations

import hashlib

from flask import Response, request
from pydantic import BaseModel

from offdiag.errors import Stale


def conditional(response: Response) -> Response:
    """The answer with an ETag of its content, or 304 where the asker has that content."""
    if response.status_code != 200 or response.is_streamed:
        return response
    response.set_etag(_digest(response.get_data()))
    response.cache_control.private = True
    response.cache_control.no_cache = True
    response.make_conditional(request)
    return response


def require_match(current: BaseModel) -> bool:
    """Refuse a change whose `If-Match` names another content than the current one.

    Says whether there is such a header; without it the last word wins. Raises `Stale`.
    """
    if not request.if_match:
        return False
    etag = _digest(current.model_dump_json().encode())
    if not request.if_match.contains(etag):
        raise Stale(
            f'this was changed since you read it; its ETag is now "{etag}".',
            field="If-Match",
            hint="Read it again, then decide. Nothing was changed.",
        )
    return True


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
