"""Reading requests: the query, the JSON body, and the position in a long list.

JSON is read strictly. The JSON of the standard library keeps the last of two equal keys, reads
`NaN`, and turns 1e400 into infinity: a mistyped number would be stored as another.

Only this server can write valid page tokens.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
from flask import Request, current_app, request
from itsdangerous import BadData, URLSafeSerializer
from pydantic import BaseModel, ValidationError
from spectree.plugins.base import Context
from spectree.plugins.flask_plugin import FlaskPlugin
from spectree.plugins.werkzeug_utils import werkzeug_parse_rule
from spectree.utils import get_multidict_items
from werkzeug.exceptions import UnsupportedMediaType

from offdiag.errors import Malformed
from offdiag.records.base import first_problem
from offdiag_web.app.context import name_project
from offdiag_web.app.dispatch import PATH_SCHEMAS

JSON = "application/json"
Document = TypeVar("Document", bound=BaseModel)

_MOST_OPEN = 100
_NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
_ESCAPES_TO_CHECK = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class _NotFinite(float):
    """A placeholder for a number that JSON does not allow, until its place is known."""

    written: str


def read_json(body: bytes) -> Any:
    """The value in a body. Raises `Malformed` naming the key or place that is invalid."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(
            f"the body is not UTF-8: byte {error.start} cannot be read.",
            field="body",
            hint="Encode JSON as UTF-8.",
        ) from None
    if _is_deep(body):
        raise Malformed(
            "the body is nested too deeply.", field="body", hint="Send a flat document."
        )
    odd_numbers: list[_NotFinite] = []

    def odd(written: str) -> float:
        number = _NotFinite("nan")
        number.written = written
        odd_numbers.append(number)
        return number

    def number(written: str) -> float:
        value = float(written)
        return value if math.isfinite(value) else odd(written)

    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=odd, parse_float=number)
    except json.JSONDecodeError as error:
        raise Malformed(
            f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            field="body",
            hint="Send one complete JSON document.",
        ) from None
    except ValueError as error:
        if isinstance(error, Malformed):
            raise
        raise Malformed(
            "the body has a number of thousands of digits.",
            field="body",
            hint="Send numbers that were measured.",
        ) from None
    if odd_numbers:
        _refuse_odd_number(value)
    if "\0" in text or _ESCAPES_TO_CHECK.search(text):
        _refuse_odd_text(value)
    return value


def _is_deep(body: bytes) -> bool:
    """Whether brackets are nested deeper than any document needs.

    A parser that recurses until the stack is full leaves no room for finalizers that the garbage
    collector runs meanwhile, such as those that return a connection.
    """
    if body.count(b"[") + body.count(b"{") <= _MOST_OPEN:
        return False
    # With escapes removed, every second part between quotes is text.
    marks = body.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NO_MARKS)
    brackets = np.frombuffer(b"".join(marks.split(b'"')[::2]), np.uint8)
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), np.int8(1), np.int8(-1))
    return bool(np.cumsum(steps, dtype=np.int32).max(initial=0) > _MOST_OPEN)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = dict(pairs)
    if len(read) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # None is falsy
        raise Malformed(
            f"the key {twice!r} occurs twice in one object.",
            field=twice,
            hint="Say it once: readers disagree on which of the two counts.",
        )
    return read


def _refuse_odd_number(value: object) -> NoReturn:
    place, number = next(
        (place, leaf) for place, leaf in _leaves(value) if isinstance(leaf, _NotFinite)
    )
    raise Malformed(
        f"{number.written} is not a finite number.",
        field=place,
        hint="Leave it out, or send null where that is allowed.",
    )


def _refuse_odd_text(value: object) -> None:
    for place, leaf in _leaves(value):
        if isinstance(leaf, str) and (
            "\0" in leaf or any("\ud800" <= character <= "\udfff" for character in leaf)
        ):
            raise Malformed(
                "the text has a NUL character or half of a surrogate pair.",
                field=place,
                hint="Databases cannot store it; remove it.",
            )


