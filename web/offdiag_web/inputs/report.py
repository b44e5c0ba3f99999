"""The form of a report as it was typed: text in every field, kept whatever it means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from werkzeug.datastructures import MultiDict

from offdiag.reports.scope import DEFAULT_METRICS, RunTerm, TermField
from offdiag.services.delivery.targets import EmailTarget, FolderTarget, WebhookTarget
from offdiag.services.reports.conditions import alert_text
from offdiag.services.schedules.definitions import Definition

DEFAULT_CRON = "0 6 * * 1"
DEFAULT_ZONE = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedReport:
    """One text for each field; those of several entries hold one on each line.

    `dataset` is the id of a dataset. Addresses of webhooks are often secrets, so those that a
    report has already are not sent to browsers: `kept_webhooks` are their places, from 0.
    """

    name: str = ""
    dataset: str = ""
    model: str = ""
    name_contains: str = ""
    tags: str = ""
    baseline: str = ""
    slices: str = ""
    metrics: str = "\n".join(DEFAULT_METRICS)
    cost_matrix: str = ""
    alerts: str = ""
    cron: str = DEFAULT_CRON
    zone: str = DEFAULT_ZONE
    folders: str = ""
    emails: str = ""
    webhooks: str = ""
    kept_webhooks: tuple[str, ...] = ()


TEXT_FIELDS = tuple(name for name in TypedReport.__slots__ if name != "kept_webhooks")


def typed_report(form: MultiDict[str, str]) -> TypedReport:
    """What was sent; a field that is missing is empty."""
    # Browsers send line breaks as CR LF.
    texts = {name: form.get(name, "").replace("\r\n", "\n") for name in TEXT_FIELDS}
    return TypedReport(**texts, kept_webhooks=tuple(form.getlist("kept_webhooks")))


def typed_definition(definition: Definition, *, dataset_id: int | None) -> TypedReport:
    """A report as one would have typed it; all its webhooks are kept."""
    scope, targets = definition.scope, definition.targets
    return TypedReport(
        name=definition.name,
        dataset="" if dataset_id is None else str(dataset_id),
        model=_first(scope.terms, TermField.MODEL),
        name_contains=_first(scope.terms, TermField.NAME),
        tags=_lines(_tag(term) for term in scope.terms if term.field is TermField.TAG),
        baseline=scope.baseline or "",
        slices=_lines(scope.slices),
        metrics=_lines(scope.metrics),
        cost_matrix=scope.cost_matrix or "",
        alerts=_lines(map(alert_text, scope.alerts)),
        cron=definition.cron or DEFAULT_CRON,
        zone=definition.zone or DEFAULT_ZONE,
        folders=_lines(each.folder for each in targets if isinstance(each, FolderTarget)),
        emails=_lines(each.address for each in targets if isinstance(each, EmailTarget)),
        kept_webhooks=tuple(str(place) for place, _ in enumerate(webhooks_of(definition))),
    )


def webhooks_of(definition: Definition | None) -> tuple[WebhookTarget, ...]:
    """The webhooks that a report has already."""
    targets = () if definition is None else definition.targets
    return tuple(each for each in targets if isinstance(each, WebhookTarget))


def _first(terms: Sequence[RunTerm], field: TermField) -> str:
    """The form has one field for each of these, as the command line has one option."""
    return next((term.text for term in terms if term.field is field), "")


def _tag(term: RunTerm) -> str:
    return term.text if term.value is None else f"{term.text}={term.value}"


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts)
