"""The list of the examples that two runs predict differently, or both right or wrong."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Response, make_response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from offdiag.comparison.churn import PairedOutcome
from offdiag.domain.runs import Task
from offdiag.errors import InvalidInput
from offdiag.records.runs.comparison import ComparedExample, compared_examples
from offdiag.services.examples.changed import (
    EXAMPLES_PER_PAGE,
    ChangedExample,
    ChangedExamples,
    changed_examples,
)
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.parameters import understood
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, quoted_name
from offdiag_web.components.controls import Segment, paging
from offdiag_web.components.samples import SHOW, SampleLook, SampleLooks, sample_looks
from offdiag_web.pages.compare.pair import PAIRED_OUTCOME_TEXTS
from offdiag_web.pages.compare.runs import run_identities
from offdiag_web.urls.compare import CompareAddress, read_compare, read_paired_outcome
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import read_start

EXAMPLE_COLUMNS = tuple(ComparedExample.model_fields)


@dataclass(frozen=True, slots=True)
class ShownPrediction:
    """The prediction of a run, whether it is correct, and its confidence."""

    label: ClassHead
    is_right: bool
    confidence: str | None


@dataclass(frozen=True, slots=True)
class ExampleLine:
    """One example."""

    sample: str
    actual: ClassHead
    first: ShownPrediction
    second: ShownPrediction
    look: SampleLook


def examples_view(found: ChangedExamples, address: CompareAddress, notices: list[str]) -> str:
    of_class = "" if found.class_label is None else f" of {quoted_name(found.class_label)}"
    words = PAIRED_OUTCOME_TEXTS[found.outcome]
    dataset = DatasetAddress(found.runs[0].project, found.runs[0].dataset)
    looks = sample_looks(dataset, (each.sample for each in found.examples))
    return render_template(
        "compare/examples.html",
        address=address,
        outcome=found.outcome,
        notices=notices,
        title=f"Examples{of_class}, {words}",
        heading=f"{numbers.plural(found.total, 'example')}{of_class}: {words}",
        about=_about(found),
        runs=run_identities(found.runs, address),
        paired_outcomes=tuple(
            Segment(
                _segment_text(found, outcome),
                address.examples_url(outcome, class_label=found.class_label),
                outcome is found.outcome,
            )
            for outcome in PairedOutcome
        ),
        sample_head="Example" if found.has_ids else "Position",
        lines=tuple(_line(each, found.outcome, looks) for each in found.examples),
        has_scores=any(run.score_columns for run in found.runs)
        and found.runs[0].task is not Task.MULTILABEL,
        paging=paging(
            found.total,
            found.start,
            per_page=EXAMPLES_PER_PAGE,
            words=("example", "examples"),
            url=lambda start: address.examples_url(
                found.outcome, class_label=found.class_label, start=start
            ),
        ),
        class_label=found.class_label,
        all_classes_url=address.examples_url(found.outcome),
        back_url=address.url(),
        refusal=found.refusal,
        looks=looks,
        is_shown=request.args.get(SHOW) == "shown",
    )


def _about(found: ChangedExamples) -> str:
    """The dataset, and the slice of its examples that is shown."""
    parts = [found.runs[0].dataset]
    if found.part is not None:
        parts.append(f"slice {found.part}")
    if found.on_shared:
        parts.append("on the shared examples")
    return " · ".join(parts)


def _segment_text(found: ChangedExamples, outcome: PairedOutcome) -> str:
    if found.n_of_each is None:
        return PAIRED_OUTCOME_TEXTS[outcome]
    return f"{PAIRED_OUTCOME_TEXTS[outcome]} {numbers.count(found.n_of_each[outcome])}"


def _line(example: ChangedExample, outcome: PairedOutcome, looks: SampleLooks) -> ExampleLine:
    both = outcome is PairedOutcome.BOTH_RIGHT
    first, second = (
        both or outcome is PairedOutcome.ONLY_A,
        both or outcome is PairedOutcome.ONLY_B,
    )
    return ExampleLine(
        str(example.sample),
        class_head(example.actual),
        _answer(example.first, first, example.first_confidence),
        _answer(example.second, second, example.second_confidence),
        looks.of(example.sample),
    )


def _answer(label: str, is_right: bool, confidence: float | None) -> ShownPrediction:
    shown = None if confidence is None else numbers.metric(confidence)
    return ShownPrediction(class_head(label), is_right, shown)


blueprint = Blueprint("compare_examples", __name__)


@blueprint.get("/compare/examples")
def page() -> AnyResponse:
    address, notices = read_compare(request.args)
    outcome, unread = read_paired_outcome(request.args.get("which"))
    start, unplaced = read_start(request.args)
    class_label = request.args.get("class") or None
    notices += unread + unplaced
    try:
        found = _examples(address, outcome=outcome, class_label=class_label, start=start)
    except InvalidInput as error:
        if error.field != "class":
            raise
        notices.append(f"There is no class “{class_label}”; examples of all classes are shown.")
        found = _examples(address, outcome=outcome, class_label=None, start=start)
    return make_response(examples_view(found, address, notices))


@blueprint.get(f"/compare/examples{DATA_FORMAT}")
def export(form: str) -> Response:
    label = request.args.get("class") or None
    outcome, unread = read_paired_outcome(request.args.get("which"))
    address, notices = read_compare(request.args)
    understood((address, notices + unread))
    found = _examples(address, outcome=outcome, class_label=label, start=0, size=None)
    document = compared_examples(found)
    if form == "json":
        return json_response(document)
    rows = (example.row(EXAMPLE_COLUMNS) for example in document.examples)
    return csv_response(f"examples-{outcome.value}", EXAMPLE_COLUMNS, rows)


def _examples(
    address: CompareAddress,
    *,
    outcome: PairedOutcome,
    class_label: str | None,
    start: int,
    size: int | None = EXAMPLES_PER_PAGE,
) -> ChangedExamples:
    return changed_examples(
        current_registry().database,
        address.run_ids,
        outcome=outcome,
        class_label=class_label,
        slice_text=address.part,
        on_shared=address.on_shared,
        start=start,
        size=size,
    )