def _leaves(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Texts and numbers with their places, including the keys of objects."""
    waiting: list[tuple[str, object]] = [(place, value)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            for key, item in reversed(value.items()):
                waiting.append((f"{place}.{key}" if place else key, item))
                waiting.append((place or "body", key))
        elif isinstance(value, list):
            waiting.extend(
                (f"{place}[{index}]", item) for index, item in reversed(list(enumerate(value)))
            )
        else:
            yield place or "body", value


class StrictRequests(FlaskPlugin):
    """Reads bodies strictly, and reports every wrong part in the error format."""

    def request_validation(
        self,
        request: Request,
        query: type[BaseModel] | None,
        json: type[BaseModel] | None,
        *_rest: object,
    ) -> None:
        asked = None if query is None else _read_query(request, query)
        sent = None if json is None else _read_body(request, json)
        project = getattr(sent, "project", None)
        if isinstance(project, str):
            name_project(project)
        # From here, the library hands these to the handler.
        request.context = Context(asked, sent, None, None, None)  # type: ignore[attr-defined]

    def parse_path(
        self, route: Any, path_parameter_descriptions: Any
    ) -> tuple[str, list[dict[str, Any]]]:
        path, parameters = super().parse_path(route, path_parameter_descriptions)
        converters = {
            variable: converter
            for converter, _, variable in werkzeug_parse_rule(str(route))
            if converter in PATH_SCHEMAS
        }
        for parameter in parameters:
            if parameter["name"] in converters:
                parameter.update(PATH_SCHEMAS[converters[parameter["name"]]])
        return path, parameters


def _read_query(request: Request, model: type[BaseModel]) -> BaseModel:
    try:
        return model.model_validate(get_multidict_items(request.args, model))
    except ValidationError as error:
        raise first_problem(error, model) from None


def _read_body(request: Request, model: type[BaseModel]) -> BaseModel:
    if request.method == "POST" and may_be_left_out(model) and not request.get_data():
        return model()
    if request.mimetype != JSON:
        raise UnsupportedMediaType(f"Send the body as {JSON}.")
    encoding = request.headers.get("Content-Encoding", "identity")
    if encoding.strip().lower() != "identity":
        raise UnsupportedMediaType("Send the body without Content-Encoding.")
    return read_document(request.get_data(), model)


def may_be_left_out(model: type[BaseModel]) -> bool:
    """Whether a POST may come without this body: no field is required.

    PUT may not, because a body that was lost on the way would reset what it replaces.
    """
    return not any(field.is_required() for field in model.model_fields.values())


def read_document(body: bytes, model: type[Document]) -> Document:
    """The document in a JSON body. Raises as `read_json` does, and `InvalidInput`."""
    read_json(body)
    try:
        # In strict mode, pydantic accepts neither the text "5" as a number nor 1 as true.
        return model.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise first_problem(error, model) from None


_NOT_PART_OF_THE_QUESTION = frozenset({"page_token", "limit"})


def write_token(place: Sequence[object] | None) -> str | None:
    """The token of the page that begins after a place, given as JSON values; None for no page."""
    return None if place is None else str(_writer().dumps(list(place)))


def read_token(token: str | None) -> list[Any] | None:
    """The place in a token that was written for the same path and query.

    Raises `Malformed` for any other token.
    """
    if token is None:
        return None
    try:
        return cast("list[Any]", _writer().loads(token))
    except BadData:
        raise Malformed(
            "this page token does not belong to this list.",
            field="page_token",
            hint="Send the `next_page_token` of an answer with the query it answered.",
        ) from None


def _writer() -> URLSafeSerializer:
    """Tokens are signed, so their content needs no further check.

    The number in the salt is raised whenever places in a list are written in another way.
    """
    asked = sorted(
        (name, value)
        for name, value in request.args.items(multi=True)
        if name not in _NOT_PART_OF_THE_QUESTION
    )
    key = current_app.secret_key
    if key is None:
        raise RuntimeError("The application has no key to sign tokens with.")
    return URLSafeSerializer(key, salt=f"2 {request.path} {asked!r}")
