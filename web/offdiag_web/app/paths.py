"""Parts of paths: converters, the prefix of the API, the formats of a page, own paths."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlsplit

from flask import request
from werkzeug.routing import BaseConverter

from offdiag.domain.texts import DEFAULT_PROJECT, name_from_path, name_in_path


class RunIdConverter(BaseConverter):
    """Accepts what a run id may look like; the dot before `json` or `csv` ends it."""

    regex = r"r_[0-9A-Za-z]{1,64}"
    part_isolating = True


PREFIX = "/api/v1"


class NumberConverter(BaseConverter):
    """The number of a flag, a job or a version: positive, and within what databases hold."""

    regex = r"[1-9][0-9]{0,17}"
    part_isolating = True

    def to_python(self, value: str) -> int:
        return int(value)


PATH_SCHEMAS: dict[str, dict[str, Any]] = {
    "run": {
        "schema": {"type": "string", "pattern": f"^{RunIdConverter.regex}$"},
        "description": "Id of a run.",
    },
    "name": {
        "schema": {"type": "string", "minLength": 1, "maxLength": 1_500},
        "description": (
            "A name. `~`, `/` and `\\` are written as `~7E`, `~2F` and `~5C`; so are the dots "
            "of `.`, `..` and of a name that ends in `.json` or `.csv`, as `~2E`."
        ),
    },
    "number": {
        "schema": {"type": "integer", "minimum": 1, "maximum": 10**18 - 1},
        "description": "",
    },
}
"""By converter: the parts of a parameter in the description."""


class NameConverter(BaseConverter):
    """Any name, as one segment of a path; its end is never mistaken for that of a twin."""

    regex = r"(?:(?!\.(?:json|csv)(?:/|$))[^/])+"
    part_isolating = True

    def to_python(self, value: str) -> str:
        return name_from_path(value)

    def to_url(self, value: object) -> str:
        return quote(name_in_path(str(value)), safe="")


TWIN = ".<any(json, csv):form>"
"""End of the address of a twin."""
SENT_BY_FORM = "form"
"""A form sends every field, also empty ones; its answer is a redirect to the canonical URL."""


SHARED = "/s/"
"""Begins the address of a shared page; the rest of it is a secret."""


def loggable_path(path: str) -> str:
    """The path of a request without the secret of a shared page."""
    return f"{SHARED}…" if path.startswith(SHARED) else path


def requested_project() -> str:
    """The project that a request names, else the default one."""
    return request.args.get("project") or DEFAULT_PROJECT


def own_path(target: str) -> str:
    """A path on this server, whatever the form says."""
    parts = urlsplit(target)
    is_own = not parts.scheme and not parts.netloc and target.startswith("/")
    return target if is_own and not target.startswith(("//", "/\\")) else "/"
