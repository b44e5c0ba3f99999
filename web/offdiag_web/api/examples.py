"""Single predictions of a run."""

from __future__ import annotations

from typing import Any

from offdiag.errors import Conflict
from offdiag.records.example import ExamplePage, ExamplesQuery, example_document
from offdiag.services.examples.page import browse_examples
from offdiag.services.examples.selection import Cursor, ExampleOrder, ExampleQuestion, Place
from offdiag_web.api.operations import operation, read_token, resource, write_token
from offdiag_web.app.context import current_registry

blueprint = resource("examples")


@operation(blueprint, "GET", "/runs/<run:run_id>/examples", answers=ExamplePage)
def list_examples(run_id: str, query: ExamplesQuery) -> ExamplePage:
    """Read single predictions, by default the errors the model was surest of first."""
    page = browse_examples(
        current_registry().database,
        run_id,
        _question(query),
        cursor=_cursor(read_token(query.page_token)),
        size=query.limit,
    )
    if page.missing is not None:
        raise Conflict(
            f"run {run_id} has no predictions to show.",
            field="run",
            hint="A run that was logged as a matrix has none; an open one has to be finished.",
        )
    after = None if page.after is None else page.after.place
    return ExamplePage(
        run=run_id,
        total=page.total,
        start=page.start,
        has_scores=page.has_scores,
        has_ids=page.has_ids,
        slice_names=list(page.slice_names),
        examples=list(map(example_document, page.examples)),
        next_page_token=write_token(None if after is None else [after.key, after.index]),
    )


def _question(query: ExamplesQuery) -> ExampleQuestion:
    return ExampleQuestion(
        actual=query.actual,
        predicted=query.predicted,
        kind=query.kind,
        sample=query.sample,
        order=None if query.sort is None else ExampleOrder(query.sort, query.descending),
    )


def _cursor(token: list[Any] | None) -> Cursor | None:
    return None if token is None else Cursor(Place(*token))
