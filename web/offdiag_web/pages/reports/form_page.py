"""The form of a report, new or changed: its fields, errors, and a preview of the schedule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.domain.schedule import zone_names
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.errors import Conflict, InvalidInput, NotFound, Stale
from offdiag.reports.scope import MOST_CONDITIONS, MOST_METRICS, MOST_SLICES, ReportScope
from offdiag.services.delivery.message import MOST_TARGETS
from offdiag.services.reports.edition import report_now
from offdiag.services.schedules.edit import (
    Choices,
    Definition,
    add_schedule,
    change_schedule,
    report_choices,
    report_definition,
)
from offdiag.services.schedules.page import preview_plan
from offdiag_web.app.context import current_registry, name_project, requires
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.errors import REFUSED, sentence_of
from offdiag_web.app.forms import new_form, once
from offdiag_web.components.controls import Link, Option
from offdiag_web.pages.reports.page import REPORT
from offdiag_web.pages.reports.texts import due_texts
from offdiag_web.pages.reports.typed_report import (
    Errors,
    ReportForm,
    TypedReport,
    errors_of,
    read_report,
    typed_definition,
    typed_report,
    webhooks_of,
)
from offdiag_web.urls.query_string import LARGEST_VERSION, whole_number, with_query
from offdiag_web.urls.reports import NEW, ReportAddress

Kind = Literal["text", "lines"]


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field. `options` are suggestions; `errors` are sentences about it."""

    name: str
    label: str
    value: str
    hint: str
    kind: Kind = "text"
    errors: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    is_required: bool = False

    @property
    def id(self) -> str:
        return f"f-{self.name}"

    @property
    def n_lines(self) -> int:
        """Height of a multi-line field: its content and one more line."""
        return max(2, min(8, self.value.count("\n") + 2))


@dataclass(frozen=True, slots=True)
class NextTimes:
    """The next times of a schedule, or why it is invalid."""

    words: str
    times: tuple[str, ...]
    zone: str
    problem: str | None = None


def _next_times(typed: TypedReport) -> NextTimes:
    """Present the next times of a schedule, or why it is invalid."""
    try:
        plan = preview_plan(current_registry().database, cron=typed.cron, zone=typed.zone.strip())
    except InvalidInput as error:
        return NextTimes("", (), typed.zone, sentence_of(error))
    return NextTimes(plan.words, due_texts(plan.next_due_times), typed.zone)


def _summary(errors: Errors, fields: dict[str, FieldView]) -> tuple[Link, ...]:
    order = ["", "name", "dataset", *fields]
    names = sorted(errors, key=lambda name: order.index(name) if name in order else len(order))
    return tuple(
        Link(_labelled(name, text, fields), f"#f-{name}" if name else None)
        for name in names
        for text in errors[name]
    )


def _labelled(name: str, text: str, fields: dict[str, FieldView]) -> str:
    label = fields[name].label if name in fields else "Dataset" if name == "dataset" else None
    return text if label is None else f"{label}: {text}"


def _datasets(typed: TypedReport, choices: Choices) -> tuple[Option, ...]:
    return tuple(
        Option(
            str(each.id),
            each.name if each.project == DEFAULT_PROJECT else f"{each.name} ({each.project})",
            str(each.id) == typed.dataset,
        )
        for each in choices.datasets
    )


def _fields(typed: TypedReport, choices: Choices, errors: Errors) -> list[FieldView]:
    def made(name: str, label: str, hint: str, **more: object) -> FieldView:
        return FieldView(
            name,
            label,
            getattr(typed, name),
            hint,
            errors=tuple(errors.get(name, ())),
            **more,  # type: ignore[arg-type]  # other fields of FieldView
        )

    return [
        made(
            "name",
            "Name",
            "Editions with the same name are compared with each other.",
            is_required=True,
        ),
        made("model", "Model", "Only runs of this model; * matches any characters."),
        made("name_contains", "Run name contains", "Only runs whose name contains this."),
        made("tags", "Tags", "Only runs with these tags: key or key=value.", kind="lines"),
        made(
            "metrics",
            "Metrics",
            f"Keys, at most {MOST_METRICS}; runs are ranked by the first.",
            kind="lines",
            is_required=True,
        ),
        made(
            "alerts",
            "Alerts",
            "Warn if the whole interval is beyond a limit: recall[df]<0.5, mean_cost>0.7. "
            f"At most {MOST_CONDITIONS}.",
            kind="lines",
        ),
        made(
            "cost_matrix",
            "Cost matrix",
            "Adds the cost per 1,000 examples. “visits” is the newest version, “visits@3” the "
            "third.",
            options=tuple(sorted({each.name for each in choices.costs})),
        ),
        made("baseline", "Baseline", "Id of the run that the others are compared with."),
        made(
            "slices",
            "Slices",
            f"Slices in addition to all examples, such as country=DE; at most {MOST_SLICES}.",
            kind="lines",
        ),
        made(
            "cron",
            "Cron expression",
            "Minute, hour, day of month, month, day of week.",
            is_required=True,
        ),
        made(
            "zone",
            "Time zone",
            "Such as Europe/Ljubljana; times are local times there.",
            options=zone_names(),
            is_required=True,
        ),
        made(
            "folders",
            "Folders",
            f"Inside the reports folder, such as weekly. At most {MOST_TARGETS} targets in all.",
            kind="lines",
        ),
        made("emails", "E-mail addresses", "Addresses of people or lists.", kind="lines"),
        made(
            "webhooks",
            "Webhooks",
            "A signed summary is posted to these URLs. They are not shown in full again.",
            kind="lines",
        ),
        made(
            "places",
            "Notifications",
            "Names in the setting notify.targets (chats and other services), such as team.",
            kind="lines",
        ),
    ]


