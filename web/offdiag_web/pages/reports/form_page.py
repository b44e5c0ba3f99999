"""The form for a new report, and for changing one."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.reports.scope import ReportScope
from offdiag.services.delivery.message import WebhookTarget
from offdiag.services.reports.edition import report_now
from offdiag.services.schedules.edit import (
    Choices,
    Definition,
    add_schedule,
    change_schedule,
    report_choices,
    report_definition,
)
from offdiag.services.schedules.page import PlanPreview, preview_plan
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.errors import sentence_of
from offdiag_web.pages.reports.fields import (
    Errors,
    ReportForm,
    TypedReport,
    errors_of,
    read_report,
    typed_definition,
    typed_report,
    webhooks_of,
)
from offdiag_web.pages.reports.form import form_view
from offdiag_web.pages.reports.page import REPORT
from offdiag_web.urls.query_string import with_query
from offdiag_web.urls.reports import NEW, ReportAddress

_REFUSED = 422
_ONCE, _PREVIEW = "once", "preview"

blueprint = Blueprint("report_form", __name__)


@blueprint.get(f"/reports/{NEW}")
def new() -> Response:
    choices = report_choices(current_registry().database)
    source = _source()
    return _shown(_first_typed(choices, source), choices, source=source)


@blueprint.post(f"/reports/{NEW}")
def create() -> Response:
    database = current_registry().database
    choices, typed, source = report_choices(database), typed_report(request.form), _source()
    action = request.form.get("action")
    if action == _PREVIEW:
        return _shown(typed, choices, source=source)
    found = read_report(
        typed,
        datasets=choices.datasets,
        webhooks=webhooks_of(source),
        is_planned=action != _ONCE,
    )
    if not isinstance(found, ReportForm):
        return _shown(typed, choices, source=source, errors=found)
    try:
        return redirect(_create_once(found) if action == _ONCE else _plan(found), 303)
    except (InvalidInput, NotFound, Conflict) as error:
        return _shown(typed, choices, source=source, errors=errors_of(error))


@blueprint.get(f"{REPORT}/edit")
def edit(name: str) -> Response:
    database = current_registry().database
    known = report_definition(database, project=requested_project(), name=name)
    choices = _in_project(report_choices(database), known.scope.project)
    typed = typed_definition(known, dataset_id=_dataset_id(choices, known.scope))
    return _shown(typed, choices, changed=known, source=known)


@blueprint.post(f"{REPORT}/edit")
def change(name: str) -> Response:
    database = current_registry().database
    known = report_definition(database, project=requested_project(), name=name)
    choices = _in_project(report_choices(database), known.scope.project)
    typed = replace(typed_report(request.form), name=name)
    if request.form.get("action") == _PREVIEW:
        return _shown(typed, choices, changed=known, source=known)
    found = read_report(typed, datasets=choices.datasets, webhooks=webhooks_of(known))
    if not isinstance(found, ReportForm):
        return _shown(typed, choices, changed=known, source=known, errors=found)
    try:
        return redirect(_plan(found) if known.version is None else _change(found), 303)
    except (InvalidInput, NotFound, Conflict) as error:
        return _shown(typed, choices, changed=known, source=known, errors=errors_of(error))


def _plan(wanted: ReportForm) -> str:
    add_schedule(
        current_registry().database,
        name=wanted.name,
        cron=wanted.cron,
        zone=wanted.zone,
        scope=wanted.scope,
        delivery=wanted.targets,
    )
    return ReportAddress(wanted.scope.project, wanted.name).url()


def _change(wanted: ReportForm) -> str:
    seen = request.form.get("version", "")
    change_schedule(
        current_registry().database,
        name=wanted.name,
        cron=wanted.cron,
        zone=wanted.zone,
        scope=wanted.scope,
        delivery=wanted.targets,
        seen_version=int(seen) if seen.isascii() and seen.isdigit() else None,
    )
    return ReportAddress(wanted.scope.project, wanted.name).url()


def _create_once(wanted: ReportForm) -> str:
    asked = report_now(
        current_registry().database,
        name=wanted.name,
        scope=wanted.scope,
        delivery=wanted.targets,
        zone=wanted.zone,
    )
    return ReportAddress(wanted.scope.project, wanted.name).edition_url(asked.number)


def _source() -> Definition | None:
    """The report that the new one shall be like, if the address names one."""
    like = request.args.get("like")
    if not like:
        return None
    return report_definition(current_registry().database, project=requested_project(), name=like)


def _first_typed(choices: Choices, source: Definition | None) -> TypedReport:
    if source is not None:
        typed = typed_definition(source, dataset_id=_dataset_id(choices, source.scope))
        return replace(typed, name=f"{source.name} (copy)")
    wanted = request.args.get("dataset")
    project = requested_project()
    named = [
        each for each in choices.datasets if (each.project, each.name) == (project, wanted)
    ] or (list(choices.datasets) if len(choices.datasets) == 1 else [])
    return TypedReport(dataset=str(named[0].id) if named else "")


def _in_project(choices: Choices, project: str) -> Choices:
    """The choices for a report that exists: it stays in its project."""
    return Choices(
        tuple(each for each in choices.datasets if each.project == project),
        tuple(each for each in choices.costs if each.project == project),
    )


def _dataset_id(choices: Choices, scope: ReportScope) -> int | None:
    return next(
        (
            each.id
            for each in choices.datasets
            if (each.project, each.name) == (scope.project, scope.dataset)
        ),
        None,
    )


def _shown(
    typed: TypedReport,
    choices: Choices,
    *,
    source: Definition | None = None,
    changed: Definition | None = None,
    errors: Errors | None = None,
) -> Response:
    webhooks: tuple[WebhookTarget, ...] = webhooks_of(source)
    view = form_view(
        typed,
        choices,
        preview=_preview(typed),
        errors=errors or {},
        fixed_name=None if changed is None else changed.name,
        version=None if changed is None else changed.version,
        webhooks=webhooks,
    )
    address = None if changed is None else ReportAddress(changed.scope.project, changed.name)
    response = make_response(
        render_template(
            "reports/form.html",
            form=view,
            address=address,
            own_url=_new_url() if address is None else address.action_url("edit"),
        )
    )
    if errors:
        response.status_code = _REFUSED
    return response


def _new_url() -> str:
    """The address of a new form, with the report that it is to be like."""
    asked = {"like": request.args.get("like"), "project": request.args.get("project")}
    return with_query(f"/reports/{NEW}", asked)


def _preview(typed: TypedReport) -> PlanPreview | str:
    try:
        return preview_plan(current_registry().database, cron=typed.cron, zone=typed.zone.strip())
    except InvalidInput as error:
        return sentence_of(error)
