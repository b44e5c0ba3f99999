"""The OpenAPI description, generated from the routes themselves."""

from __future__ import annotations

import copy
from http import HTTPStatus
from typing import Any

from flask import Response, current_app, jsonify

from offdiag_web.api.operations import EXTRAS, FORMER_PATHS, Extras, resource, tree
from offdiag_web.api.requests import JSON
from offdiag_web.app.dispatch import lazy_views

blueprint = resource("description")

_KEY = "offdiag api description"
_REFUSED_ALWAYS = (400, 401, 403, 404, 409, 422, 429, 500, 503)
_REFUSED_CHANGES = (412, 507)
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "A token created with `offdiag token create` or on the page Tokens.",
}
_ETAG = {"schema": {"type": "string"}, "description": "Identifies this content."}


@blueprint.get("/openapi.json")
def description() -> Response:
    """The description of every operation, as OpenAPI 3.1."""
    known = current_app.extensions
    if _KEY not in known:
        known[_KEY] = describe()
    return jsonify(known[_KEY])


def describe() -> dict[str, Any]:
    """The description of the running application."""
    lazy_views().load_all(__package__)
    document: dict[str, Any] = copy.deepcopy(tree.spec)
    for path in FORMER_PATHS:
        del document["paths"][path]
    for operations in document["paths"].values():
        for method, operation in operations.items():
            _complete(operation, method, EXTRAS[operation["operationId"]])
            _mark_optional_body(operation, method, document["components"]["schemas"])
    document["components"]["securitySchemes"] = {"token": _TOKEN}
    # No sign-in is needed where only this machine can reach the registry.
    document["security"] = [{}, {"token": []}]
    document["components"]["schemas"] = dict(sorted(document["components"]["schemas"].items()))
    document["paths"] = dict(sorted(document["paths"].items()))
    return document


def _mark_optional_body(operation: dict[str, Any], method: str, schemas: dict[str, Any]) -> None:
    """Say that the body may be left out where `may_be_left_out` holds."""
    sent = operation.get("requestBody", {}).get("content", {}).get(JSON)
    if method == "post" and sent is not None:
        schema = schemas[sent["schema"]["$ref"].rpartition("/")[2]]
        operation["requestBody"]["required"] = "required" in schema


def _complete(operation: dict[str, Any], method: str, extras: Extras) -> None:
    """Add what the models do not contain: errors, headers, other media types."""
    answers, parameters = operation["responses"], operation["parameters"]
    statuses = [*_REFUSED_ALWAYS]
    if extras.sent:
        body = operation.setdefault("requestBody", {"content": {}, "required": True})
        body["content"] |= dict.fromkeys(extras.sent, _BINARY)
    if "requestBody" in operation:
        statuses += [413, 415]
    if method != "get":
        statuses += _REFUSED_CHANGES
    if extras.files:
        answers["200"]["content"] = dict.fromkeys(extras.files, _BINARY)
    if extras.has_etag:
        answers["200"].setdefault("headers", {})["ETag"] = _ETAG
        answers["304"] = {"description": "Unchanged since that ETag."}
        parameters.append(_header("If-None-Match", "ETag of the content that the client has."))
    if extras.is_guarded:
        parameters.append(_header("If-Match", "ETag of the content to be changed."))
    if extras.is_repeatable:
        parameters.append(
            _header(
                "Idempotency-Key",
                "A key that you choose. For a day, repeating the request with the same key has no "
                "further effect and returns the first response.",
            )
        )
    for status in sorted(set(statuses)):
        answers.setdefault(str(status), _refusal(status))
    operation["responses"] = dict(sorted(answers.items()))


def _header(name: str, text: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "schema": {"type": "string"},
        "description": text,
    }


def _refusal(status: int) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}},
    }
    if status in {429, 503}:
        answer["headers"] = {
            "Retry-After": {
                "schema": {"type": "integer"},
                "description": "Seconds after which to try again.",
            }
        }
    return answer