_ONCE, _PREVIEW = "once", "preview"

blueprint = Blueprint("report_form", __name__)

_MIB = 1024 * 1024


@blueprint.url_value_preprocessor
def take_full_fields(_endpoint: str | None, _values: dict[str, object] | None) -> None:
    """Allow all fields to be full of characters that are each sent as nine."""
    request.max_content_length = _MIB
    request.max_form_memory_size = _MIB


@blueprint.get(f"/reports/{NEW}")
@requires(Role.EDITOR)
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
        create = _create_now if action == _ONCE else _plan
        return redirect(once(lambda: create(found)), 303)
    except (InvalidInput, NotFound, Conflict) as error:
        return _shown(typed, choices, source=source, errors=errors_of(error))


@blueprint.get(f"{REPORT}/edit")
@requires(Role.EDITOR)
def edit(name: str) -> Response:
    database = current_registry().database
    known = report_definition(database, project=requested_project(), name=name)
    choices = _in_project(report_choices(database), known.scope.project)
    typed = typed_definition(known, dataset_id=_dataset_id(choices, known.scope))
    return _shown(typed, choices, changed=known, source=known, version=_version(known))


@blueprint.post(f"{REPORT}/edit")
def change(name: str) -> Response:
    database = current_registry().database
    typed, seen = replace(typed_report(request.form), name=name), request.form.get("version", "")
    choices = report_choices(database)
    try:
        known = report_definition(database, project=requested_project(), name=name)
    except NotFound as error:
        # It was deleted in the meantime; what was typed can become a new one.
        return _shown(typed, choices, errors=errors_of(error))
    choices = _in_project(choices, known.scope.project)
    # Until a change by others is reported, the form refers to the version that its user saw.
    shown = partial(_shown, typed, choices, changed=known, source=known)
    if request.form.get("action") == _PREVIEW:
        return shown(version=seen)
    found = read_report(typed, datasets=choices.datasets, webhooks=webhooks_of(known))
    if not isinstance(found, ReportForm):
        return shown(version=seen, errors=found)

    def save() -> str:
        _require_as_seen(known, seen)
        return _plan(found, seen)

    try:
        return redirect(once(save), 303)
    except (InvalidInput, NotFound, Conflict) as error:
        was_changed = isinstance(error, Stale)
        return shown(version=_version(known) if was_changed else seen, errors=errors_of(error))


def _version(known: Definition) -> str:
    return "" if known.version is None else str(known.version)


def _require_as_seen(known: Definition, seen: str) -> None:
    """Raise `Stale` if others created or deleted the schedule since the form was opened."""
    if bool(seen) != (known.version is not None):
        done, next_time = ("created", "replaces") if known.version else ("deleted", "creates")
        raise Stale(
            f"schedule {known.name!r} was {done} in the meantime.",
            field="name",
            hint=f"Look at its page; saving again {next_time} it.",
        )


def _plan(wanted: ReportForm, seen: str = "") -> str:
    """Add the schedule, or change the version of it that the user saw."""
    name_project(wanted.scope.project)
    save = add_schedule
    if seen:
        version = whole_number(seen, most=LARGEST_VERSION)
        save = partial(change_schedule, seen_version=version)
    save(
        current_registry().database,
        name=wanted.name,
        cron=wanted.cron,
        zone=wanted.zone,
        scope=wanted.scope,
        delivery=wanted.targets,
    )
    return ReportAddress(wanted.scope.project, wanted.name).url()


def _create_now(wanted: ReportForm) -> str:
    name_project(wanted.scope.project)
    asked = report_now(
        current_registry().database,
        name=wanted.name,
        scope=wanted.scope,
        delivery=wanted.targets,
        zone=wanted.zone,
    )
    return ReportAddress(wanted.scope.project, wanted.name).edition_url(asked.number)


def _source() -> Definition | None:
    """The report that the new one is copied from, if the address names one."""
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
    """The choices for an existing report, which stays in its project."""
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
    version: str = "",
) -> Response:
    """The form for a new report, which may be a copy of `source`, or for changes of one."""
    wrong = errors or {}
    fields = {each.name: each for each in _fields(typed, choices, wrong)}
    address = None if changed is None else ReportAddress(changed.scope.project, changed.name)
    html = render_template(
        "reports/form.html",
        fixed_name=None if changed is None else changed.name,
        version=version,
        fields=fields,
        datasets=_datasets(typed, choices),
        dataset_errors=tuple(wrong.get("dataset", ())),
        kept_webhooks=tuple(
            Option(str(place), hook.text, str(place) in typed.kept_webhooks)
            for place, hook in enumerate(webhooks_of(source))
        ),
        next_times=_next_times(typed),
        errors=_summary(wrong, fields),
        address=address,
        new_form=new_form(),
        own_url=_new_url() if address is None else address.action_url("edit"),
    )
    return make_response(html, REFUSED if errors else 200)


def _new_url() -> str:
    """The address of a new form, with the report that it is copied from."""
    asked = {"like": request.args.get("like"), "project": request.args.get("project")}
    return with_query(f"/reports/{NEW}", asked)
