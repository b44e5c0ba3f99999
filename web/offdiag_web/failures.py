"""Errors as pages, in one table from kind to status."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Flask, Response, jsonify, make_response, render_template, request
from werkzeug.exceptions import HTTPException, InternalServerError

from offdiag.errors import (
    Conflict,
    DatabaseUnavailable,
    EvaluationFailed,
    EvaluationPending,
    InvalidInput,
    NotFound,
    OffdiagError,
    SchemaMismatch,
    StorageFull,
)

STATUS_OF: dict[type[OffdiagError], int] = {
    InvalidInput: 400,
    NotFound: 404,
    Conflict: 409,
    EvaluationFailed: 409,
    DatabaseUnavailable: 503,
    SchemaMismatch: 503,
    EvaluationPending: 503,
    StorageFull: 507,
}
RETRY_AFTER_S = 5

_TITLES = {
    400: "This request cannot be understood",
    403: "This request is refused",
    404: "There is no such page",
    405: "This page cannot be used that way",
    409: "This contradicts what is stored",
    413: "This request is too large",
    500: "Something went wrong",
    503: "The registry is not available",
    507: "The registry has no room left",
}
_HINTS = {
    404: "Check the address, or start from the list of runs.",
    405: "Open the page by its link instead.",
    500: "The error is in the log of the server. Other pages still work.",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, in the parts every form of answer shows."""

    status: int
    code: str
    message: str
    field: str | None = None
    hint: str | None = None

    @property
    def title(self) -> str:
        return _TITLES.get(self.status, "This request failed")


def register(app: Flask) -> None:
    """Answer every error in the form the request asked for."""

    app.register_error_handler(OffdiagError, domain_answer)

    app.register_error_handler(HTTPException, http_answer)

    @app.errorhandler(500)
    def for_defect(error: InternalServerError) -> Response:
        original = error.original_exception
        if isinstance(original, OffdiagError):
            return domain_answer(original)
        return _answer(_http_failure(error))


def domain_answer(error: OffdiagError) -> Response:
    """The answer to a request that ended with an error of the domain."""
    return _answer(_domain_failure(error))


def http_answer(error: HTTPException) -> Response:
    """The answer to a request that ended with a status."""
    response = _answer(_http_failure(error))
    for name, value in error.get_headers():
        if name not in {"Content-Type", "Content-Length"}:
            response.headers[name] = value
    return response


def status_of(error: OffdiagError) -> int:
    """The status of the answer to a request that ended with an error of the domain."""
    return next((STATUS_OF[kind] for kind in type(error).mro() if kind in STATUS_OF), 500)


def _domain_failure(error: OffdiagError) -> Failure:
    status = status_of(error)
    return Failure(status, error.code, _sentence(error.message), error.field, error.hint)


def _http_failure(error: HTTPException) -> Failure:
    status = error.code or 500
    code = (error.name or "error").lower().replace(" ", "_")
    hint = _HINTS.get(status)
    if status == 413 and request.max_content_length:
        hint = f"At most {request.max_content_length // 1024} KiB can be sent to this page."
    return Failure(status, code, error.description or error.name, hint=hint)


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]


def _answer(failure: Failure) -> Response:
    response = _body(failure)
    response.status_code = failure.status
    response.cache_control.no_store = True
    if failure.status == 503:
        response.retry_after = RETRY_AFTER_S
    return response


def _body(failure: Failure) -> Response:
    if request.path.endswith(".json"):
        parts = {
            "code": failure.code,
            "message": failure.message,
            "field": failure.field,
            "hint": failure.hint,
        }
        return jsonify(error=parts)
    if request.path.endswith(".csv"):
        text = " ".join(filter(None, (failure.message, failure.hint)))
        return Response(f"{text}\n", mimetype="text/plain")
    return make_response(render_template("failure.html", failure=failure))
