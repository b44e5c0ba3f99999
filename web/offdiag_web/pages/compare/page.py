"""Comparison of runs, and lists of the examples they predict differently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from flask import Blueprint, Response, jsonify, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from offdiag.comparison.pair import PairedOutcome
from offdiag.domain.runs import PromotionRole, Task
from offdiag.errors import InvalidInput, NotFound
from offdiag.records.runs.comparison import compared_examples, comparison_document
from offdiag.services.champions.leaders import leaders_of
from offdiag.services.comparisons.compare import RunComparison, compare_runs
from offdiag.services.examples.changed import (
    EXAMPLES_PER_PAGE,
    ChangedExample,
    ChangedExamples,
    changed_examples,
)
from offdiag.store.database import Session
from offdiag.store.dataset_page import dataset_overview
from offdiag.store.datasets import dataset_named
from offdiag.store.promotions import promotions_in_force
from offdiag.store.run_costs import OtherRun, newest_runs
from offdiag.store.runs import get_run
from offdiag_web.app.context import current_registry, kept_best_sets, recent_comparisons
from offdiag_web.app.dispatch import DATA_FORMAT, requested_project
from offdiag_web.app.errors import message_of
from offdiag_web.app.exports import Cell, csv_response, json_response
from offdiag_web.app.parameters import understood
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, quoted_name
from offdiag_web.components.controls import Segment, paging
from offdiag_web.components.samples import SHOW, SampleLook, SampleLooks, sample_looks
from offdiag_web.pages.compare.export import (
    comparison_card,
    comparison_columns,
    comparison_markdown,
    comparison_rows,
)
from offdiag_web.pages.compare.pair import PAIRED_OUTCOME_TEXTS
from offdiag_web.pages.compare.runs import run_identities
from offdiag_web.pages.compare.view import choosing_view, compare_page, curves_view
from offdiag_web.urls.compare import (
    CompareAddress,
    is_sent_by_form,
    read_compare,
    read_paired_outcome,
)
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import read_start

MOST_RIVALS = 10
"""Most runs that are suggested for comparison with the chosen one."""
EXAMPLE_COLUMNS = ("sample", "actual", "a", "b", "a_confidence", "b_confidence")


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


def example_rows(found: ChangedExamples) -> Iterator[tuple[Cell, ...]]:
    return map(_row, found.examples)


def _row(example: ChangedExample) -> tuple[Cell, ...]:
    return (
        *(example.sample, example.actual, example.first, example.second),
        *(example.first_confidence, example.second_confidence),
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


blueprint = Blueprint("compare", __name__)


@blueprint.get("/compare")
def page() -> AnyResponse:
    address, notices = read_compare(request.args)
    if is_sent_by_form(request.args) and not notices:
        return redirect(address.url())
    newest, dataset = request.args.get("newest"), request.args.get("dataset")
    project = requested_project()
    if len(address.run_ids) < 2:
        if newest is not None and dataset:
            run_ids, notice = _newest_against(project, dataset, newest)
            if run_ids is not None:
                return redirect(CompareAddress(run_ids).url())
            notices.append(notice)
        with current_registry().database.read() as session:
            overview = dataset_overview(session)
            in_force = promotions_in_force(session, [facts.id for facts, _ in overview])
            rivals = _rivals(session, address)
        html = choosing_view(
            overview,
            address,
            notices,
            rivals=rivals,
            with_champion={at for at, of in in_force.items() if PromotionRole.CHAMPION in of},
        )
        return make_response(html)
    found, more = _compared(address)
    if more:
        address = replace(address, part=None)
    curves = curves_view(current_registry().database, found, address)
    if curves is not None and address.curves not in {None, curves.name}:
        notices.append(f"There is no class “{address.curves}” here.")
    return make_response(compare_page(found, address, notices + more, curves=curves))


@blueprint.get(f"/compare{DATA_FORMAT}")
def export(form: str) -> Response:
    found = _strictly_compared(understood(read_compare(request.args)))
    if form == "json":
        return json_response(comparison_document(found))
    return csv_response("comparison", comparison_columns(found), comparison_rows(found))


@blueprint.get("/compare/card.svg")
def card() -> Response:
    address, _ = read_compare(request.args)
    found = _strictly_compared(address)
    return Response(comparison_card(found, address), mimetype="image/svg+xml")


@blueprint.get("/compare.md")
def markdown() -> Response:
    address = understood(read_compare(request.args))
    link = f"{request.url_root.rstrip('/')}{address.url()}"
    text = comparison_markdown(_strictly_compared(address), link=link)
    return Response(text, mimetype="text/markdown")


@blueprint.get("/compare/examples")
def examples() -> AnyResponse:
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
def examples_export(form: str) -> Response:
    address = understood(read_compare(request.args))
    outcome = understood(read_paired_outcome(request.args.get("which")))
    label = request.args.get("class") or None
    found = _examples(address, outcome=outcome, class_label=label, start=0, size=None)
    if form == "json":
        return jsonify(compared_examples(found).plain())
    return csv_response(f"examples-{outcome.value}", EXAMPLE_COLUMNS, example_rows(found))


def _newest_against(project: str, dataset: str, rival: str) -> tuple[tuple[str, str] | None, str]:
    """The champion or best run of a dataset, and the newest one; or why there are none."""
    database = current_registry().database
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        newest = newest_runs(session, known.id, limit=1)
        champion = promotions_in_force(session, [known.id]).get(known.id, {})
    if not newest:
        return None, f"{dataset} has no evaluated runs."
    if rival == "champion":
        role = champion.get(PromotionRole.CHAMPION)
        other = None if role is None else role.run_id
    else:
        leaders = leaders_of(database, known, kept=kept_best_sets()).runs
        other = leaders[0].run.id if leaders else None
    if other is None:
        return None, f"{dataset} has no {rival} run yet."
    if other == newest[0].id:
        return None, f"The newest run of {dataset} is the {rival} run. Choose another to compare."
    return (other, newest[0].id), ""


def _rivals(session: Session, address: CompareAddress) -> tuple[OtherRun, ...]:
    """The newest other runs on the dataset of the chosen one."""
    if not address.run_ids:
        return ()
    (chosen,) = address.run_ids
    try:
        run = get_run(session, chosen)
    except NotFound:
        return ()
    newest = newest_runs(session, run.dataset_id, limit=MOST_RIVALS + 1)
    return tuple(each for each in newest if each.id != chosen)[:MOST_RIVALS]


def _compared(address: CompareAddress) -> tuple[RunComparison, list[str]]:
    """The comparison; if the slice cannot be applied, on all examples and with a notice."""
    try:
        return _strictly_compared(address), []
    except InvalidInput as error:
        if error.field != "slice":
            raise
        notice = f"The slice is not applied: {message_of(error)} All examples are shown."
        return _strictly_compared(replace(address, part=None)), [notice]


def _strictly_compared(address: CompareAddress) -> RunComparison:
    return compare_runs(
        current_registry().database,
        address.run_ids,
        slice_text=address.part,
        on_shared=address.on_shared,
        kept=recent_comparisons(),
    )


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
