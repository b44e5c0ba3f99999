"""Search runs by conditions on metrics, parameters, tags and facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from offdiag.domain.runs import FoundRun, FoundRuns, require_number_of_runs
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
from offdiag.store.database import Database, Session
from offdiag.store.run_count import count_weighted, weighted_among
from offdiag.store.run_search import SearchPlace, found_page, found_runs, run_records


def search_runs(
    database: Database,
    *,
    filter_text: str = "",
    order_by: Iterable[str] = (),
    project: str | None = None,
    limit: int = 1_000,
) -> FoundRuns:
    """The runs that match a filter, sorted, newest first among ties.

    Raises `InvalidInput` naming the place in the filter or order that cannot be read.
    """
    require_number_of_runs(limit)
    condition, order = _condition(filter_text, project), parse_order(order_by)
    with database.read() as session:
        ids = found_runs(session, condition, order=order, limit=limit + 1)
        runs = run_records(session, ids[:limit], on_slices=slices_asked_for(condition))
        return FoundRuns(runs, _n_without_slices(session, condition), len(ids) > limit)


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of found runs; `following` leads to the next page, None at the end.

    `n_without_slices` and `n_weighted` refer to the whole search: `n_weighted` runs have sample
    weights and come last because a metric sorts the runs; 0 if no metric does.
    """

    runs: Sequence[FoundRun]
    following: SearchPlace | None
    n_without_slices: int = 0
    n_weighted: int = 0


def search_page(
    database: Database,
    *,
    filter_text: str,
    order_by: Iterable[str],
    project: str | None,
    after: SearchPlace | None,
    limit: int,
) -> SearchPage:
    """At most `limit` runs after a place of the same search. Raises like `search_runs`."""
    condition, order = _condition(filter_text, project), parse_order(order_by)
    with database.read() as session:
        found = found_page(session, condition, order=order, after=after, limit=limit)
        runs = run_records(
            session, found.ids, with_worst_class=True, on_slices=slices_asked_for(condition)
        )
        n_weighted = 0
        if any(each.is_by_metric for each in order):
            n_weighted = weighted_among(session, (condition,))
        n_without_slices = _n_without_slices(session, condition)
        return SearchPage(runs, found.following, n_without_slices, n_weighted)


def _n_without_slices(session: Session, condition: Condition) -> int:
    if not slices_asked_for(condition):
        return 0
    return count_weighted(session, terms=(condition,), dataset_id=None)


def _condition(filter_text: str, project: str | None) -> Condition:
    condition = parse_filter(filter_text)
    if project is None:
        return condition
    of_project = Comparison(AttributeField(Attribute.PROJECT), Operator.EQUAL, (project,))
    return AllOf((of_project, condition))
