"""Finding things by a few letters of their name, and runs by conditions on anything known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass

from offdiag.domain.runs import FoundRun
from offdiag.errors import InvalidInput
from offdiag.filters.conditions import (
    AllOf,
    Attribute,
    AttributeField,
    Comparison,
    Condition,
    Operator,
)
from offdiag.filters.parsing import parse_filter, parse_order
from offdiag.store import search as queries
from offdiag.store.database import Database
from offdiag.store.run_search import SearchPlace, found_page, found_runs, run_records

_BUSY_S = 0.2
_CONNECT_S = 1


def known_names(url: str, kind: str, prefix: str) -> list[tuple[str, str | None]]:
    """Names of runs, datasets, projects or costs, each with a word about it.

    A registry that is not there is not made, and one that does not answer is not waited for.
    Raises whatever stands in the way.
    """
    if not url.startswith("sqlite") and "connect_timeout" not in url:
        url = f"{url}{'&' if '?' in url else '?'}connect_timeout={_CONNECT_S}"
    with closing(Database(url, busy_timeout_s=_BUSY_S)) as database:
        if database.path is not None and not database.path.exists():
            return []
        with database.read() as session:
            return queries.known_names(session, kind, prefix)


MOST_RUNS = 100_000


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
    if not 1 <= limit <= MOST_RUNS:
        raise InvalidInput(
            f"{limit} is no number of runs between 1 and {MOST_RUNS:,}.",
            field="max_results",
            hint="Narrow the search by its filter.",
        )
    condition, order = parse_filter(filter_text), parse_order(order_by)
    if project is not None:
        condition = AllOf((_of_project(project), condition))
    with database.read() as session:
        ids = found_runs(session, condition, order=order, limit=limit)
        return run_records(session, ids)


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
    condition, order = parse_filter(filter_text), parse_order(order_by)
    if project is not None:
        condition = AllOf((_of_project(project), condition))
    with database.read() as session:
        found = found_page(session, condition, order=order, after=after, limit=limit)
        return SearchPage(run_records(session, found.ids), found.following)


def _of_project(name: str) -> Condition:
    return Comparison(AttributeField(Attribute.PROJECT), Operator.EQUAL, (name,))
