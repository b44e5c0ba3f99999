"""How a handler becomes a route of the interface: checked, bounded, described.

A handler takes the parts of its path and, by these names, `query` and `json`: models of
`offdiag.records`. It returns a model, or a model with a status and headers, or a whole response.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from flask import Blueprint, Response, request
from pydantic import BaseModel
from spectree import Response as Answers
from spectree import SpecTree

from offdiag.records.base import Refusal
from offdiag.version import offdiag_version
from offdiag_web.api import etags, idempotency
from offdiag_web.api.requests import StrictRequests
from offdiag_web.app.paths import PREFIX

_KIB = 1024
USUAL_BODY = 1024 * _KIB
"""Bytes a body may have unless its route says otherwise."""

Handler = TypeVar("Handler", bound=Callable[..., object])
Model = type[BaseModel]


@dataclass(frozen=True, slots=True)
class Extras:
    """What is true of a route beside its parameters and models.

    `sent` and `files` are media types that are not JSON, of the request and of its 200 answer.
    `is_guarded` says that `If-Match` is honoured, `is_repeatable` that `Idempotency-Key` is.
    """

    sent: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    is_guarded: bool = False
    is_repeatable: bool = False
    has_etag: bool = False


EXTRAS: dict[str, Extras] = {}
"""By operation id."""


def _tell(
    _request: Any, _response: Any, error: Exception | None, _instance: Any, _adapter: Any
) -> None:
    """An answer that does not fit its own model is a defect, and answered as one."""
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
"""Every operation of the interface."""


def resource(name: str) -> Blueprint:
    """A blueprint for one resource."""
    return Blueprint(f"api_{name}", __name__, url_prefix=PREFIX)


def operation(
    blueprint: Blueprint,
    method: str,
    path: str,
    *,
    answers: Mapping[int, Model | None] | Model,
    sent: Sequence[str] = (),
    files: Sequence[str] = (),
    most_bytes: int = USUAL_BODY,
    is_guarded: bool = False,
    is_repeatable: bool = False,
) -> Callable[[Handler], Handler]:
    """Make a handler a route; its name is the operation id, its docstring the description.

    `answers` are the models of its good answers by status, one model alone for 200. What can be
    refused is described for all routes alike. `sent` and `files` are media types of bodies that
    are not JSON: such a body the handler reads itself, from the request. `most_bytes` bounds
    any body. `is_repeatable` is for writes that act anew each time they are sent. Answers to GET
    carry an ETag of their content.
    """
    by_status = answers if isinstance(answers, Mapping) else {200: answers}

    def decorate(handler: Handler) -> Handler:
        name = handler.__name__
        if name in EXTRAS:
            raise ValueError(f"Two operations are called {name}.")
        has_etag = method == "GET"
        EXTRAS[name] = Extras(tuple(sent), tuple(files), is_guarded, is_repeatable, has_etag)
        codes = {f"HTTP_{status}": model for status, model in by_status.items()}
        checked = tree.validate(
            resp=Answers(**codes),
            tags=[blueprint.name.removeprefix("api_")],
            operation_id=name,
        )(handler)

        @wraps(checked)
        def answered(**parts: object) -> Response:
            request.max_content_length = most_bytes
            if is_repeatable and idempotency.HEADER in request.headers:
                return idempotency.answered_once(lambda: checked(**parts))
            response: Response = checked(**parts)
            return etags.conditional(response) if has_etag else response

        blueprint.add_url_rule(path, endpoint=name, view_func=answered, methods=[method])
        return handler

    return decorate
