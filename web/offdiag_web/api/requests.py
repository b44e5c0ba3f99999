"""Reading what a request asks: its query and its JSON body, as declared by the handler."""

from __future__ import annotations

from typing import Any

from flask import Request
from pydantic import BaseModel, ValidationError
from spectree.plugins.base import Context
from spectree.plugins.flask_plugin import FlaskPlugin
from spectree.plugins.werkzeug_utils import werkzeug_parse_rule
from spectree.utils import get_multidict_items
from werkzeug.exceptions import UnsupportedMediaType

from offdiag_web.api.media_types import JSON
from offdiag_web.api.problems import first_problem
from offdiag_web.api.strict_json import read_json
from offdiag_web.app.paths import PATH_SCHEMAS


class StrictRequests(FlaskPlugin):
    """Reads bodies strictly, and tells every wrong part in the one shape of errors."""

    def request_validation(
        self,
        request: Request,
        query: type[BaseModel] | None,
        json: type[BaseModel] | None,
        *_rest: object,
    ) -> None:
        asked = None if query is None else _read_query(request, query)
        sent = None if json is None else _read_body(request, json)
        # The library hands these to the handler from here.
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
    if request.mimetype != JSON:
        raise UnsupportedMediaType(f"Send the body as {JSON}.")
    body = request.get_data()
    read_json(body)
    try:
        # In its strict mode the text "5" is no number, and 1 is not true.
        return model.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise first_problem(error, model) from None
