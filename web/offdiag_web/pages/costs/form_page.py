"""The form for new costs between the classes of a dataset, and for a new version of known ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.cost_names import CostName
from offdiag.domain.labels import LabelSet
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.metrics.costs.matrix import zero_one_costs
from offdiag.services.cost_matrices import add_costs, browse_cost_matrix, set_default_costs
from offdiag.store.cost_matrices import DatasetUse, dataset_uses
from offdiag.store.datasets import get_dataset
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import requested_project
from offdiag_web.components.costs.form import MOST_CLASSES
from offdiag_web.pages.costs.form import (
    CostFormView,
    ReadCosts,
    TypedCosts,
    cost_form_view,
    read_costs,
    typed_costs,
    typed_from,
)
from offdiag_web.pages.costs.page import COSTS
from offdiag_web.urls.costs import NEW, CostsAddress, new_costs_url, read_versions

blueprint = Blueprint("cost_form", __name__)

_REFUSED = 422
_MIB = 1 << 20
_CHECK = "check"


@dataclass(frozen=True)
class _Subject:
    """What a form is about: the classes of a dataset, and what it starts from."""

    project: str
    dataset: str
    labels: LabelSet
    start: TypedCosts
    title: str
    action: str
    cancel_url: str
    name_is_fixed: bool


@blueprint.url_value_preprocessor
def take_large_tables(_endpoint: str | None, _values: dict[str, object] | None) -> None:
    """A field for each cell and a table of many classes are more than other forms send."""
    request.max_content_length = 8 * _MIB
    request.max_form_memory_size = 8 * _MIB
    request.max_form_parts = 2_000


@blueprint.get(f"/costs/{NEW}")
def new() -> Response:
    dataset = request.args.get("dataset")
    known = _datasets()
    if not dataset and len(known) != 1:
        choices = [(use.dataset, new_costs_url(use.project, use.dataset)) for use in known]
        return make_response(render_template("costs/form_start.html", choices=choices))
    subject = _of_dataset(known, dataset or known[0].dataset)
    return _shown(subject, subject.start)


@blueprint.post(f"/costs/{NEW}")
def create() -> Response:
    known = _datasets()
    return _answer(_of_dataset(known, request.args.get("dataset") or ""))


@blueprint.get(f"{COSTS}/{NEW}")
def new_version(name: str) -> Response:
    subject = _of_version(name)
    return _shown(subject, subject.start)


@blueprint.post(f"{COSTS}/{NEW}")
def create_version(name: str) -> Response:
    return _answer(_of_version(name))


def _datasets() -> tuple[DatasetUse, ...]:
    """Datasets of the project, whose classes new costs may be about."""
    with current_registry().database.read() as session:
        return dataset_uses(session, project=requested_project())


def _of_dataset(known: tuple[DatasetUse, ...], name: str) -> _Subject:
    found = next((use for use in known if use.dataset == name), None)
    if found is None:
        raise NotFound(
            f"project {requested_project()!r} has no dataset {name!r}.",
            field="dataset",
            hint="A dataset is made by the first run that is logged on it.",
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
    version, _, _ = read_versions(request.args)
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
    )


def _answer(subject: _Subject) -> Response:
    file = request.files.get("file")
    uploaded = file.read().decode("utf-8-sig", "replace") if file is not None else ""
    typed = typed_costs(request.form, uploaded=uploaded)
    if subject.name_is_fixed:
        typed = replace(typed, name=subject.start.name)
    read = read_costs(typed, subject.labels)
    if read.costs is None:
        return _shown(subject, typed, read=read, status=_REFUSED)
    if request.form.get("action") == _CHECK:
        # The table moves into the fields, if there are any, where it can be looked at.
        cells = typed_from(read.costs, name=typed.name).cells
        has_fields = len(subject.labels) <= MOST_CLASSES
        checked = replace(typed, cells=cells, table="" if has_fields else typed.table)
        return _shown(subject, checked, read=read)
    return _saved(subject, typed, read)


def _saved(subject: _Subject, typed: TypedCosts, read: ReadCosts) -> Response:
    database = current_registry().database
    assert read.costs is not None  # noqa: S101  # Costs that cannot be read are not saved.
    try:
        record = add_costs(
            database,
            project=subject.project,
            dataset=subject.dataset,
            name=typed.name,
            weights=read.costs.weights,
            currency=read.costs.currency,
            note=typed.note or None,
            author=typed.author or None,
        )
        if request.form.get("default"):
            set_default_costs(
                database,
                project=subject.project,
                dataset=subject.dataset,
                wanted=CostName(record.name, record.version),
            )
    except (InvalidInput, Conflict) as error:
        errors = {error.field or "": f"{error.message} {error.hint or ''}".strip()}
        return _shown(subject, typed, read=read, errors=errors, status=_REFUSED)
    return redirect(CostsAddress(record.project, record.name, record.version).url(), 303)


def _shown(
    subject: _Subject,
    typed: TypedCosts,
    *,
    read: ReadCosts | None = None,
    errors: dict[str, str] | None = None,
    status: int = 200,
) -> Response:
    view: CostFormView = cost_form_view(
        typed,
        subject.labels,
        read=read,
        before=subject.start,
        title=subject.title,
        action=subject.action,
        cancel_url=subject.cancel_url,
        dataset=subject.dataset,
        name_is_fixed=subject.name_is_fixed,
        is_default=bool(request.form.get("default")),
        errors=errors,
    )
    response = make_response(render_template("costs/form.html", view=view))
    response.status_code = status
    return response
