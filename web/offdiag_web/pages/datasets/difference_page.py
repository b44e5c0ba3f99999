"""The page of what differs between two label versions of a dataset."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, make_response, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.metrics.counted import are_sets
from offdiag.records.datasets.truth import SAMPLE_COLUMNS, difference_document, sample_rows
from offdiag.services.truth.versions import (
    LabelDifference,
    Relabelled,
    TruthComparison,
    compare_truths,
)
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT, requested_project
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.charts.marks import share_bar
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, label_head
from offdiag_web.components.controls import paging
from offdiag_web.components.datasets import DATASET, VERSION, find_in_any_project
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import read_start

MOST_CLASSES = 12
"""Most classes in changes for which a table is readable."""


def relabelling_table(
    difference: LabelDifference, *, before: str, after: str
) -> dict[str, object] | None:
    """The table of all changes; None for sets of labels, or if no or too many classes changed."""
    counts = {(move.before, move.after): move.n for move in difference.moves}
    involved = {label for pair in counts for label in pair}
    of_sets = are_sets(difference.before)
    if of_sets or not involved or len(involved) > MOST_CLASSES:
        return None
    names = [name for name in difference.labels.names if name in involved]
    shown: list[str | None] = [*names, None] if None in involved else [*names]
    lines = tuple(
        (
            label_head(older),
            tuple(
                None if older == newer else numbers.count(counts.get((older, newer), 0))
                for newer in shown
            ),
            numbers.count(sum(counts.get((older, newer), 0) for newer in shown)),
        )
        for older in shown
    )
    return {
        "down": f"Label in {before}",
        "across": f"Label in {after}",
        "heads": tuple(label_head(label) for label in shown),
        "lines": lines,
        "totals": tuple(
            numbers.count(sum(counts.get((older, newer), 0) for older in shown)) for newer in shown
        ),
        "total": numbers.count(len(difference)),
    }


SAMPLES_PER_PAGE = 50
MOST_MOVES = 50
"""Most kinds of change that are listed; all are in the CSV."""


@dataclass(frozen=True, slots=True)
class Move:
    """How many samples went from one class to another."""

    before: ClassHead
    after: ClassHead
    count: str
    share: str
    bar: Markup


def difference_sentence(difference: LabelDifference) -> str:
    """ "12 labels differ: 10 corrected and 2 given for the first time."."""
    if not len(difference):
        return "No label differs."
    counted = (
        (difference.n_corrected, "corrected"),
        (difference.n_newly_labelled, "given for the first time"),
        (difference.n_unlabelled, "removed"),
    )
    kinds = [f"{numbers.count(n)} {words}" for n, words in counted if n]
    verb = "differs" if len(difference) == 1 else "differ"
    return f"{numbers.plural(len(difference), 'label')} {verb}: {numbers.listed(kinds)}."


def _move(move: Relabelled, total: int) -> Move:
    share = numbers.whole_percent(move.n, total)
    return Move(
        before=label_head(move.before),
        after=label_head(move.after),
        count=numbers.count(move.n),
        share=share,
        bar=share_bar(move.n / total, name=f"{share} of all changes"),
    )


blueprint = Blueprint("truth_difference", __name__)
find_in_any_project(blueprint)

_PATH = f"{DATASET}/truth/<{VERSION}:before>..<{VERSION}:after>"


@blueprint.get(_PATH)
def page(name: str, before: int, after: int) -> Response:
    start, notices = read_start(request.args)
    address = DatasetAddress(requested_project(), name)
    comparison = _compared(name, before, after)
    difference = comparison.difference
    revision = comparison.after
    pages = paging(
        len(difference),
        start,
        per_page=SAMPLES_PER_PAGE,
        words=("changed example", "changed examples"),
        url=lambda at: address.difference_url(before, after, start=at),
    )
    follows = revision.parent_id == comparison.before.id
    html = render_template(
        "datasets/difference.html",
        before=f"v{before}",
        after=f"v{after}",
        sentence=difference_sentence(difference),
        reason=revision.reason if follows else None,
        author=revision.author if follows else None,
        moves=tuple(_move(move, len(difference)) for move in difference.moves[:MOST_MOVES]),
        n_moves_hidden=max(len(difference.moves) - MOST_MOVES, 0),
        table=relabelling_table(difference, before=f"v{before}", after=f"v{after}"),
        samples=tuple(
            (str(sample.sample), label_head(sample.before), label_head(sample.after))
            for sample in difference.samples(pages.start, pages.end)
        ),
        sample_head="Position" if difference.ids is None else "Example",
        paging=pages,
        address=address,
        csv_url=address.difference_url(before, after, "csv"),
        json_url=address.difference_url(before, after, "json"),
        impact_url=address.impact_url(after),
        notices=notices,
    )
    return make_response(html)


@blueprint.get(f"{_PATH}{DATA_FORMAT}")
def export(name: str, before: int, after: int, form: str) -> Response:
    comparison = _compared(name, before, after)
    if form == "json":
        return json_response(
            difference_document(comparison, project=requested_project(), dataset=name)
        )
    file_name = f"changed-labels-v{before}-v{after}"
    return csv_response(file_name, SAMPLE_COLUMNS, sample_rows(comparison.difference))


def _compared(name: str, before: int, after: int) -> TruthComparison:
    return compare_truths(
        current_registry().database,
        project=requested_project(),
        dataset=name,
        before=before,
        after=after,
    )
