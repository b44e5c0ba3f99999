"""Runs beside each other, and the examples they answer differently."""

from __future__ import annotations

from dataclasses import replace

from flask import (
    Blueprint,
    Response,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from offdiag.comparison.pair import PairedOutcome
from offdiag.domain.runs import PromotionRole
from offdiag.errors import InvalidInput
from offdiag.records.comparison import compared_examples, comparison_document
from offdiag.services.champions.leaders import leaders_of
from offdiag.services.compare import RunComparison, compare_runs
from offdiag.services.examples.changed import (
    EXAMPLES_PER_PAGE,
    ChangedExamples,
    changed_examples,
)
from offdiag.services.truth.versions import dataset_named
from offdiag.store.dataset_page import dataset_overview
from offdiag.store.promotions import promotions_in_force
from offdiag.store.run_costs import newest_runs
from offdiag_web.app.context import current_registry, kept_best_sets, recent_comparisons
from offdiag_web.app.dispatch import TWIN, requested_project
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.pages.compare.examples import (
    EXAMPLE_COLUMNS,
    example_rows,
    examples_view,
)
from offdiag_web.pages.compare.export import (
    comparison_card,
    comparison_columns,
    comparison_markdown,
    comparison_rows,
)
from offdiag_web.pages.compare.view import choosing_view, compare_page, curves_view
from offdiag_web.urls.compare import (
    CompareAddress,
    is_sent_by_form,
    read_compare,
    read_paired_outcome,
)
from offdiag_web.urls.datasets import read_start

blueprint = Blueprint("compare", __name__)


@blueprint.get("/compare")
def page() -> AnyResponse:
    address, notices = read_compare(request.args)
    if is_sent_by_form(request.args) and not notices:
        return redirect(address.url())
    if len(address.run_ids) < 2:
        if "newest" in request.args and (dataset := request.args.get("dataset")):
            run_ids, notice = _newest_against(dataset, request.args["newest"])
            if run_ids is not None:
                return redirect(CompareAddress(run_ids).url())
            notices.append(notice)
        with current_registry().database.read() as session:
            overview = dataset_overview(session)
            in_force = promotions_in_force(session, [facts.id for facts, _ in overview])
        view = choosing_view(
            overview,
            address,
            with_champion={at for at, of in in_force.items() if PromotionRole.CHAMPION in of},
        )
        return make_response(render_template("compare/choose.html", view=view, notices=notices))
    found, more = _compared(address)
    if more:
        address = replace(address, part=None)
    return make_response(
        render_template(
            "compare/page.html",
            view=compare_page(
                found,
                address,
                run_url=_run_url,
                curves=curves_view(current_registry().database, found, address),
            ),
            address=address,
            notices=notices + more,
        )
    )


@blueprint.get(f"/compare{TWIN}")
def twin(form: str) -> Response:
    found = _strictly_compared(read_compare(request.args)[0])
    if form == "json":
        return json_response(comparison_document(found))
    return csv_response("comparison", comparison_columns(found), comparison_rows(found))


@blueprint.get("/compare/card.svg")
def card() -> Response:
    address, _ = read_compare(request.args)
    found = _strictly_compared(address)
    page = compare_page(found, address, run_url=_run_url, curves=None)
    return Response(comparison_card(found, page), mimetype="image/svg+xml")


@blueprint.get("/compare.md")
def markdown() -> Response:
    address, _ = read_compare(request.args)
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
        notices.append(f"There is no class “{class_label}”; these are the examples of all.")
        found = _examples(address, outcome=outcome, class_label=None, start=start)
    view = examples_view(found, address, run_url=_run_url)
    return make_response(
        render_template(
            "compare/examples.html",
            view=view,
            address=address,
            outcome=outcome,
            start=view.paging.start,
            notices=notices,
        )
    )


@blueprint.get(f"/compare/examples{TWIN}")
def examples_twin(form: str) -> Response:
    address, _ = read_compare(request.args)
    outcome, _ = read_paired_outcome(request.args.get("which"))
    label = request.args.get("class") or None
    found = _examples(address, outcome=outcome, class_label=label, start=0, size=None)
    if form == "json":
        return jsonify(compared_examples(found).plain())
    return csv_response(f"examples-{outcome.value}", EXAMPLE_COLUMNS, example_rows(found))


def _newest_against(dataset: str, rival: str) -> tuple[tuple[str, str] | None, str]:
    """The champion or the best run of a dataset, and the newest; or why there are none."""
    database = current_registry().database
    with database.read() as session:
        known = dataset_named(session, project=requested_project(), name=dataset)
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


def _compared(address: CompareAddress) -> tuple[RunComparison, list[str]]:
    """The comparison, on all examples where a slice cannot be meant, and then a notice."""
    try:
        return _strictly_compared(address), []
    except InvalidInput as error:
        if error.field != "slice":
            raise
        notice = f"This slice cannot be meant: {error.message} These are all examples."
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


def _run_url(run_id: str) -> str:
    return url_for("run_matrix.page", run_id=run_id)
