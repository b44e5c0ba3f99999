"""Search runs by conditions on metrics, parameters, tags and facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from offdiag.domain.runs import FoundRun, require_number_of_runs
from offdiag.filters.conditions import (
    AllOf,
    Attribute,
    AttributeField,
    Comparison,
    Condition,
    Operator,
    slices_asked_for,
)
from offdiag.filters.parsing import parse_filter, parse_order
from offdiag.store.database import Database
from offdiag.store.run_search import SearchPlace, found_page, found_runs, run_records


def search_runs(
    database: Database,
    *,
    filter_text: str = "",
    order_by: Iterable[str] = (),
    project: str | None = None,
    limit: int = 1_000,
) -> list[FoundRun]:
    """The runs that fulfil a filter, sorted, newest first among equals.

    Raises `InvalidInput` that names the place in the filter or order that cannot be read.
    """
    require_number_of_runs(limit)
    condition, order = _condition(filter_text, project), parse_order(order_by)
    with database.read() as session:
        ids = found_runs(session, condition, order=order, limit=limit)
        return run_records(session, ids, on_slices=slices_asked_for(condition))


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Runs in order; `following` leads to the page after them, None at the end."""

    runs: Sequence[FoundRun]
    following: SearchPlace | None


def search_page(
    database: Database,
    *,
    filter_text: str,
    order_by: Iterable[str],
    project: str | None,
    after: SearchPlace | None,
    limit: int,
) -> SearchPage:
    """At most `limit` runs after a place of the same search. Raises as `search_runs` does."""
    condition, order = _condition(filter_text, project), parse_order(order_by)
    with database.read() as session:
        found = found_page(session, condition, order=order, after=after, limit=limit)
        runs = run_records(
            session, found.ids, with_worst_class=True, on_slices=slices_asked_for(condition)
        )
        return SearchPage(runs, found.following)


def _condition(filter_text: str, project: str | None) -> Condition:
    condition = parse_filter(filter_text)
    if project is None:
        return condition
    of_project = Comparison(AttributeField(Attribute.PROJECT), Operator.EQUAL, (project,))
    return AllOf((of_project, condition))
