"""What is wrong with the body or the query of a request, in words."""

from __future__ import annotations

from difflib import get_close_matches

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from offdiag.errors import InvalidInput

_LONGEST_QUOTE = 60


def first_problem(error: ValidationError, model: type[BaseModel] | None = None) -> InvalidInput:
    """The first thing that is wrong, with its place and the way out."""
    problem = error.errors(include_url=False)[0]
    place = _place(problem)
    if problem["type"] == "extra_forbidden":
        return InvalidInput(
            f"there is no field {place!r}.", field=place, hint=_known(place, model)
        )
    if problem["type"] == "missing":
        return InvalidInput(
            f"the field {place!r} is missing.", field=place, hint="Send a value for it."
        )
    if problem["type"] == "value_error":
        cause = problem["ctx"]["error"]
        if isinstance(cause, InvalidInput):
            return InvalidInput(cause.message, field=cause.field or place, hint=cause.hint)
    given = repr(problem["input"])
    shown = given if len(given) <= _LONGEST_QUOTE else f"{given[:_LONGEST_QUOTE]}…"
    return InvalidInput(f"the value {shown} does not fit.", field=place, hint=f"{problem['msg']}.")


def _place(problem: ErrorDetails) -> str:
    text = ""
    for part in problem["loc"]:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text or "body"


def _known(place: str, model: type[BaseModel] | None) -> str:
    if model is None or "." in place or "[" in place:
        return "Leave it out."
    names = sorted(model.model_fields)
    near = get_close_matches(place, names, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(names)}."
