"""The decorator that makes a handler an API route: validated, limited and described in OpenAPI.

A handler takes the variables of its path and, by these names, `query` and `json`: models of
`offdiag.records`. It returns a model, a model with a status and headers, or a whole response.
Operations share ETags, which identify and guard the content a client has seen, and the header
`Idempotency-Key`, with which a request that is sent again acts only once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, get_args, get_type_hints

from flask import Blueprint, Response, request
from pydantic import BaseModel
from spectree import Response as Answers
from spectree import SpecTree

from offdiag.domain.runs import require_name
from offdiag.errors import InvalidInput, Stale
from offdiag.records.base import Refusal
from offdiag.services.idempotency import ResponseKey, StoredResult, respond_once
from offdiag.version import offdiag_version
from offdiag_web.api.requests import JSON, StrictRequests
from offdiag_web.app.context import current_registry, signed_in_user
from offdiag_web.app.dispatch import PREFIX


def conditional(response: Response) -> Response:
    """The response with an ETag of its content, or 304 if the client has that content.

    Raises `Stale` if the client requires other content.
    """
    if response.status_code != 200 or response.is_streamed:
        return response
    response.set_etag(_content_digest(response.get_data()))
    response.cache_control.private = True
    response.cache_control.no_cache = True
    response.make_conditional(request)
    if response.status_code == 412:
        raise _stale(response.get_etag()[0], "Read it without If-Match.")
    return response


def require_match(current: BaseModel) -> bool:
    """Refuse a change whose `If-Match` does not match the current content.

    Returns whether there is such a header; without it the last write wins. Raises `Stale`.
    """
    if not request.if_match:
        return False
    etag = _content_digest(current.model_dump_json().encode())
    if not request.if_match.contains(etag):
        raise _stale(etag, "Read it again, then retry. Nothing was changed.")
    return True


def _stale(etag: str | None, hint: str) -> Stale:
    why = f'this was changed since you read it; its ETag is now "{etag}".'
    return Stale(why, field="If-Match", hint=hint)


def _content_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def author(stated: str | None = None) -> str | None:
    """The author of a change: the signed-in user, else the name in the request.

    Where users sign in, no one can use the name of another user.
    """
    who = signed_in_user()
    if who.is_signed_in:
        return who.name
    return None if stated is None else require_name(stated, "author")


def key_owner() -> str:
    """The owner of an `Idempotency-Key`; the same for all callers without sign-in."""
    who = signed_in_user()
    return who.name if who.is_signed_in else ""


IDEMPOTENCY_HEADER = "Idempotency-Key"
_LONGEST_KEY = 200


def responded_once(act: Callable[[], Response]) -> Response:
    """The result of `act`, or the stored one if this key was used with the same request before.

    Raises `InvalidInput` for an unusable key, and `Conflict` for one that came with another
    request.
    """
    key = ResponseKey(key_owner(), _key(), _request_digest())

    def acted() -> StoredResult:
        response = act()
        return StoredResult(response.status_code, response.get_data(as_text=True))

    answer = respond_once(current_registry().database, key, acted)
    return Response(answer.body, status=answer.status, mimetype=JSON)


def _key() -> str:
    key = request.headers[IDEMPOTENCY_HEADER]
    if not 1 <= len(key) <= _LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise InvalidInput(
            "the key cannot be used.",
            field=IDEMPOTENCY_HEADER,
            hint=f"Take 1 to {_LONGEST_KEY} printable ASCII characters, such as a UUID.",
        )
    return key


def _request_digest() -> str:
    """Digest of the method, the address and the body."""
    asked = f"{request.method} {request.full_path}\n".encode()
    return hashlib.sha256(asked + request.get_data()).hexdigest()


_KIB = 1024
USUAL_BODY = 1024 * _KIB
"""Maximum size of a body in bytes, unless its route says otherwise."""

Handler = TypeVar("Handler", bound=Callable[..., object])
Model = type[BaseModel]


@dataclass(frozen=True, slots=True)
class Extras:
    """Properties of a route other than its parameters and models.

    `sent` and `files` are media types other than JSON, of the request and of its 200 response.
    `is_guarded` says that `If-Match` is honoured, `is_repeatable` that `Idempotency-Key` is.
    """

    sent: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    is_guarded: bool = False
    is_repeatable: bool = False
    has_etag: bool = False


EXTRAS: dict[str, Extras] = {}
"""By operation id."""
FORMER_PATHS: set[str] = set()
"""Old paths that still lead to an operation but are not in the description."""


def _tell(
    _request: Any, _response: Any, error: Exception | None, _instance: Any, _adapter: Any
) -> None:
    """Report a response that does not fit its own model as a defect."""
    if error is not None:
        raise error


tree = SpecTree(
    backend=StrictRequests,
    after=_tell,
    validation_error_model=Refusal,
    naming_strategy=lambda model: model.__name__,
    nested_naming_strategy=lambda _parent, child: child,
    mode="strict",
    title="offdiag",
    description="An evaluation registry for classifiers.",
    version=offdiag_version(),
)
"""All operations of the API."""


def resource(name: str) -> Blueprint:
    """A blueprint for one resource."""
    return Blueprint(f"api_{name}", __name__, url_prefix=PREFIX)


def operation(
    blueprint: Blueprint,
    method: str,
    path: str,
    *,
    statuses: Sequence[int] = (200,),
    sent: Sequence[str] = (),
    files: Sequence[str] = (),
    most_bytes: int = USUAL_BODY,
    is_guarded: bool = False,
    is_repeatable: bool = False,
    former_path: str | None = None,
) -> Callable[[Handler], Handler]:
    """Make a handler a route; its name is the operation id, its docstring the description.

    What the handler returns, alone or before a status, is the model of successful responses, which
    have one of `statuses`. Errors are described for all routes alike. `sent` and `files` are media
    types of bodies other than JSON; the handler reads such a body from the request itself.
    `most_bytes` limits any body. `is_repeatable` is for writes that act again each time they are
    sent. Responses to GET carry an ETag of their content. A `former_path` leads to the same
    operation and is not described; it is removed in the next release.
    """

    def decorate(handler: Handler) -> Handler:
        name = handler.__name__
        if name in EXTRAS:
            raise ValueError(f"Two operations are called {name}.")
        has_etag = method == "GET"
        EXTRAS[name] = Extras(tuple(sent), tuple(files), is_guarded, is_repeatable, has_etag)
        codes = {f"HTTP_{status}": _returned(handler) for status in statuses}
        checked = tree.validate(
            resp=Answers(**codes),
            tags=[blueprint.name.removeprefix("api_")],
            operation_id=name,
        )(handler)

        @wraps(checked)
        def answered(**parts: object) -> Response:
            request.max_content_length = most_bytes
            if is_repeatable and IDEMPOTENCY_HEADER in request.headers:
                return responded_once(lambda: checked(**parts))
            response: Response = checked(**parts)
            return conditional(response) if has_etag else response

        for rule in filter(None, (path, former_path)):
            blueprint.add_url_rule(rule, endpoint=name, view_func=answered, methods=[method])
        if former_path is not None:
            FORMER_PATHS.add(_PARAMETER.sub(r"{\1}", PREFIX + former_path))
        return handler

    return decorate


def _returned(handler: Handler) -> Model | None:
    """The model that a handler returns; None for a whole response."""
    returned = get_type_hints(handler)["return"]
    first = next(iter(get_args(returned)), returned)
    return first if issubclass(first, BaseModel) else None


_PARAMETER = re.compile(r"<\w+:(\w+)>")
