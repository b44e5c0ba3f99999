"""What may stand in a path of the interface, for routing and for its description."""

from __future__ import annotations

from typing import Any

from werkzeug.routing import BaseConverter

from offdiag_web.run_id import RunIdConverter

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
