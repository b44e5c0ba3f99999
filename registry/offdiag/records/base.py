"""What all documents share: bodies, pages of long lists, values, refusals and projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from offdiag.domain.texts import Cell
from offdiag.domain.values import MetricValue


class RequestBody(BaseModel):
    """The body or the query of a request: a field that is not declared is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ResponseBody(BaseModel):
    """The body of an answer. NaN and infinity cannot be put into one.

    Whoever reads an answer lets fields pass that a newer server added.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    only_in_the_api: ClassVar[Mapping[str, Any]] = {}
    """Old names that the HTTP API keeps for a release, as pydantic's `exclude` takes them."""

    def plain(self) -> dict[str, Any]:
        """Plain values for files of pages, commands and the SDK, without old names."""
        return self.model_dump(mode="json", exclude=self.only_in_the_api)

    def row(self, columns: Sequence[str]) -> tuple[Cell, ...]:
        """A line of a CSV file: the fields of these names."""
        return tuple(_cell(getattr(self, name)) for name in columns)


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
    """The part of a query that says which page of a list is wanted."""

    limit: int = Field(default=USUAL_ON_A_PAGE, ge=1, le=MOST_ON_A_PAGE)
    page_token: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_000,
        description="`next_page_token` of the page before, asked for with the same query.",
    )


class Page(ResponseBody):
    """The part of an answer that says whether there is more."""

    next_page_token: str | None = Field(description="None on the last page.")


class Value(ResponseBody):
    """One value of a metric, in full precision; where it is undefined, the reason instead."""

    value: float | None
    reason: str | None = Field(default=None, description="Why there is no value.")
    limit: str | None = Field(
        default=None, description='"+inf" where a positive number was divided by zero.'
    )
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str | None = Field(default=None, description="How the interval was found.")

    @classmethod
    def of(cls, measured: MetricValue) -> Value:
        """The value as it travels."""
        return cls(
            value=measured.value,
            reason=measured.reason,
            limit=measured.limit,
            ci_low=measured.ci_low,
            ci_high=measured.ci_high,
            ci_method=measured.ci_method,
        )

    def measured(self) -> MetricValue:
        """The value as it was measured."""
        return MetricValue(
            self.value, self.reason, self.limit, self.ci_low, self.ci_high, self.ci_method
        )


def values_of(measured: Mapping[str, MetricValue]) -> dict[str, Value]:
    """Values by key as they travel."""
    return {key: Value.of(value) for key, value in measured.items()}


class Reason(ResponseBody):
    """What is wrong, where, and the way out."""

    code: str = Field(description="Stable name of the kind of error.")
    message: str
    field: str | None = Field(description="The input that caused it.")
    hint: str | None = Field(description="What to do next.")


class Refusal(ResponseBody):
    """The one shape of all errors."""

    error: Reason


DEFAULT_PROJECT = "default"


class InProject(RequestBody):
    """The part of a query that says in which project a name is looked up."""

    project: str = DEFAULT_PROJECT


class Project(ResponseBody):
    """A project that has datasets."""

    name: str
    n_datasets: int
    n_runs: int


class ProjectList(ResponseBody):
    """Projects by name."""

    projects: list[Project]
