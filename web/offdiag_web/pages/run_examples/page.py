"""The predictions behind a cell of the matrix, or behind any other number of a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from flask import Blueprint, abort, flash, redirect, request
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.records.runs import example as records
from offdiag.services.examples.page import (
    TOP_CLASSES,
    Example,
    ExampleExport,
    ExamplePage,
    NoExamples,
    browse_examples,
    export_examples,
)
from offdiag.services.examples.selection import ExampleQuestion
from offdiag.store.run_page import RunHeader
from offdiag_web.app.context import current_registry, kept_suspects, requires
from offdiag_web.app.dispatch import SENT_BY_FORM
from offdiag_web.app.errors import REFUSED, failure_of, message_of
from offdiag_web.app.exports import Cell, csv_stream, json_stream
from offdiag_web.app.parameters import understood
from offdiag_web.app.preferences import require_user_name
from offdiag_web.components import numbers
from offdiag_web.components.runs.frame import RUN, stored_run
from offdiag_web.components.samples import answer_from_form
from offdiag_web.pages.run_examples.view import examples_view
from offdiag_web.urls.run import ExamplesAddress, cell_url, read_examples

_TOP_COLUMNS = tuple(
    f"{column}_{number}" for number in range(1, TOP_CLASSES + 1) for column in ("top", "score")
)


def example_columns(export: ExampleExport) -> tuple[str, ...]:
    """Columns of the CSV: the sample, both labels, scores if there are any, slices."""
    scores = ("confidence", "margin", *_TOP_COLUMNS) if _has_scores(export) else ()
    slices = tuple(f"slice {name}" for name in export.slice_names)
    return ("index", "sample", "actual", "predicted", *scores, *slices)


def example_rows(export: ExampleExport) -> Iterator[tuple[Cell, ...]]:
    """One row for each example; a missing label is empty."""
    has_scores = _has_scores(export)
    for example in export.examples:
        scores: Sequence[Cell] = ()
        if has_scores:
            scores = (example.confidence, example.margin, *_top_cells(example))
        yield (
            *(example.index, example.sample, example.actual, example.predicted),
            *scores,
            *example.slices.values(),
        )


def export_head(export: ExampleExport, question: ExampleQuestion) -> dict[str, object]:
    """The fields of the JSON before the examples themselves."""
    run, results = export.detail.run, export.detail.results
    return {
        "run": run.id,
        "dataset": run.dataset,
        "truth_version": None if results is None else results.facts.truth_number,
        "filter": {
            "actual": question.actual,
            "predicted": question.predicted,
            "show": "cell" if question.is_cell else question.kind.value,
            "sample": question.sample,
            "slice": question.part,
        },
        "order": "logged",
        "n_matching": export.total,
        "n_exported": export.n_exported,
    }


def _has_scores(export: ExampleExport) -> bool:
    return export.detail.run.score_columns > 0


def _top_cells(example: Example) -> list[Cell]:
    cells: list[Cell] = []
    for each in example.top:
        cells += [each.label, each.score]
    return cells + [None] * (2 * TOP_CLASSES - len(cells))


_CODE = re.compile(r"g?[0-9]{1,6}")

blueprint = Blueprint("run_examples", __name__)


@blueprint.get(f"{RUN}/examples")
def page(run_id: str) -> Response:
    address, notices = read_examples(run_id, request.args)
    if SENT_BY_FORM in request.args and not notices:
        return redirect(address.url())
    found, address = _answered(address, notices)
    return examples_view(found, address, notices)


@blueprint.post(f"{RUN}/examples")
@requires(Role.LABELER)
def propose(run_id: str) -> Response:
    """Add the reader's labels of the selected samples to the draft."""
    address, notices = read_examples(run_id, request.args)
    run = stored_run(run_id).run
    try:
        person = require_user_name()
        n = answer_from_form(project=run.project, dataset=run.dataset, person=person)
    except (Conflict, InvalidInput) as error:
        found, address = _answered(address, notices)
        answer = examples_view(found, address, notices, failure_of(error))
        answer.status_code = REFUSED
        return answer
    flash(f"{numbers.plural(n, 'label')} proposed.")
    return redirect(address.url(), 303)


@blueprint.get(f"{RUN}/cells/<actual>-<predicted>")
def cell(run_id: str, actual: str, predicted: str) -> Response:
    """Redirect from a cell by the codes of its classes or groups, which large matrices link to."""
    run = stored_run(run_id).run
    names = _named(run, actual), _named(run, predicted)
    return redirect(cell_url(run_id, *names, request.args.get("slice") or None))


def _named(run: RunHeader, code: str) -> str:
    if not _CODE.fullmatch(code):
        abort(404)
    groups = () if run.hierarchy is None else tuple(run.hierarchy.by_name)
    names = groups if code.startswith("g") else run.labels.names
    number = int(code.removeprefix("g"))
    if number >= len(names):
        what = "groups" if code.startswith("g") else "classes"
        raise NotFound(
            f"run {run.id} has {len(names)} {what}, and none with the number {number}.",
            field="cell",
            hint="They are counted from 0, in the order of the label set or hierarchy.",
        )
    return names[number]


@blueprint.get(f"{RUN}/examples.csv")
def examples_csv(run_id: str) -> Response:
    export, _ = _export(run_id)
    which = f"-first-{export.n_exported}" if export.n_exported < export.total else ""
    file_name = f"{run_id}-examples{which}"
    return csv_stream(file_name, example_columns(export), example_rows(export))


@blueprint.get(f"{RUN}/examples.json")
def examples_json(run_id: str) -> Response:
    export, address = _export(run_id)
    head = export_head(export, address.question)
    return json_stream(
        head, "examples", (records.Example.made_of(each).plain() for each in export.examples)
    )


def _answered(address: ExamplesAddress, notices: list[str]) -> tuple[ExamplePage, ExamplesAddress]:
    """The page, ignoring classes in the address that do not exist."""
    while True:
        try:
            found = browse_examples(
                current_registry().database,
                address.run_id,
                address.question,
                cursor=address.cursor,
                kept=kept_suspects(),
            )
        except InvalidInput as error:
            field = "part" if error.field == "slice" else error.field or ""
            name = getattr(address.question, field, None)
            if name is None:
                raise
            notices.append(f"No example can be {error.field} “{name}” here: {message_of(error)}")
            address = address.without(field)
        else:
            return found, address


def _export(run_id: str) -> tuple[ExampleExport, ExamplesAddress]:
    address = understood(read_examples(run_id, request.args))
    export = export_examples(current_registry().database, run_id, address.question)
    if isinstance(export, NoExamples):
        raise Conflict(
            f"run {run_id} has no predictions to list.",
            field="run",
            hint="Its page of examples says why.",
        )
    return export, address
