"""Stored pictures as responses: nothing in them can act, whatever was uploaded."""

from __future__ import annotations

from typing import cast

from flask import Request, Response

from offdiag.store.samples import Picture

NOTHING_ACTS = "default-src 'none'; sandbox"
"""Even if a browser took a picture for a page, it would have no origin and no scripts."""


def picture_response(picture: Picture, request: Request) -> Response:
    """A picture that offdiag encoded; the address names its digest, so it is fetched once."""
    response = Response(picture.data, mimetype=picture.media_type)
    response.headers["Content-Security-Policy"] = NOTHING_ACTS
    response.headers["Content-Disposition"] = "inline"
    response.set_etag(picture.digest)
    response.cache_control.private = True
    response.cache_control.max_age = 86_400
    return cast(Response, response.make_conditional(request))
