"""Slices of a run: which are worse than the rest, and the recall of each class in each.

Fairness between the groups of a column is assessed for one class, on request.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from flask import Blueprint, request
from werkzeug.wrappers import Response

from offdiag.domain.slices import column_text, slice_of, slice_text
from offdiag.errors import OffdiagError
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.slices.finder import ACCURACY, RECALL, SUBSET_ACCURACY, SliceFindings
from offdiag.metrics.slices.gaps import SLOPES
from offdiag.records.base import Value
from offdiag.records.runs.slices import (
    MOST_GAPS,
    SLICE_COLUMNS,
    Fairness,
    FairnessOfClass,
    SlicesQuery,
    fairness_document,
    run_slices,
    slice_gap,
)
from offdiag.services.evaluation.slice_counts import N_CROSSED, RunFindings, slice_findings
from offdiag.services.fairness import fairness_of_run
from offdiag.services.small_groups import suppressed_below
from offdiag_web.app.context import current_registry
from offdiag_web.app.errors import sentence_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.parameters import refuse_unread
from offdiag_web.components import numbers
from offdiag_web.components.controls import Segment
from offdiag_web.components.metric_values import with_interval
from offdiag_web.components.runs.frame import RUN, results_of, run_page, stored_run
from offdiag_web.components.slices import SliceLine, slice_lines, statement
from offdiag_web.pages.run_slices.heat import Heat, class_heat, cross_heat
from offdiag_web.urls.query_string import one_of, with_query


@dataclass(frozen=True, slots=True)
class FairnessView:
    """The columns that can be chosen, and the result for one of them.

    `refused` says why there is no result; if no column is chosen, both are empty.
    """

    columns: tuple[str, ...]
    by: str = ""
    label: str = ""
    criteria: tuple[tuple[str, str, str], ...] = ()
    rate_names: tuple[str, ...] = ()
    groups: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""


def fairness_view(run_id: str, columns: Sequence[str], by: str, label: str) -> FairnessView:
    """The criteria for a class between the groups of a column; without one, only the columns."""
    names = tuple(columns)
    if by not in names:
        return FairnessView(names)
    try:
        found = fairness_document(
            fairness_of_run(current_registry().database, run_id, by, class_label=label)
        )
    except OffdiagError as error:
        return FairnessView(names, by, label, refused=sentence_of(error))
    if not found.classes:
        return FairnessView(names, by, label, refused=" ".join(found.left_out()))
    return _presented(names, found, found.classes[0])


def _presented(columns: tuple[str, ...], found: Fairness, of: FairnessOfClass) -> FairnessView:
    specs = CATALOGUE[Scope.PER_CLASS]
    return FairnessView(
        columns,
        found.by,
        of.class_label,
        criteria=tuple(
            (each.criterion.name_in_words.capitalize(), _text(each.difference), _text(each.ratio))
            for each in of.criteria
        ),
        rate_names=tuple(specs[key].title for key in of.rates),
        groups=tuple(
            (name, numbers.count(n), tuple(_text(each[name]) for each in of.rates.values()))
            for name, n in found.groups.items()
        ),
        notes=(*([of.conflict] if of.conflict else []), *found.left_out(), found.leaves_out),
    )


def _text(value: Value) -> str:
    """ "0.233 (0.005 – 0.427)", or the reason if it is undefined."""
    found = value.measured()
    return with_interval(found) or found.undefined_text


LINES = 12
MOST_CONDITIONS = 3
KINDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("", "All", ()),
    (RECALL, "Recall", (RECALL,)),
    ("accuracy", "Accuracy", (ACCURACY, SUBSET_ACCURACY)),
    ("averages", "Averages", tuple(SLOPES)),
)
"""Which metrics are listed: the value in the query, the text, and the keys."""


@dataclass(frozen=True, slots=True)
class Cross:
    """Two columns crossed for one class, and the other choices."""

    heat: Heat
    label: str
    columns: str
    classes: tuple[str, ...]
    pairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThreeColumns:
    """Columns of which three can be crossed, those chosen, and their worst crosses."""

    names: tuple[str, ...]
    chosen: tuple[str, ...]
    lines: tuple[SliceLine, ...]
    n_tests: int


blueprint = Blueprint("run_slices", __name__)


@blueprint.get(f"{RUN}/slices")
def page(run_id: str) -> Response:
    detail = stored_run(run_id)
    found = None
    if detail.results:
        found = slice_findings(current_registry().database, run_id, detail.results.counted)
    notices: list[str] = []
    return run_page(
        "run_slices/page.html",
        detail,
        "slices",
        view=None if found is None else _view(run_id, found, notices),
        hidden_below=suppressed_below() if detail.results else 0,
        notices=notices,
    )


@blueprint.get(f"{RUN}/slices.json")
def slices_json(run_id: str) -> Response:
    query = _query()
    return json_response(run_slices(run_id, _findings(run_id, query), query))


@blueprint.get(f"{RUN}/slices.csv")
def slices_csv(run_id: str) -> Response:
    """All gaps; JSON, which says how many tests were made, has the worst `MOST_GAPS`."""
    findings = _findings(run_id, _query())
    rows = (
        ()
        if findings is None
        else (slice_gap(gap, findings.labels).row(SLICE_COLUMNS) for gap in findings.found.worst())
    )
    return csv_response(f"{run_id}-slices", SLICE_COLUMNS, rows)


def _query() -> SlicesQuery:
    columns = ",".join(request.args.getlist("across")) or None
    refuse_unread()
    return SlicesQuery(limit=MOST_GAPS, columns=columns)


def _findings(run_id: str, query: SlicesQuery) -> RunFindings | None:
    results = results_of(stored_run(run_id))
    database = current_registry().database
    return slice_findings(database, run_id, results.counted, columns=query.crossed)


def _view(run_id: str, findings: RunFindings, notices: list[str]) -> dict[str, object]:
    """Present the slices. Invalid parameters of the query are added to `notices`."""
    found, labels = findings.found, findings.labels
    kinds = {name: of for name, _, of in KINDS if name}
    chosen = one_of(request.args.get("show"), tuple(kinds), "kind of metrics", notices) or ""
    keys = kinds.get(chosen, ())
    names = tuple(name for name, _ in found.counts.columns)
    by = one_of(request.args.get("by"), names, "slice column", notices) or ""
    label = request.args.get("class", "")
    if label not in labels:
        if label:
            notices.append(f"There is no class “{label[:40]}” here.")
        worst = next(iter(found.worst(1, (RECALL,))), None)
        label = labels[0 if worst is None or worst.code is None else worst.code]
    path = f"/runs/{run_id}/slices"
    is_weighted = found.question.is_weighted
    return {
        "said": statement(found, labels),
        "kinds": tuple(
            Segment(text, with_query(path, {"show": name or None}), name == chosen)
            for name, text, of in KINDS
            if not of or any(key in of for key, _ in found.metrics)
        ),
        "lines": slice_lines(found, run_id, labels, limit=LINES, keys=keys or None),
        "n_tests": found.n_tests,
        "n_significant": found.n_found,
        "n_left_out": found.counts.n_left_out,
        "heat": None if is_weighted else class_heat(found, run_id, labels),
        "cross": None if is_weighted else _cross(found, run_id, labels, label, notices),
        "three": None if is_weighted else _three(found, run_id, notices),
        "classes": tuple(labels),
        "fairness": None if is_weighted else fairness_view(run_id, names, by, label),
        "conditions": _conditions(found, labels),
        "formats": (("CSV", f"{path}.csv"), ("JSON", f"{path}.json")),
    }


def _three(found: SliceFindings, run_id: str, notices: list[str]) -> ThreeColumns | None:
    """Three crossed columns, if the query names them."""
    names = tuple(name for name, _ in found.counts.columns)
    if len(names) < N_CROSSED:
        return None
    chosen = tuple(dict.fromkeys(request.args.getlist("across")))
    if not all(one_of(each, names, "slice column", notices) for each in chosen):
        chosen = ()
    if len(chosen) != N_CROSSED:
        return ThreeColumns(names, names[:N_CROSSED], (), 0)
    crossed = slice_findings(current_registry().database, run_id, columns=chosen)
    if crossed is None:
        return ThreeColumns(names, chosen, (), 0)
    lines = slice_lines(crossed.found, run_id, crossed.labels, limit=LINES, n_terms=N_CROSSED)
    return ThreeColumns(names, chosen, lines, crossed.found.n_tests)


def _conditions(found: SliceFindings, labels: Sequence[str]) -> tuple[str, ...]:
    """Conditions that the recall on a slice is at most 10 points below the rest."""
    return tuple(
        shlex.quote(
            f"recall[{column_text(labels[gap.code])}]@{slice_text(slice_of(gap.terms))}"
            f">={max(0.0, gap.rest - 0.1):.2f}"
        )
        for gap in found.worst(MOST_CONDITIONS, (RECALL,))
        if gap.is_significant and gap.code is not None
    )


def _cross(
    found: SliceFindings, run_id: str, labels: Sequence[str], label: str, notices: list[str]
) -> Cross | None:
    """A class by the two columns of the query, or by those of the worst slice."""
    names = [name for name, _ in found.counts.columns]
    pairs = {f"{one} × {other}": (one, other) for one, other in combinations(names, 2)}
    if not pairs:
        return None
    columns = one_of(request.args.get("columns"), tuple(pairs), "pair of columns", notices)
    if columns is None:
        worst = next(iter(found.worst(1, (RECALL,))), None)
        of_worst = [] if worst is None else [name for name, _ in worst.terms]
        columns = next((text for text, pair in pairs.items() if set(of_worst) <= set(pair)), "")
    code = labels.index(label)
    heat = cross_heat(found, run_id, labels, code, pairs[columns])
    return Cross(heat, label, columns, tuple(labels), tuple(pairs))
