"""A cost matrix for machines, in full precision."""

from __future__ import annotations

from offdiag.metrics.costs.matrix import changed_prices
from offdiag.services.browse_costs import CostDetail
from offdiag.store.cost_matrices import CostMatrixRecord
from offdiag_web.app.exports import Cell

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
                for change in changed_prices(before.costs, detail.shown.costs)
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
