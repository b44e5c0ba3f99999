"""Schedules, editions and deliveries in words, and the history of a metric as a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.domain.schedule import due_text
from offdiag.domain.sentences import name
from offdiag.metrics import metric_text
from offdiag.reports.charts import axis_of
from offdiag.reports.report import HistoryPoint
from offdiag.reports.scope import ReportScope, terms_text
from offdiag.services.health import SILENT_AFTER_S
from offdiag.services.reports.page import ReportsPage
from offdiag.services.schedules.due import DueTime
from offdiag.store.deliveries import DeliveryRecord, DeliveryState
from offdiag.store.reports import EditionRecord, EditionState
from offdiag_web.charts.svg import Scale
from offdiag_web.charts.trend import trend
from offdiag_web.components import numbers
from offdiag_web.components.controls import Chip, Tone, spell, spell_short
from offdiag_web.components.metric_values import extent_of
from offdiag_web.urls.reports import ReportAddress

_EDITION_WORDS: Mapping[EditionState, tuple[str, Tone]] = {
    EditionState.PENDING: ("being created", "busy"),
    EditionState.COMPUTED: ("done", "good"),
    EditionState.FAILED: ("failed", "error"),
}
_DELIVERY_WORDS: Mapping[DeliveryState, tuple[str, Tone]] = {
    DeliveryState.PENDING: ("being sent", "busy"),
    DeliveryState.SENT: ("sent", "good"),
    DeliveryState.FAILED: ("not sent", "error"),
    DeliveryState.REFUSED: ("refused", "warning"),
}


def scope_words(scope: ReportScope, baselines: Mapping[str, str]) -> tuple[str, ...]:
    """The filters of a report and what else it covers, without the dataset.

    `baselines` maps ids of runs to names.
    """
    words = [terms_text(scope.terms)] if scope.terms else []
    words += [f"slice {text}" for text in scope.slices]
    if scope.baseline is not None:
        words.append(f"against {name(baselines.get(scope.baseline, scope.baseline))}")
    if scope.cost_matrix is not None:
        words.append(f"costs by {name(scope.cost_matrix)}")
    return tuple(words)


def scheduler_chip(page: ReportsPage) -> Chip:
    """Whether a scheduler is running."""
    if page.has_scheduler:
        return Chip(f"scheduler healthy, heartbeat {spell(page.schedulers[0].age_s)} ago", "good")
    if page.schedulers:
        return Chip(f"no scheduler heartbeat for {spell(page.schedulers[0].age_s)}", "error")
    return Chip(f"no scheduler seen in the last {spell(SILENT_AFTER_S)}", "warning")


def due_texts(fires: Sequence[DueTime]) -> tuple[str, ...]:
    """Times in their zone."""
    return tuple(f"{fire.wall:%a %d %b %Y %H:%M}" for fire in fires)


def delivery_chip(delivery: DeliveryRecord) -> Chip:
    """The state of a delivery, apart from the computation."""
    return Chip(*_DELIVERY_WORDS[delivery.state])


def _sent_chips(deliveries: Sequence[DeliveryRecord]) -> tuple[Chip, ...]:
    """The number of deliveries in each state."""
    counted = {
        state: sum(delivery.state is state for delivery in deliveries) for state in DeliveryState
    }
    return tuple(
        Chip(f"{numbers.count(n)} {_DELIVERY_WORDS[state][0]}", _DELIVERY_WORDS[state][1])
        for state, n in counted.items()
        if n
    )


@dataclass(frozen=True, slots=True)
class Missed:
    """Times before an edition that no scheduler handled: a line of their own, never a gap."""

    chip: Chip
    text: str


def missed_times(edition: EditionRecord) -> Missed | None:
    """The earlier times that an edition stands for."""
    if not edition.covers_missed:
        return None
    return Missed(
        Chip("missed", "warning"),
        f"{numbers.plural(edition.covers_missed, 'earlier time')} missed: no scheduler was up; "
        f"edition {edition.number} stands for {'it' if edition.covers_missed == 1 else 'them'}.",
    )


@dataclass(frozen=True, slots=True)
class EditionLine:
    """An edition in a list; `missed` are times before it that no scheduler handled.

    `said` is its first sentence, or the most informative line of its error. `retry_url` is None
    unless it failed.
    """

    edition: EditionRecord
    url: str
    fire_time: str
    state: Chip
    said: str | None
    missed: Missed | None
    took: str | None
    sent: tuple[Chip, ...]
    not_sent: str
    retry_url: str | None


def edition_line(
    edition: EditionRecord, deliveries: Sequence[DeliveryRecord], address: ReportAddress
) -> EditionLine:
    """An edition with its deliveries, by the address of its report."""
    done = edition.computed_at
    has_failed = edition.state is EditionState.FAILED
    return EditionLine(
        edition,
        url=address.edition_url(edition.number),
        fire_time=due_text(edition.fire_time),
        state=Chip(*_EDITION_WORDS[edition.state]),
        said=edition.headline if edition.error is None else last_line(edition.error),
        missed=missed_times(edition),
        took=None if done is None else spell_short((done - edition.created_at).total_seconds()),
        sent=_sent_chips(deliveries),
        not_sent="nothing yet"
        if edition.state is not EditionState.COMPUTED and edition.delivery
        else "stored here",
        retry_url=address.retry_url(edition.number) if has_failed else None,
    )


def last_line(error: str) -> str:
    """The most informative line of an error."""
    lines = error.strip().splitlines()
    return lines[-1] if lines else "no error was reported"


@dataclass(frozen=True, slots=True)
class Line:
    """A chart of the best value of each edition, with heading and note."""

    heading: str
    mark: Markup
    note: str


def history_line(history: Sequence[HistoryPoint], scope: ReportScope) -> Line | None:
    """The chart for at least two editions; one point is no line."""
    metric = scope.ranking_metric
    values = [
        None if point.value is None else metric_text.printed(metric, point.value)
        for point in history
    ]
    known = [value for value in values if value is not None and value.value is not None]
    if len(history) < 2 or not known:
        return None
    axis = axis_of(known)
    title = f"Best {metric_text.title_inside(metric)}"
    last = values[-1]
    latest = (
        "no value in the last edition"
        if last is None or last.value is None
        else f"{metric_text.with_interval(last)} in edition {history[-1].number}"
    )
    return Line(
        heading=f"{title} of each edition",
        mark=trend(
            [extent_of(value) for value in values],
            scale=Scale(axis.ticks[0], axis.ticks[-1]),
            name=f"{title} in each of {numbers.plural(len(history), 'edition')}; {latest}",
        ),
        note=f"Editions {history[0].number} to {history[-1].number}, each with its 95 % interval; "
        f"{latest}. A gap is an edition without an evaluated run.",
    )
