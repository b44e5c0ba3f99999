"""What all documents have in common: bodies, pages of long lists, values, errors and projects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from offdiag.domain.sentences import known_names
from offdiag.domain.texts import DEFAULT_PROJECT, Cell
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput

if TYPE_CHECKING:
    from offdiag.store.database import Database

Notices = Annotated[
    list[str],
    Field(
        description="Parts of the input that were accepted, but may have been meant differently."
    ),
]


class RequestBody(BaseModel):
    """The body or the query of a request; undeclared fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @classmethod
    def asked(cls, **given: object) -> Self:
        """The request of a local caller, validated as by a server. Raises `InvalidInput`."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise first_problem(error, cls) from None


class ResponseBody(BaseModel):
    """The body of a response. It cannot contain NaN or infinity. Clients ignore fields that a
    newer server has added.
    """

    model_config = ConfigDict(
        extra="ignore", frozen=True, allow_inf_nan=False, from_attributes=True
    )

    only_in_the_api: ClassVar[Mapping[str, Any]] = {}
    """Old names that the HTTP API keeps for one release, in the form of pydantic's `exclude`.

    They have a default, so that a client of this version can read a server without them.
    """

    @classmethod
    def made_of(cls, found: object, /, **others: object) -> Self:
        """The document with fields from the attributes of an object and from `others`.

        Raises `AttributeError` if an attribute is missing, even if its field has a default.
        """
        known = {name: getattr(found, name) for name in cls.model_fields if name not in others}
        return cls.model_validate(known | others)

    def plain(self) -> dict[str, Any]:
        """Plain values for files of pages, commands and the SDK, without old names."""
        return self.model_dump(mode="json", exclude=self.only_in_the_api)

    def row(self, columns: Sequence[str]) -> tuple[Cell, ...]:
        """A line of a CSV file: the fields with these names."""
        return cells_of(self, columns)


Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Request(Generic[Answer]):
    """A request of a registry: a server answers it at `path`, a database with `stored`.

    `asked` is the query of a GET request, and the body of any other.
    """

    path: str
    answer: type[Answer]
    stored: Callable[[Database], Answer]
    asked: RequestBody | None = None
    method: str = "GET"


def cells_of(found: object, columns: Sequence[str]) -> tuple[Cell, ...]:
    """The attributes with these names as cells of a CSV file."""
    return tuple(_cell(getattr(found, name)) for name in columns)


def _cell(value: Any) -> Cell:
    match value:
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.isoformat()
        case _:
            found: Cell = value
            return found


MOST_ON_A_PAGE = 1_000
USUAL_ON_A_PAGE = 50


class Paged(RequestBody):
    """The part of a query that selects a page of a list."""

    limit: int = Field(default=USUAL_ON_A_PAGE, ge=1, le=MOST_ON_A_PAGE)
    page_token: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_000,
        description="`next_page_token` of the previous page, with the same query.",
    )


class Page(ResponseBody):
    """The part of a response that says whether there are more pages."""

    next_page_token: str | None = Field(description="None on the last page.")


class Value(ResponseBody):
    """One value of a metric in full precision, or the reason why it is undefined."""

    value: float | None
    reason: str | None = Field(default=None, description="Why there is no value.")
    limit: str | None = Field(
        default=None, description='"+inf" if a positive number was divided by zero.'
    )
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str | None = Field(default=None, description="Method of the interval.")
    error_bound: float | None = Field(
        default=None,
        description="Largest possible error of the value if scores were counted in bins; the "
        "interval includes it.",
    )

    def measured(self) -> MetricValue:
        """The value as a `MetricValue`."""
        return MetricValue(
            self.value, self.reason, self.limit, self.ci_low, self.ci_high, self.ci_method
        )


def values_of(measured: Mapping[str, MetricValue]) -> dict[str, Value]:
    """Values by key, as documents."""
    return {key: Value.made_of(value) for key, value in measured.items()}


class Reason(ResponseBody):
    """What is wrong, where, and how to fix it."""

    code: str = Field(description="Stable name of the kind of error.")
    kind: str | None = Field(default=None, description="A narrower kind, such as key_used.")
    message: str
    field: str | None = Field(description="The input that caused it.")
    hint: str | None = Field(description="What to do next.")


class Refusal(ResponseBody):
    """The format of all errors."""

    error: Reason


class InProject(RequestBody):
    """The part of a query or body that gives the project of a name."""

    project: str = DEFAULT_PROJECT


class Project(ResponseBody):
    """A project that contains datasets."""

    name: str
    n_datasets: int
    n_runs: int


class ProjectList(ResponseBody):
    """Projects by name."""

    projects: list[Project]


_LONGEST_QUOTE = 60


def first_problem(error: ValidationError, model: type[BaseModel] | None = None) -> InvalidInput:
    """The first problem, with its place and a fix."""
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
    if problem["type"] == "too_short" and problem["input"] == []:
        return InvalidInput("the list is empty.", field=place, hint="Send at least one value.")
    if problem["type"] == "value_error":
        cause = problem["ctx"]["error"]
        if isinstance(cause, InvalidInput):
            return InvalidInput(cause.message, field=cause.field or place, hint=cause.hint)
    given = "null" if problem["input"] is None else repr(problem["input"])
    shown = given if len(given) <= _LONGEST_QUOTE else f"{given[:_LONGEST_QUOTE]}…"
    return InvalidInput(f"the value {shown} does not fit.", field=place, hint=f"{problem['msg']}.")


_ALTERNATIVES = ("str", "int", "bool", "float")


def _place(problem: ErrorDetails) -> str:
    """The path to a value, without the alternatives that pydantic tried: list[int], str."""
    text = ""
    parts = problem["loc"]
    if parts[1:] and parts[-1] in _ALTERNATIVES:
        parts = parts[:-1]
    for part in parts:
        if isinstance(part, str) and part.endswith("]") and text:
            continue
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
    return f"Did you mean {near[0]!r}?" if near else known_names("fields", names)
