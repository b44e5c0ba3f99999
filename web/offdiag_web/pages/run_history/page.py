"""How a run was evaluated over time, label version by label version."""

from __future__ import annotations

from flask import Blueprint
from werkzeug.wrappers import Response

from offdiag.domain.values import MetricValue
from offdiag.records.runs.evaluation import (
    HISTORY_COLUMNS,
    HistoryResponse,
    history_answer,
    history_rows,
)
from offdiag.services.evaluation.history import HistoryEntry, RunHistory, browse_history
from offdiag.store.evaluations import PastEvaluation
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.components.datasets import difference_text, titles_for
from offdiag_web.components.metric_values import Notes, ShownValue, interval_text, shown
from offdiag_web.components.runs.frame import RUN, run_page

MOST_EVALUATIONS = 100
"""Most evaluations shown, newest first; all are in the JSON and the CSV."""
_ABSENT = MetricValue(None, reason="not_computed")


def _differed(entry: HistoryEntry, before: PastEvaluation | None) -> str:
    if before is None:
        return "first evaluation"
    return "; ".join(entry.differences) or "none recorded"


def _cell(
    key: str, each: PastEvaluation, before: PastEvaluation | None, notes: Notes
) -> tuple[ShownValue, str | None, str | None]:
    """A value, its interval, and how it differs from the previous evaluation."""
    value = each.metrics.get(key, _ABSENT)
    difference = None
    if before is not None:
        difference = difference_text(key, before.metrics.get(key, _ABSENT), value)
    return shown(value, notes), interval_text(value), difference


blueprint = Blueprint("run_history", __name__)


@blueprint.get(f"{RUN}/history")
def page(run_id: str) -> Response:
    history = _history(run_id)
    notes = Notes()
    latest: dict[str | None, PastEvaluation] = {}
    lines = []
    titles = titles_for(history.detail.run.task)
    for entry in history.entries:
        each = entry.evaluation
        before = latest.get(each.slice)
        values = [_cell(key, each, before, notes) for key in titles]
        lines.append((each, _differed(entry, before), values))
        latest[each.slice] = each
    newest_first = tuple(reversed(lines))
    is_cut = len(newest_first) > MOST_EVALUATIONS
    return run_page(
        "run_history/page.html",
        history.detail,
        "history",
        titles=tuple(titles.values()),
        lines=newest_first[:MOST_EVALUATIONS],
        cut=f"Only the newest {MOST_EVALUATIONS} evaluations are shown." if is_cut else None,
        notes=tuple(notes.texts),
    )


@blueprint.get(f"{RUN}/history.json")
def history_json(run_id: str) -> Response:
    return json_response(_newest_first(run_id))


@blueprint.get(f"{RUN}/history.csv")
def history_csv(run_id: str) -> Response:
    return csv_response(f"{run_id}-history", HISTORY_COLUMNS, history_rows(_newest_first(run_id)))


def _history(run_id: str) -> RunHistory:
    return browse_history(current_registry().database, run_id)


def _newest_first(run_id: str) -> HistoryResponse:
    return history_answer(run_id, reversed(_history(run_id).entries))
