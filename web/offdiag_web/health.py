"""Health checks: whether the process responds, and whether it is ready with its database."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from offdiag.errors import OffdiagError, SchemaMismatch
from offdiag.store.schema import require_schema
from offdiag_web.app.context import current_registry, public
from offdiag_web.app.errors import RETRY_AFTER_S
from offdiag_web.shutdown import is_draining

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
@public()
def healthz() -> Response:
    """Respond without using the database."""
    response = jsonify(status="ok")
    response.cache_control.no_store = True
    return response


@blueprint.get("/readyz")
@public()
def readyz() -> Response:
    """200 while requests can be handled, otherwise 503 with the reason, for load balancers.

    Everyone may call it, so the reason names neither files nor servers.
    """
    if is_draining():
        response = jsonify(status="not ready", code="draining", reason="The server is stopping.")
        response.status_code = 503
        response.retry_after = RETRY_AFTER_S
        response.cache_control.no_store = True
        return response
    try:
        require_schema(current_registry().database)
    except OffdiagError as error:
        is_schema = isinstance(error, SchemaMismatch)
        response = jsonify(
            status="not ready",
            code=error.code,
            reason="The database has another schema than this program needs."
            if is_schema
            else "The database does not respond.",
        )
        response.status_code = 503
        response.retry_after = RETRY_AFTER_S
    else:
        response = jsonify(status="ready")
    response.cache_control.no_store = True
    return response
