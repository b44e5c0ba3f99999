"""What a typed report means, or everything that is wrong with it, field by field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from offdiag.domain.runs import require_name
from offdiag.domain.schedule import parse_cron, zone_of
from offdiag.domain.slices import parse_slice
from offdiag.errors import InvalidInput, OffdiagError
from offdiag.reports.scope import ReportScope, RunTerm, TermField, metric_of_runs
from offdiag.services.delivery.targets import EmailTarget, FolderTarget, Target, WebhookTarget
from offdiag.services.reports.conditions import alert_condition
from offdiag.store.dataset_page import DatasetFacts
from offdiag_web.inputs.report import TEXT_FIELDS, TypedReport

Made = TypeVar("Made")
Errors = Mapping[str, Sequence[str]]
"""Sentences by the name of the field they belong to, "" for the form as a whole."""

_FIELDS_OF_ERRORS = {
    "run": "baseline",
    "slice": "slices",
    "condition": "alerts",
    "label": "alerts",
    "key": "metrics",
    "folder": "folders",
    "email": "emails",
    "webhook": "webhooks",
    "delivery": "emails",
}
"""Fields of the form by what errors call them, where that is another name."""


@dataclass(frozen=True, slots=True)
class WantedReport:
    """A report that can be asked for."""

    name: str
    scope: ReportScope
    targets: tuple[Target, ...]
    cron: str
    zone: str


@dataclass(slots=True)
class _Attempt:
    """Values are made one by one; what fails is noted with its field and the rest goes on."""

    errors: dict[str, list[str]] = field(default_factory=dict)

    def make(self, name: str, maker: Callable[[], Made]) -> Made | None:
        try:
            return maker()
        except InvalidInput as error:
            self.errors.setdefault(name, []).append(sentence(error))
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
) -> WantedReport | Errors:
    """The report that is meant, else all errors.

    `webhooks` are those that the form may keep. Without a plan nothing is asked of the
    expression.
    """
    attempt = _Attempt()
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
    return WantedReport(name, scope, targets, typed.cron, zone)


def errors_of(error: OffdiagError) -> Errors:
    """An error of a service, at the field that it is about."""
    about = _FIELDS_OF_ERRORS.get(error.field or "", error.field or "")
    return {about if about in TEXT_FIELDS else "": [sentence(error)]}


def sentence(error: OffdiagError) -> str:
    """What is wrong and what helps."""
    text = f"{error.message[:1].upper()}{error.message[1:]}"
    return text if error.hint is None else f"{text} {error.hint}"


def lines_of(text: str) -> list[str]:
    """The lines that are not empty, without blanks around them."""
    return [line.strip() for line in text.split("\n") if line.strip()]


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
