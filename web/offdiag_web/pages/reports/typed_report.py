"""A report as typed into its form, and the report that it defines or all errors in it.

The text of every field is kept, valid or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from werkzeug.datastructures import MultiDict

from offdiag.domain.runs import require_name
from offdiag.domain.schedule import parse_cron, zone_of
from offdiag.domain.slices import parse_slice
from offdiag.errors import InvalidInput, OffdiagError
from offdiag.reports.scope import DEFAULT_METRICS, ReportScope, RunTerm, TermField, metric_of_runs
from offdiag.services.delivery.message import (
    EmailTarget,
    FolderTarget,
    NotifyTarget,
    Target,
    WebhookTarget,
)
from offdiag.services.reports.alerts import alert_condition, alert_text
from offdiag.services.schedules.edit import Definition
from offdiag.store.dataset_page import DatasetFacts
from offdiag_web.app.errors import sentence_of

MOST_CHARACTERS = 12_000
"""Most characters of a field; the form tells browsers the same limit."""
DEFAULT_CRON = "0 6 * * 1"
DEFAULT_ZONE = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedReport:
    """The text of each field; fields with several entries have one on each line.

    `dataset` is the id of a dataset. Addresses of webhooks are often secret, so the existing ones
    of a report are not sent to browsers: `kept_webhooks` are their indices, from 0.
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
    places: str = ""
    kept_webhooks: tuple[str, ...] = ()


TEXT_FIELDS = tuple(name for name in TypedReport.__slots__ if name != "kept_webhooks")


def typed_report(form: MultiDict[str, str]) -> TypedReport:
    """What was sent; a missing field is empty."""
    # Browsers send line breaks as CR LF.
    texts = {name: form.get(name, "").replace("\r\n", "\n") for name in TEXT_FIELDS}
    return TypedReport(**texts, kept_webhooks=tuple(form.getlist("kept_webhooks")))


def typed_definition(definition: Definition, *, dataset_id: int | None) -> TypedReport:
    """A report as if it had been typed; all its webhooks are kept."""
    scope, targets = definition.scope, definition.targets
    return TypedReport(
        name=definition.name,
        dataset="" if dataset_id is None else str(dataset_id),
        model=_first(scope.terms, TermField.MODEL),
        name_contains=_first(scope.terms, TermField.NAME),
        tags=_lines(
            (term.text if term.value is None else f"{term.text}={term.value}")
            for term in scope.terms
            if term.field is TermField.TAG
        ),
        baseline=scope.baseline or "",
        slices=_lines(scope.slices),
        metrics=_lines(scope.metrics),
        cost_matrix=scope.cost_matrix or "",
        alerts=_lines(map(alert_text, scope.alerts)),
        cron=definition.cron or DEFAULT_CRON,
        zone=definition.zone or DEFAULT_ZONE,
        folders=_lines(each.folder for each in targets if isinstance(each, FolderTarget)),
        emails=_lines(each.address for each in targets if isinstance(each, EmailTarget)),
        places=_lines(each.name for each in targets if isinstance(each, NotifyTarget)),
        kept_webhooks=tuple(str(place) for place, _ in enumerate(webhooks_of(definition))),
    )


def webhooks_of(definition: Definition | None) -> tuple[WebhookTarget, ...]:
    """The webhooks that a report already has."""
    targets = () if definition is None else definition.targets
    return tuple(each for each in targets if isinstance(each, WebhookTarget))


def _first(terms: Sequence[RunTerm], field: TermField) -> str:
    """The first term of a field; forms have one input for each, as commands have one option."""
    return next((term.text for term in terms if term.field is field), "")


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts)


Made = TypeVar("Made")
Errors = Mapping[str, Sequence[str]]
"""Sentences by the name of the field they are about, "" for the form as a whole."""

_FIELDS_OF_ERRORS = {
    "run": "baseline",
    "slice": "slices",
    "condition": "alerts",
    "label": "alerts",
    "key": "metrics",
    "folder": "folders",
    "email": "emails",
    "webhook": "webhooks",
    "notify": "places",
    "delivery": "emails",
}
"""Fields of the form for names used in errors, where those differ."""


@dataclass(frozen=True, slots=True)
class ReportForm:
    """A valid report from a form."""

    name: str
    scope: ReportScope
    targets: tuple[Target, ...]
    cron: str
    zone: str


