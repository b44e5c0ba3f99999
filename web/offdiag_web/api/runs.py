"""Runs: searched, read, deleted and brought back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from offdiag.records.run import (
    Deleted,
    Run,
    RunChanges,
    RunPage,
    RunsQuery,
    run_document,
    run_summary,
)
from offdiag.services import runs as changes
from offdiag.services import search
from offdiag.services.retention import deletion
from offdiag.store.run_page import read_run
from offdiag.store.run_search import SearchPlace, SortValue
from offdiag_web.api.operations import (
    author,
    operation,
    read_token,
    require_match,
    resource,
    write_token,
)
from offdiag_web.app.context import current_registry

blueprint = resource("runs")


@operation(blueprint, "GET", "/runs", answers=RunPage)
def list_runs(query: RunsQuery) -> RunPage:
    """Search runs by conditions on anything that is known of them."""
    found = search.search_page(
        current_registry().database,
        filter_text=query.filter,
        order_by=query.order_by,
        project=query.project,
        after=_place(read_token(query.page_token)),
        limit=query.limit,
    )
    return RunPage(
        runs=list(map(run_summary, found.runs)),
        next_page_token=write_token(_written(found.following)),
    )


@operation(blueprint, "GET", "/runs/<run:run_id>", answers=Run)
def get_run(run_id: str) -> Run:
    """Read everything that is known of a run but its results."""
    with current_registry().database.read() as session:
        return run_document(read_run(session, run_id))


@operation(blueprint, "PATCH", "/runs/<run:run_id>", answers=Run)
def change_run(run_id: str, json: RunChanges) -> Run:
    """Change the tags of a run, such as its review state, or its note.

    All else stays as it was logged.
    """
    database = current_registry().database
    with database.read() as session:
        require_match(run_document(read_run(session, run_id)))
    changes.change_run(database, run_id, tags=json.tags, note=json.note)
    with database.read() as session:
        return run_document(read_run(session, run_id))


@operation(blueprint, "DELETE", "/runs/<run:run_id>", answers=Deleted)
def delete_run(run_id: str) -> Deleted:
    """Hide a run everywhere; twice is the same as once.

    It can be restored until the collection removes it for good.
    """
    database = current_registry().database
    deleted = deletion.delete_run(database, run_id, by=author())
    return Deleted(id=deleted.id, deleted_at=deleted.deleted_at or database.clock())


@operation(blueprint, "POST", "/runs/<run:run_id>/restore", answers=Run)
def restore_run(run_id: str) -> Run:
    """Bring a deleted run back; a run that is there stays as it is."""
    database = current_registry().database
    deletion.restore_run(database, run_id)
    with database.read() as session:
        return run_document(read_run(session, run_id))


_MOMENT = "at"
"""Key under which a token holds a moment, which JSON has no form of its own for."""


def _written(place: SearchPlace | None) -> list[object] | None:
    if place is None:
        return None
    values = [_value_written(value) for value in place.values]
    return [values, place.created_at.isoformat(), place.run_id]


def _place(token: list[Any] | None) -> SearchPlace | None:
    if token is None:
        return None
    values, created_at, run_id = token
    return SearchPlace(tuple(map(_value_read, values)), datetime.fromisoformat(created_at), run_id)


def _value_written(value: SortValue) -> object:
    return {_MOMENT: value.isoformat()} if isinstance(value, datetime) else value


def _value_read(value: Any) -> SortValue:
    if isinstance(value, dict):
        return datetime.fromisoformat(value[_MOMENT])
    read: SortValue = value
    return read
