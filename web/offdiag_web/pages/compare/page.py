"""Comparison of runs."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, Response, make_response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from offdiag.domain.runs import PromotionRole
from offdiag.errors import InvalidInput, NotFound
from offdiag.records.runs.comparison import comparison_document
from offdiag.services.champions.leaders import leaders_of
from offdiag.services.comparisons.compare import RunComparison, compare_runs
from offdiag.store.database import Session
from offdiag.store.dataset_page import dataset_overview
from offdiag.store.datasets import dataset_named
from offdiag.store.evaluations import aggregates_by_matrix
from offdiag.store.promotions import promotions_in_force
from offdiag.store.run_costs import OtherRun, newest_runs
from offdiag.store.runs import get_run
from offdiag_web.app.context import current_registry, kept_best_sets, recent_comparisons
from offdiag_web.app.dispatch import DATA_FORMAT, requested_project
from offdiag_web.app.errors import message_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.parameters import understood
from offdiag_web.pages.compare.export import (
    StoredValues,
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
)

MOST_RIVALS = 10
"""Most runs that are suggested for comparison with the chosen one."""
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
    stored: StoredValues = {}
    if len(found.runs) > 2:
        with current_registry().database.read() as session:
            stored = aggregates_by_matrix(session, [run.id for run in found.runs])
    return csv_response("comparison", comparison_columns(found), comparison_rows(found, stored))


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