@dataclass(slots=True)
class _Attempt:
    """Collects errors by field while values are read one by one."""

    errors: dict[str, list[str]] = field(default_factory=dict)

    def make(self, name: str, maker: Callable[[], Made]) -> Made | None:
        try:
            return maker()
        except InvalidInput as error:
            self.errors.setdefault(name, []).append(sentence_of(error))
            return None

    def each(self, name: str, text: str, maker: Callable[[str], Made]) -> tuple[Made, ...]:
        """One value for each line that is not empty."""
        found = [self.make(name, lambda line=line: maker(line)) for line in lines_of(text)]  # type: ignore[misc]
        return tuple(each for each in found if each is not None)


def read_report(
    typed: TypedReport,
    *,
    datasets: Sequence[DatasetFacts],
    webhooks: Sequence[WebhookTarget] = (),
    is_planned: bool = True,
) -> ReportForm | Errors:
    """The report that the form defines, or all errors.

    `webhooks` are those that the form may keep. If it is not planned, the cron expression is not
    checked.
    """
    attempt = _Attempt()
    for each in TEXT_FIELDS:
        attempt.make(each, partial(_require_fits, getattr(typed, each)))
    if attempt.errors:
        return attempt.errors
    name = attempt.make("name", lambda: require_name(typed.name.strip(), "name"))
    dataset = attempt.make("dataset", lambda: _dataset(typed.dataset, datasets))
    tags = attempt.each("tags", typed.tags, _tag_term)
    slices = attempt.each("slices", typed.slices, lambda line: str(parse_slice(line)))
    metrics = attempt.each("metrics", typed.metrics, _metric)
    alerts = attempt.each("alerts", typed.alerts, alert_condition)
    targets: tuple[Target, ...] = (
        *attempt.each("folders", typed.folders, FolderTarget),
        *attempt.each("emails", typed.emails, EmailTarget),
        *(hook for place, hook in enumerate(webhooks) if str(place) in typed.kept_webhooks),
        *attempt.each("webhooks", typed.webhooks, WebhookTarget),
        *attempt.each("places", typed.places, NotifyTarget),
    )
    if is_planned:
        attempt.make("cron", lambda: parse_cron(typed.cron))
    zone = typed.zone.strip()
    attempt.make("zone", lambda: zone_of(zone))
    if attempt.errors or name is None or dataset is None:
        return attempt.errors
    terms = (
        *tags,
        *_term(TermField.MODEL, typed.model),
        *_term(TermField.NAME, typed.name_contains),
    )
    try:
        scope = ReportScope(
            project=dataset.project,
            dataset=dataset.name,
            terms=terms,
            baseline=typed.baseline.strip() or None,
            slices=slices,
            metrics=metrics,
            alerts=alerts,
            cost_matrix=typed.cost_matrix.strip() or None,
        )
    except InvalidInput as error:
        return errors_of(error)
    return ReportForm(name, scope, targets, typed.cron, zone)


def errors_of(error: OffdiagError) -> Errors:
    """An error of a service, under the field that it is about."""
    about = _FIELDS_OF_ERRORS.get(error.field or "", error.field or "")
    return {about if about in TEXT_FIELDS else "": [sentence_of(error)]}


def lines_of(text: str) -> list[str]:
    """The lines that are not blank, stripped."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def _require_fits(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(
            f"it has {len(text):,} characters.",
            hint=f"A field has at most {MOST_CHARACTERS:,}.",
        )


def _dataset(typed: str, datasets: Sequence[DatasetFacts]) -> DatasetFacts:
    found = next((each for each in datasets if str(each.id) == typed), None)
    if found is None:
        raise InvalidInput("no dataset is chosen.", field="dataset", hint="Choose one.")
    return found


def _metric(key: str) -> str:
    return metric_of_runs(key, field="metrics").key


def _tag_term(line: str) -> RunTerm:
    key, separator, value = line.partition("=")
    return RunTerm(TermField.TAG, key.strip(), value.strip() if separator else None)


def _term(kind: TermField, typed: str) -> tuple[RunTerm, ...]:
    text = typed.strip()
    return (RunTerm(kind, text),) if text else ()
