"""The form for costs between the classes of a dataset: new ones, or a new version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from flask import Blueprint, make_response, redirect, render_template, request
from numpy.typing import NDArray
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import Task
from offdiag.domain.texts import CostName
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.inputs.files.costs import read_cost_table
from offdiag.metrics.costs.edits import cost_text, read_cost
from offdiag.metrics.costs.matrix import CostMatrix, check_costs, cost_matrix, zero_one_costs
from offdiag.services.cost_matrices import add_costs, browse_cost_matrix
from offdiag.store.cost_matrices import DatasetUse, dataset_uses
from offdiag.store.datasets import get_dataset
from offdiag_web.app.auth import may_send
from offdiag_web.app.context import current_registry, name_project, requires
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.errors import REFUSED, sentence_of
from offdiag_web.app.preferences import form_author
from offdiag_web.components.costs.form import (
    MOST_CLASSES,
    PASSED,
    CostGrid,
    GridCell,
    field_grid,
    warning_texts,
)
from offdiag_web.urls.costs import (
    COSTS,
    NEW,
    CostsAddress,
    new_costs_url,
    read_versions,
)
from offdiag_web.urls.query_string import LARGEST_VERSION, whole_number

_CELL = re.compile(r"w(\d{1,5})\.(\d{1,5})", re.ASCII)


@dataclass(frozen=True)
class TypedCosts:
    """The text of each field. `cells` are those of the grid by codes; `table` is a pasted or
    uploaded table, which takes precedence over the cells."""

    name: str = ""
    currency: str = ""
    note: str = ""
    author: str = ""
    cells: Mapping[tuple[int, int], str] = field(default_factory=dict)
    table: str = ""


@dataclass(frozen=True)
class ReadCosts:
    """The costs, or None and what is wrong: sentences by field, "" for the form as a whole."""

    costs: CostMatrix | None
    errors: Mapping[str, str] = field(default_factory=dict)


def typed_costs(form: Mapping[str, str], *, uploaded: str = "") -> TypedCosts:
    """What was sent; a missing field is empty."""
    cells = {}
    for name, text in form.items():
        found = _CELL.fullmatch(name)
        if found is not None:
            cells[int(found[1]), int(found[2])] = text.strip()
    return TypedCosts(
        **{name: form.get(name, "").strip() for name in ("name", "currency", "note", "author")},
        cells=cells,
        table=uploaded or form.get("table", ""),
    )


def typed_from(costs: CostMatrix, *, name: str) -> TypedCosts:
    """A cost matrix as if it had been typed, without note and author."""
    return TypedCosts(
        name=name,
        currency=costs.currency or "",
        cells={
            (actual, predicted): cost_text(cost)
            for actual, row in enumerate(costs.weights.tolist())
            for predicted, cost in enumerate(row)
        },
    )


def read_costs(typed: TypedCosts, labels: LabelSet) -> ReadCosts:
    """The costs that were typed between these classes."""
    weights: Mapping[str, Mapping[str, float]] | NDArray[np.float64]
    if typed.table.strip():
        try:
            weights = read_cost_table(typed.table, labels)
        except InvalidInput as error:
            return ReadCosts(None, {"table": sentence_of(error)})
        where = "table"
    else:
        size = len(labels)
        read = {
            (actual, predicted): read_cost(typed.cells.get((actual, predicted), ""))
            for actual in range(size)
            for predicted in range(size)
        }
        broken = [cell for cell, cost in read.items() if cost is None]
        if broken:
            return ReadCosts(None, {"cells": _broken_text(typed, broken, labels)})
        weights = np.array([read[cell] for cell in sorted(read)]).reshape(size, size)
        where = "cells"
    try:
        return ReadCosts(cost_matrix(weights, labels=labels, currency=typed.currency or None))
    except InvalidInput as error:
        name = "currency" if error.field == "currency" else where
        return ReadCosts(None, {name: sentence_of(error)})


def _broken_text(typed: TypedCosts, broken: list[tuple[int, int]], labels: LabelSet) -> str:
    actual, predicted = broken[0]
    typed_text = typed.cells.get((actual, predicted), "")
    shown = f"“{typed_text[:20]}”" if typed_text else "empty"
    n_more = len(broken) - 1
    more = f" ({n_more} more {'is' if n_more == 1 else 'are'} marked)" if n_more else ""
    return (
        f"The cost of actual “{labels.names[actual]}” predicted as “{labels.names[predicted]}” "
        f"is {shown}{more}. Enter a number, with a point before the decimals."
    )


blueprint = Blueprint("cost_form", __name__)

_MIB = 1 << 20
_CHECK = "check"
_SEEN = "seen"


@dataclass(frozen=True)
class _Subject:
    """What a form is about: the classes of a dataset, and the costs it starts from."""

    project: str
    dataset: str
    labels: LabelSet
    start: TypedCosts
    title: str
    action: str
    cancel_url: str
    name_is_fixed: bool
    newest: str = ""
    notices: tuple[str, ...] = ()


@blueprint.url_value_preprocessor
def take_large_tables(_endpoint: str | None, _values: dict[str, object] | None) -> None:
    """Accept large requests, for a field per cell or a table of many classes."""
    request.max_content_length = 8 * _MIB
    request.max_form_memory_size = 8 * _MIB
    request.max_form_parts = 2_000


@blueprint.get(f"/costs/{NEW}")
@requires(Role.EDITOR)
def new() -> Response:
    dataset = request.args.get("dataset")
    known = _datasets(requested_project() if dataset else request.args.get("project"))
    if not dataset:
        single = [use for use in known if use.task != Task.MULTILABEL]
        urls = {new_costs_url(use.project, use.dataset): use for use in single}
        choices = {url: use for url, use in urls.items() if may_send(url)}
        if len(choices) != 1:
            return make_response(render_template("costs/form_start.html", choices=choices))
        known = tuple(choices.values())
    subject = _of_dataset(known, dataset or known[0].dataset)
    return _shown(subject, subject.start)


@blueprint.post(f"/costs/{NEW}")
def create() -> Response:
    known = _datasets(requested_project())
    return _answer(_of_dataset(known, request.args.get("dataset") or ""))


@blueprint.get(f"{COSTS}/{NEW}")
@requires(Role.EDITOR)
def new_version(name: str) -> Response:
    subject = _of_version(name)
    return _shown(subject, subject.start)


@blueprint.post(f"{COSTS}/{NEW}")
def create_version(name: str) -> Response:
    return _answer(_of_version(name))


def _datasets(project: str | None) -> tuple[DatasetUse, ...]:
    """Datasets of a project, or of all, whose classes new costs may be for."""
    with current_registry().database.read() as session:
        return dataset_uses(session, project=project)


def _of_dataset(known: tuple[DatasetUse, ...], name: str) -> _Subject:
    found = next((use for use in known if use.dataset == name), None)
    if found is None:
        raise NotFound(
            f"project {requested_project()!r} has no dataset {name!r}.",
            field="dataset",
            hint="Logging a run creates its dataset.",
        )
    with current_registry().database.read() as session:
        dataset = get_dataset(session, found.dataset_id)
    return _Subject(
        project=dataset.project,
        dataset=dataset.name,
        labels=dataset.labels,
        start=typed_from(zero_one_costs(dataset.labels), name=""),
        title="New cost matrix",
        action=new_costs_url(dataset.project, dataset.name),
        cancel_url="/costs",
        name_is_fixed=False,
    )


def _of_version(name: str) -> _Subject:
    version, _, notices = read_versions(request.args)
    detail = browse_cost_matrix(
        current_registry().database, project=requested_project(), name=name, version=version
    )
    shown = detail.shown
    label_set = next(each.label_set_id for each in detail.versions if each.id == shown.id)
    dataset = next(use.dataset for use in detail.datasets if use.label_set_id == label_set)
    address = CostsAddress(shown.project, name, version)
    return _Subject(
        project=shown.project,
        dataset=dataset,
        labels=shown.costs.labels,
        start=typed_from(shown.costs, name=name),
        title=f"New version of {name}",
        action=address.new_version_url(),
        cancel_url=address.url(),
        name_is_fixed=True,
        newest=str(CostName(name, max(each.version for each in detail.versions))),
        notices=tuple(notices),
    )


def _answer(subject: _Subject) -> Response:
    file = request.files.get("file")
    uploaded = file.read().decode("utf-8-sig", "replace") if file is not None else ""
    typed = typed_costs(request.form, uploaded=uploaded)
    if subject.name_is_fixed:
        typed = replace(typed, name=subject.start.name)
    read = read_costs(typed, subject.labels)
    if read.costs is None:
        return _shown(subject, typed, read=read)
    if request.form.get("action") == _CHECK:
        # Move the table into the fields, if there are any, where it can be checked.
        cells = typed_from(read.costs, name=typed.name).cells
        has_fields = len(subject.labels) <= MOST_CLASSES
        checked = replace(typed, cells=cells, table="" if has_fields else typed.table)
        return _shown(subject, checked, read=read)
    return _saved(subject, typed, read)


def _saved(subject: _Subject, typed: TypedCosts, read: ReadCosts) -> Response:
    name_project(subject.project)
    assert read.costs is not None  # noqa: S101  # Invalid costs are not saved.
    try:
        record = add_costs(
            current_registry().database,
            project=subject.project,
            dataset=subject.dataset,
            name=typed.name,
            weights=read.costs.weights,
            currency=read.costs.currency,
            note=typed.note or None,
            author=form_author(),
            seen=_seen(subject, typed.name),
            as_default=bool(request.form.get("default")),
        )
    except (InvalidInput, Conflict) as error:
        errors = {error.field or "": sentence_of(error)}
        newer = ""
        if isinstance(error, Conflict) and error.field == "name":
            found = browse_cost_matrix(
                current_registry().database, project=subject.project, name=typed.name
            )
            newer = str(CostName(typed.name, found.shown.version))
        return _shown(subject, typed, read=read, errors=errors, newer=newer)
    return redirect(CostsAddress(record.project, record.name, record.version).url(), 303)


def _seen(subject: _Subject, name: str) -> int | None:
    """The newest version of a name that the reader knows of, 0 for none."""
    of, _, number = request.form.get(_SEEN, "").rpartition("@")
    seen = whole_number(number, most=LARGEST_VERSION) if of == name else None
    return 0 if seen is None and not subject.name_is_fixed else seen


def _shown(
    subject: _Subject,
    typed: TypedCosts,
    *,
    read: ReadCosts | None = None,
    errors: Mapping[str, str] | None = None,
    newer: str = "",
) -> Response:
    """The form. `read` is the meaning of its fields, if that was requested; `newer` is the newer
    version that led to a refusal, as NAME@2."""
    labels, costs = subject.labels, None if read is None else read.costs
    wrong = {**(errors or {}), **({} if read is None else read.errors)}
    html = render_template(
        "costs/form.html",
        subject=subject,
        typed=typed,
        seen=newer or request.form.get(_SEEN, subject.newest),
        newer=newer,
        newer_url=CostsAddress(subject.project, typed.name).url() if newer else None,
        grid=_grid(typed, subject, shows_wrong="cells" in wrong),
        errors=wrong,
        passed=None if costs is None else PASSED,
        warnings=() if costs is None else warning_texts(check_costs(costs), labels),
        is_default=bool(request.form.get("default")),
    )
    return make_response(html, REFUSED if wrong else 200)


def _grid(typed: TypedCosts, subject: _Subject, *, shows_wrong: bool) -> CostGrid | None:
    """The fields, with what has changed in them."""

    def cell(actual: int, predicted: int) -> GridCell:
        before = subject.start.cells.get((actual, predicted), "")
        value = typed.cells.get((actual, predicted), "")
        is_wrong = shows_wrong and read_cost(value) is None
        return GridCell(actual, predicted, value, before, before, is_wrong)

    return field_grid(subject.labels.names, range(len(subject.labels)), cell)
