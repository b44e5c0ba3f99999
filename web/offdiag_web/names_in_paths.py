"""Names that people gave to things, in URLs."""

from __future__ import annotations

from urllib.parse import quote

from werkzeug.routing import BaseConverter

from offdiag.domain.names import name_from_path, name_in_path


class NameConverter(BaseConverter):
    """Any name, as one segment of a path; its end is never mistaken for that of a twin."""

    regex = r"(?:(?!\.(?:json|csv)(?:/|$))[^/])+"
    part_isolating = True

    def to_python(self, value: str) -> str:
        return name_from_path(value)

    def to_url(self, value: object) -> str:
        return quote(name_in_path(str(value)), safe="")
