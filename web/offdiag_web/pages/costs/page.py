"""The list of cost matrices, and the page of each with its versions and changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, jsonify, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.texts import DEFAULT_PROJECT, CostName
from offdiag.metrics.costs.matrix import changed_costs
from offdiag.services.cost_matrices import CostDetail, browse_cost_matrix, set_default_costs
from offdiag.store.cost_matrices import CostMatrixRecord, CostOverview, CostVersion, cost_overview
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT, requested_project
from offdiag_web.app.exports import Cell, csv_response
from offdiag_web.components import numbers
from offdiag_web.pages.costs.view import cost_page_view
from offdiag_web.urls.costs import COSTS, CostsAddress, new_costs_url, read_versions

COST_COLUMNS = (
    *("name", "version", "project", "n_classes", "currency", "author", "created_at", "note"),
    *("default_of", "reports"),
)


def default_of(overview: CostOverview, each: CostVersion) -> list[str]:
    """Datasets that use this version."""
    return [use.dataset for use in overview.datasets if use.cost_matrix_id == each.id]


def reports_of(overview: CostOverview, each: CostVersion) -> list[str]:
    """Reports that name this version, or always use the newest one."""
    named = (each.name, f"{each.name}@{each.version}")
    return [
        use.report
        for use in overview.reports
        if use.project == each.project and use.costs in named
    ]


def _uses_text(datasets: Sequence[str], reports: Sequence[str]) -> str:
    words = []
    if datasets:
        words.append(f"default of {numbers.listed([numbers.shortened(d) for d in datasets])}")
    if reports:
        kind = "report" if len(reports) == 1 else "reports"
        words.append(f"{kind} {numbers.listed([numbers.shortened(r) for r in reports])}")
    return "; ".join(words)


def cost_records(overview: CostOverview) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "version": each.version,
            "project": each.project,
            "n_classes": each.n_classes,
            "currency": each.currency,
            "author": each.author,
            "created_at": each.created_at.isoformat(),
            "note": each.note,
            "default_of": default_of(overview, each),
            "reports": reports_of(overview, each),
            "url": CostsAddress(each.project, each.name).url("json"),
        }
        for each in overview.newest
    ]


def cost_rows(overview: CostOverview) -> list[tuple[Cell, ...]]:
    """The list for the CSV export, in the order of `COST_COLUMNS`."""
    return [
        tuple(
            "; ".join(value) if isinstance(value := record[column], list) else value
            for column in COST_COLUMNS
        )
        for record in cost_records(overview)
    ]


CORNER = "actual \\ predicted"
"""The corner of the CSV, which the form for a new version can read."""


def cost_record(detail: CostDetail) -> dict[str, object]:
    """One version with what it changed, and all versions without their costs."""
    before = detail.before
    return {
        **detail.shown.to_dict(),
        "changed_from": None
        if before is None
        else {
            "version": before.version,
            "cells": [
                {
                    "actual": change.actual,
                    "predicted": change.predicted,
                    "before": change.before,
                    "after": change.after,
                }
                for change in changed_costs(before.costs, detail.shown.costs)
            ],
        },
        "versions": [
            {
                "version": each.version,
                "author": each.author,
                "note": each.note,
                "created_at": each.created_at.isoformat(),
            }
            for each in detail.versions
        ],
        "default_of": [
            {"dataset": use.dataset, "cost_matrix_id": use.cost_matrix_id}
            for use in detail.datasets
            if use.cost_matrix_id in {each.id for each in detail.versions}
        ],
        "reports": [{"report": use.report, "costs": use.costs} for use in detail.reports],
    }


def cost_columns(record: CostMatrixRecord) -> tuple[str, ...]:
    return (CORNER, *record.costs.labels.names)


def cost_grid_rows(record: CostMatrixRecord) -> list[tuple[Cell, ...]]:
    """One line for each actual class."""
    return [
        (name, *row)
        for name, row in zip(record.costs.labels.names, record.costs.weights.tolist(), strict=True)
    ]


blueprint = Blueprint("costs", __name__)


@blueprint.get("/costs")
def page() -> Response:
    database = current_registry().database
    with database.read() as session:
        overview = cost_overview(session)
    html = render_template(
        "costs/page.html",
        lines=[
            (
                each,
                CostsAddress(each.project, each.name).url(),
                _uses_text(default_of(overview, each), reports_of(overview, each)),
            )
            for each in overview.newest
        ],
        new_url=new_costs_url(DEFAULT_PROJECT),
    )
    return make_response(html)


@blueprint.get(f"/costs{DATA_FORMAT}")
def export(form: str) -> Response:
    with current_registry().database.read() as session:
        overview = cost_overview(session)
    if form == "json":
        return jsonify(cost_matrices=cost_records(overview))
    return csv_response("costs", COST_COLUMNS, cost_rows(overview))


@blueprint.get(COSTS)
def matrix(name: str) -> Response:
    detail, address, notices = _asked(name)
    return make_response(cost_page_view(detail, address, notices))


@blueprint.get(f"{COSTS}{DATA_FORMAT}")
def matrix_export(name: str, form: str) -> Response:
    detail, _, _ = _asked(name)
    if form == "json":
        return jsonify(cost_record(detail))
    return csv_response("cost-matrix", cost_columns(detail.shown), cost_grid_rows(detail.shown))


@blueprint.post(f"{COSTS}/default")
def set_default(name: str) -> Response:
    """Judge the runs of a dataset by a version of these costs."""
    version, _, _ = read_versions(request.form)
    set_default_costs(
        current_registry().database,
        project=requested_project(),
        dataset=request.form.get("dataset", ""),
        wanted=CostName(name, version),
    )
    return redirect(CostsAddress(requested_project(), name, version).url(), 303)


def _asked(name: str) -> tuple[CostDetail, CostsAddress, list[str]]:
    version, before, notices = read_versions(request.args)
    detail = browse_cost_matrix(
        current_registry().database,
        project=requested_project(),
        name=name,
        version=version,
        before=before,
    )
    return detail, CostsAddress(requested_project(), name, version, before), notices
