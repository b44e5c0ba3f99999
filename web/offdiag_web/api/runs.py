"""Runs: search, read, compare, delete and restore; comments on runs and datasets."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from offdiag.errors import InvalidInput
from offdiag.filters.parsing import parse_filter
from offdiag.filters.ranges import out_of_range
from offdiag.records.base import InProject
from offdiag.records.comment import Comments, NewComment, NewDatasetComment, comments_document
from offdiag.records.runs.comparison import (
    ComparedExamples,
    ComparedExamplesQuery,
    Comparison,
    ComparisonQuery,
    asked_comparison,
    asked_examples,
)
from offdiag.records.runs.run import (
    Deleted,
    DeletedRuns,
    DeletedRunsQuery,
    Run,
    RunChanges,
    asked_run,
    deleted_document,
    run_document,
)
from offdiag.records.runs.run_list import RunPage, RunsQuery, asked_runs
from offdiag.services import run_notes as changes
from offdiag.services.datasets import comment_on_dataset
from offdiag.services.retention import deletion
from offdiag.services.run_notes import comment_on_run
from offdiag.store.comments import About, comments_on
from offdiag.store.datasets import dataset_named
from offdiag.store.run_page import read_run
from offdiag.store.run_search import SearchPlace, SortValue
from offdiag.store.runs import get_run as stored_run
from offdiag_web.api.operations import author, operation, require_match, resource
from offdiag_web.api.requests import read_token, write_token
from offdiag_web.app.context import current_registry, recent_comparisons

blueprint = resource("runs")


@operation(blueprint, "GET", "/runs")
def list_runs(query: RunsQuery) -> RunPage:
    """Search runs by conditions on any of their fields."""
    after = _place(read_token(query.page_token))
    found, following = asked_runs(
        current_registry().database, query, limit=query.limit, after=after
    )
    return RunPage.made_of(
        found,
        notices=list(out_of_range(parse_filter(query.filter))),
        next_page_token=write_token(_written(following)),
    )


@operation(blueprint, "GET", "/runs/<run:run_id>")
def get_run(run_id: str) -> Run:
    """Read everything about a run except its results."""
    return asked_run(current_registry().database, run_id)


@operation(blueprint, "PATCH", "/runs/<run:run_id>", is_guarded=True)
def change_run(run_id: str, json: RunChanges) -> Run:
    """Change the tags of a run, such as its review state, or its note. Everything else stays as
    logged. With `If-Match`, only if it has not changed since it was read.
    """
    database = current_registry().database
    with database.read() as session:
        found = read_run(session, run_id)
    is_seen = require_match(run_document(found))
    changes.change_run(
        database,
        run_id,
        tags=json.tags,
        added_tags=json.add_tags,
        note=json.note,
        seen=found.run if is_seen else None,
    )
    return asked_run(database, run_id)


@operation(blueprint, "DELETE", "/runs/<run:run_id>")
def delete_run(run_id: str) -> Deleted:
    """Delete a run; repeating the request has no further effect. The run can be restored until
    `offdiag gc` deletes it permanently.
    """
    database = current_registry().database
    deleted = deletion.delete_run(database, run_id, by=author())
    return Deleted(id=deleted.id, deleted_at=deleted.deleted_at or database.clock())


@operation(blueprint, "GET", "/deleted-runs")
def list_deleted_runs(query: DeletedRunsQuery) -> DeletedRuns:
    """Read which runs were deleted and can be restored."""
    return deleted_document(current_registry().database, query)


@operation(blueprint, "POST", "/runs/<run:run_id>/restore")
def restore_run(run_id: str) -> Run:
    """Restore a deleted run; a run that is not deleted stays as it is."""
    database = current_registry().database
    deletion.restore_run(database, run_id)
    return asked_run(database, run_id)


_MOMENT = "at"
"""Key under which a token stores a time, for which JSON has no type."""


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


@operation(blueprint, "GET", "/runs/<run:run_id>/comments")
def list_run_comments(run_id: str) -> Comments:
    """Read the comments on a run, oldest first."""
    with current_registry().database.read() as session:
        stored_run(session, run_id)
        return comments_document(comments_on(session, About.RUN, run_id))


@operation(blueprint, "POST", "/runs/<run:run_id>/comments", is_repeatable=True)
def add_run_comment(run_id: str, json: NewComment) -> Comments:
    """Add a comment to a run."""
    database = current_registry().database
    comment_on_run(database, run_id, text=json.text, author=author(json.author))
    return list_run_comments(run_id)


@operation(blueprint, "GET", "/datasets/<name:name>/comments")
def list_dataset_comments(name: str, query: InProject) -> Comments:
    """Read the comments on the decision of a dataset, oldest first."""
    return _of_dataset(query.project, name)


@operation(blueprint, "POST", "/datasets/<name:name>/comments", is_repeatable=True)
def add_dataset_comment(name: str, json: NewDatasetComment) -> Comments:
    """Add a comment to the decision of a dataset."""
    comment_on_dataset(
        current_registry().database,
        project=json.project,
        dataset=name,
        text=json.text,
        author=author(json.author),
    )
    return _of_dataset(json.project, name)


def _of_dataset(project: str, name: str) -> Comments:
    with current_registry().database.read() as session:
        known = dataset_named(session, project=project, name=name)
        return comments_document(comments_on(session, About.DATASET, known.id))


@operation(blueprint, "GET", "/compare")
def compare(query: ComparisonQuery) -> Comparison:
    """Compare runs by their predictions and the active label version. If runs cannot be compared,
    the response says why.
    """
    database = current_registry().database
    return asked_comparison(database, _ids(query), query, recent_comparisons())


@operation(blueprint, "GET", "/compare/examples")
def compare_examples(query: ComparedExamplesQuery) -> ComparedExamples:
    """Read the examples that both, one or neither of two runs predict correctly."""
    return asked_examples(current_registry().database, query)


def _ids(query: ComparisonQuery) -> list[str]:
    ids = [each.strip() for each in query.runs.split(",")]
    if query.baseline is None:
        return ids
    if query.baseline not in ids:
        raise InvalidInput(
            f"{query.baseline!r} is none of the runs.",
            field="baseline",
            hint="Name one of those that are compared.",
        )
    return [query.baseline, *(each for each in ids if each != query.baseline)]
