"""Whether the process answers; nothing is asked of the database."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    response = jsonify(status="ok")
    response.cache_control.no_store = True
    return response
