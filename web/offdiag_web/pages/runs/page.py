"""The list of runs and its exports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from flask import Blueprint, jsonify, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.runs import PromotionRole, without_slices_text
from offdiag.domain.suggestions import unknown_model, unknown_name
from offdiag.filters.conditions import Condition
from offdiag.filters.ranges import out_of_range
from offdiag.records.runs.run_list import entry_row, run_columns
from offdiag.services.champions.dataset_status import KeptComparisons, statuses
from offdiag.services.champions.leaders import leaders_of, primary_metric
from offdiag.services.health import has_worker
from offdiag.settings.load import hide_password
from offdiag.store.database import Database, Session
from offdiag.store.dataset_page import DatasetFacts, dataset_size, models_by_first_run
from offdiag.store.datasets import get_dataset
from offdiag.store.promotions import Promotions, promotions_in_force
from offdiag.store.run_count import count_weighted
from offdiag.store.run_filter import FilterField, FilterTerm
from offdiag.store.run_list import (
    ListedDatasets,
    all_entries,
    listed_datasets,
    listed_metrics,
    run_list,
    run_overview,
)
from offdiag.store.run_list_by_dataset import run_groups
from offdiag.store.run_rows import RunEntry
from offdiag_web.app.context import current_registry, kept_best_sets, kept_drops
from offdiag_web.app.dispatch import SENT_BY_FORM
from offdiag_web.app.exports import csv_response
from offdiag_web.app.parameters import understood
from offdiag_web.app.preferences import keep_choice
from offdiag_web.components.controls import NO_WORKER, waits_for_worker
from offdiag_web.components.datasets import dataset_frame
from offdiag_web.components.runs.export import run_list_record
from offdiag_web.components.runs.rows import run_state
from offdiag_web.pages.runs.charts import MOST_CHARTED
from offdiag_web.pages.runs.columns import best_first, chosen_metrics
from offdiag_web.pages.runs.groups import run_groups_view
from offdiag_web.pages.runs.rows import MOST_GROUPED
from offdiag_web.pages.runs.view import Roles, run_list_view
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.run_list import (
    NEWEST_FIRST,
    RunListAddress,
    columns_text,
    read_columns,
    read_run_list,
    slice_columns,
)

COLUMNS_COOKIE = "run-columns"

blueprint = Blueprint("runs", __name__)


@blueprint.get("/runs")
@blueprint.get("/runs.<any(json, csv):form>")
def runs(form: str = "html") -> Response:
    database = current_registry().database
    address, notices = read_run_list(request.args, now=database.clock())
    if SENT_BY_FORM in request.args and not notices:
        return _kept_columns(redirect(address.url()), address)
    with database.read() as session:
        listed = listed_datasets(session, address.filter)
        if form != "html":
            if form == "csv":  # CSV has no place for terms that were ignored.
                notices += [
                    f"“{each.text}”: {each.problem}." for each in address.terms if each.problem
                ]
            return _export(session, listed, understood((address, notices)), form)
        conditions = (each.term for each in address.terms if isinstance(each.term, Condition))
        notices += [sentence for each in conditions for sentence in out_of_range(each)]
        if listed.scope is None:
            return _groups_page(session, listed, address, notices)
        return _list_page(session, listed, listed.scope, address, notices)


def _export(
    session: Session, listed: ListedDatasets, address: RunListAddress, form: str
) -> Response:
    """The list as data, newest first unless another order is requested.

    JSON has one page and the address of the next; CSV, which has no place for it, has all runs.
    """
    on_slices = slice_columns(address, address.columns)
    metrics = chosen_metrics(listed.scope, address.columns)
    if form == "csv":
        keys = tuple(dict.fromkeys((*listed_metrics(listed.datasets, listed.scope), *metrics)))
        entries = all_entries(
            session,
            terms=address.filter,
            dataset_id=None if listed.scope is None else listed.scope.id,
            order=address.order or NEWEST_FIRST,
            cursor=address.cursor,
            metrics=keys,
            on_slices=on_slices,
        )
        columns = tuple(dict.fromkeys((*keys, *map(str, on_slices))))
        rows = [entry_row(entry, columns) for entry in entries]
        return csv_response("runs", run_columns(columns), rows)
    overview = run_overview(
        session,
        terms=address.filter,
        order=address.order,
        cursor=address.cursor,
        metrics=metrics,
        on_slices=on_slices,
        baseline=address.baseline,
        listed=listed,
    )
    return jsonify(run_list_record(overview, address))


def _list_page(
    session: Session,
    listed: ListedDatasets,
    scope: DatasetFacts,
    address: RunListAddress,
    notices: list[str],
) -> Response:
    database = current_registry().database
    chosen = address.columns or read_columns({"cols": request.cookies.get(COLUMNS_COOKIE, "")}, [])
    on_slices = slice_columns(address, chosen)
    chosen = tuple(dict.fromkeys((*chosen, *map(str, on_slices))))
    roles = _roles(promotions_in_force(session, [scope.id]))
    champion = next((run for run, role in roles.items() if role is PromotionRole.CHAMPION), None)
    overview = run_overview(
        session,
        terms=address.filter,
        order=address.order or best_first(scope),
        cursor=address.cursor,
        metrics=(primary_metric(scope), *chosen_metrics(scope, chosen)),
        baseline=address.baseline or champion,
        listed=listed,
        limit=MOST_GROUPED if address.group else None,
        on_slices=on_slices,
    )
    if not overview.page.total and not address.terms:
        return _empty_page(database)
    if not overview.page.total:
        notices += _unknown_name(session, listed, address)
    notices += _no_worker(session, overview.page.entries)
    notices += _no_slices(overview.n_without_slices)
    charted: tuple[RunEntry, ...] = ()
    if address.form != "table":
        charted = run_list(
            session,
            terms=address.filter,
            dataset_id=scope.id,
            order=NEWEST_FIRST,
            cursor=None,
            limit=MOST_CHARTED,
            metrics=(primary_metric(scope), *chosen_metrics(scope, chosen)),
            on_slices=on_slices,
        ).entries
    dataset = get_dataset(session, scope.id)
    html = run_list_view(
        overview,
        address,
        scope,
        chosen=chosen,
        charted=charted,
        leaders=leaders_of(database, dataset, kept=kept_best_sets())
        if overview.page.entries
        else None,
        models=models_by_first_run(session, [scope.id]).get(scope.id, ()),
        roles=roles,
        notices=notices,
        dataset=dataset_frame(dataset, dataset_size(session, scope.id), current="runs"),
        now=database.clock(),
    )
    return make_response(html)


def _groups_page(
    session: Session,
    listed: ListedDatasets,
    address: RunListAddress,
    notices: list[str],
) -> Response:
    database, datasets = current_registry().database, listed.datasets
    found = run_groups(
        session,
        datasets,
        terms=address.filter,
        orders={each.id: address.order or best_first(each) for each in datasets},
        metrics={each.id: (*listed_metrics([each]), primary_metric(each)) for each in datasets},
    )
    if not found.total and not address.terms:
        return _empty_page(database)
    if not found.total:
        notices += _unknown_name(session, listed, address)
    notices += _no_worker(session, (each for group in found.groups for each in group.entries))
    if slice_columns(address, ()):
        notices += _no_slices(count_weighted(session, terms=address.filter, dataset_id=None))
    ids = [group.dataset.id for group in found.groups]
    in_force = promotions_in_force(session, ids)
    html = run_groups_view(
        found,
        address,
        datasets=datasets,
        models=models_by_first_run(session, ids),
        roles=_roles(in_force),
        statuses=statuses(
            session,
            [group.dataset for group in found.groups],
            in_force,
            kept=KeptComparisons(kept_best_sets(), kept_drops()),
        ),
        notices=notices,
        now=database.clock(),
    )
    return make_response(html)


def _unknown_name(session: Session, listed: ListedDatasets, address: RunListAddress) -> list[str]:
    """A notice that no project, dataset or model has the requested name."""
    wanted = {
        term.field: term.text
        for term in address.filter
        if isinstance(term, FilterTerm) and not term.negated
    }
    sentence = unknown_name(
        ((each.project, each.name) for each in listed.datasets),
        project=wanted.get(FilterField.PROJECT),
        dataset=wanted.get(FilterField.DATASET),
    )
    if sentence is None and (model := wanted.get(FilterField.MODEL)) is not None:
        models = models_by_first_run(session, [each.id for each in listed.datasets])
        known = {each for of_dataset in models.values() for each in of_dataset if each}
        sentence = unknown_model(model, sorted(known))
    return [] if sentence is None else [sentence]


def _no_worker(session: Session, entries: Iterable[RunEntry]) -> list[str]:
    """A notice if listed runs wait for a worker and none is running."""
    now = current_registry().database.clock()
    waits = any(waits_for_worker(each.state, run_state(each, now=now)) for each in entries)
    return [NO_WORKER] if waits and not has_worker(session) else []


def _no_slices(n_weighted: int) -> list[str]:
    """A notice that runs with sample weights are missing when slices are requested."""
    return [without_slices_text(n_weighted)] if n_weighted else []


def _roles(in_force: Mapping[int, Promotions]) -> Roles:
    """The role of each champion and candidate by run id; a run that is both is the champion."""
    found: dict[str, PromotionRole] = {}
    for of_dataset in in_force.values():
        for role in (PromotionRole.CANDIDATE, PromotionRole.CHAMPION):
            if role in of_dataset and (run_id := of_dataset[role].run_id) is not None:
                found[run_id] = role
    return found


@blueprint.get("/runs/as-baseline")
def as_baseline() -> Response:
    """Redirect to the list with the first selected run as the baseline of all marks."""
    address, _ = read_run_list(request.args, now=current_registry().database.clock())
    chosen, _ = read_run_list({"base": request.args.get("runs", "")})
    return redirect(replace(address, baseline=chosen.baseline).url())


@blueprint.get("/runs/as-champion")
def as_champion() -> Response:
    """Redirect to where the first selected run can be approved as champion of the dataset."""
    database = current_registry().database
    address, _ = read_run_list(request.args, now=database.clock())
    with database.read() as session:
        scope = listed_datasets(session, address.filter).scope
    if scope is None:
        return redirect(address.url())
    of_dataset = DatasetAddress(scope.project, scope.name)
    return redirect(of_dataset.approve_url(request.args.get("runs") or None))


def _kept_columns(response: Response, address: RunListAddress) -> Response:
    """Remember the columns if the chooser was sent, and forget them if it was reset."""
    if "reset" in request.args:
        response = redirect(replace(address, columns=()).url())
        response.delete_cookie(COLUMNS_COOKIE)
    elif "col" in request.args:
        keep_choice(response, COLUMNS_COOKIE, columns_text(address.columns))
    return response


def _empty_page(database: Database) -> Response:
    return make_response(render_template("runs/empty.html", database_url=_shown_url(database)))


def _shown_url(database: Database) -> str:
    """The URL to log to, for the example of an empty registry; without a password."""
    if database.path is not None:
        return f"sqlite:///{database.path.absolute()}"
    return hide_password(database.url)
