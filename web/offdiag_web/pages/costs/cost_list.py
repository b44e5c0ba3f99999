"""The list of cost matrices, and one matrix as JSON and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.metrics.costs.matrix import changed_costs
from offdiag.services.cost_matrices import CostDetail
from offdiag.store.cost_matrices import CostMatrixRecord, CostOverview, CostVersion
from offdiag_web.app.exports import Cell
from offdiag_web.components import numbers
from offdiag_web.components.controls import Moment, moment
from offdiag_web.urls.costs import CostsAddress, new_costs_url

COST_COLUMNS = (
    *("name", "version", "project", "n_classes", "currency", "author", "created_at", "note"),
    *("default_of", "reports"),
)


@dataclass(frozen=True, slots=True)
class CostLine:
    """One cost matrix."""

    name: str
    url: str
    version: str
    project: str | None
    n_classes: str
    currency: str
    author: str
    created: Moment
    note: str
    uses: str


@dataclass(frozen=True, slots=True)
class CostListView:
    """All cost matrices, and where a new one is made."""

    lines: tuple[CostLine, ...]
    new_url: str


def cost_list_view(overview: CostOverview, *, now: datetime) -> CostListView:
    """Present the list."""
    return CostListView(
        tuple(_line(overview, each, now) for each in overview.newest),
        new_costs_url(DEFAULT_PROJECT),
    )


def _line(overview: CostOverview, each: CostVersion, now: datetime) -> CostLine:
    return CostLine(
        name=each.name,
        url=CostsAddress(each.project, each.name).url(),
        version=f"v{each.version}",
        project=None if each.project == DEFAULT_PROJECT else each.project,
        n_classes=numbers.count(each.n_classes),
        currency=each.currency or "",
        author=each.author or "",
        created=moment(each.created_at, now=now),
        note=numbers.shortened(each.note or "", longest=80),
        uses=_uses_text(default_of(overview, each), reports_of(overview, each)),
    )


def default_of(overview: CostOverview, each: CostVersion) -> list[str]:
    """Datasets whose runs are judged by this version."""
    return [use.dataset for use in overview.datasets if use.cost_matrix_id == each.id]


def reports_of(overview: CostOverview, each: CostVersion) -> list[str]:
    """Reports that name this version, or the newest one."""
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


def cost_records(overview: CostOverview) -> list[dict[str, object]]:
    """The list for the JSON twin."""
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
    """The list for the CSV twin, in the order of `COST_COLUMNS`."""
    return [
        (
            each.name,
            each.version,
            each.project,
            each.n_classes,
            each.currency,
            each.author,
            each.created_at.isoformat(),
            each.note,
            "; ".join(default_of(overview, each)),
            "; ".join(reports_of(overview, each)),
        )
        for each in overview.newest
    ]


CORNER = "actual \\ predicted"
"""Corner of the CSV, which the form of a new version reads again."""


def cost_record(detail: CostDetail) -> dict[str, object]:
    """One version with what it changed, and all versions without their prices."""
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
