"""The view of a cost matrix: its table, its versions, and what the last one changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flask import render_template

from offdiag.domain import number_text
from offdiag.metrics.costs.edits import cost_text
from offdiag.metrics.costs.matrix import CostMatrix, changed_costs, check_costs
from offdiag.services.cost_matrices import CostDetail
from offdiag.store.cost_matrices import CostMatrixRecord, CostVersion
from offdiag_web.components import numbers
from offdiag_web.components.classes import class_head, quoted_name
from offdiag_web.components.costs.form import PASSED, warning_texts
from offdiag_web.components.matrix import matrix_density
from offdiag_web.components.matrix_colours import amount_class
from offdiag_web.components.numbers import MINUS
from offdiag_web.urls.costs import CostsAddress, what_if_start_url
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.reports import ReportAddress

MOST_CLASSES = 30
MOST_EXPENSIVE = 30


@dataclass(frozen=True, slots=True)
class CostCell:
    """A cost with the step of its ramp."""

    text: str
    css: str


def cost_table(costs: CostMatrix) -> dict[str, object]:
    """Present a cost matrix in label order."""
    names, weights = costs.labels.names, costs.weights
    largest = float(np.abs(weights).max())
    heads = tuple(class_head(name) for name in names[:MOST_CLASSES])
    if len(names) > MOST_CLASSES:
        places = np.argsort(-weights, axis=None, kind="stable")[:MOST_EXPENSIVE]
        cells = [divmod(int(place), len(names)) for place in places]
        return {
            "heads": (),
            "turned_heads": False,
            "density": "plain",
            "lines": (),
            "most_expensive": tuple(
                (names[actual], names[predicted], entry_text(weights[actual, predicted]))
                for actual, predicted in cells
            ),
        }
    return {
        "heads": heads,
        "turned_heads": max(len(head.short) for head in heads) > 6,
        "density": matrix_density(len(names)),
        "lines": tuple(
            (
                heads[actual],
                tuple(
                    CostCell(entry_text(cost), amount_class(cost, largest))
                    for cost in weights[actual].tolist()
                ),
            )
            for actual in range(len(names))
        ),
        "most_expensive": (),
    }


def entry_text(cost: float) -> str:
    """A cost with all its digits."""
    return cost_text(float(cost)).replace("-", MINUS)


MOST_CELLS = 200


@dataclass(frozen=True, slots=True)
class CostDifference:
    """All differences, in words and by cell; `n_hidden` more cells are only in the CSV."""

    title: str
    sentences: tuple[str, ...]
    cells: tuple[tuple[str, str, str, str, str], ...]
    n_hidden: int


def cost_difference(before: CostMatrixRecord, after: CostMatrixRecord) -> CostDifference:
    """Present what changed from one version to another."""
    cells = changed_costs(before.costs, after.costs)
    return CostDifference(
        title=f"What changed from v{before.version} to v{after.version}",
        sentences=tuple(_sentences(before, after, len(cells))),
        cells=tuple(
            (
                change.actual,
                change.predicted,
                entry_text(change.before),
                entry_text(change.after),
                "" if change.factor is None else f"× {number_text.cost(change.factor)}",
            )
            for change in cells[:MOST_CELLS]
        ),
        n_hidden=max(len(cells) - MOST_CELLS, 0),
    )


def _sentences(before: CostMatrixRecord, after: CostMatrixRecord, n_cells: int) -> list[str]:
    old, new = before.costs.labels.names, after.costs.labels.names
    found = []
    for words, names in (
        ("New classes", [name for name in new if name not in old]),
        ("Classes left out", [name for name in old if name not in new]),
    ):
        if names:
            found.append(f"{words}: {numbers.listed([quoted_name(name) for name in names])}.")
    if before.costs.currency != after.costs.currency:
        found.append(
            f"Currency: {before.costs.currency or 'none'} \N{RIGHTWARDS ARROW} "
            f"{after.costs.currency or 'none'}."
        )
    found.append(f"{numbers.plural(n_cells, 'cost')} changed." if n_cells else "No cost changed.")
    return found


def cost_page_view(detail: CostDetail, address: CostsAddress, notices: list[str]) -> str:
    shown = detail.shown
    label_set = next(each.label_set_id for each in detail.versions if each.id == shown.id)
    return render_template(
        "costs/matrix.html",
        address=address,
        notices=notices,
        title=f"{shown.name} v{shown.version}",
        currency=shown.costs.currency,
        author=shown.author,
        note=shown.note,
        created=shown.created_at,
        shown_version=shown.version,
        is_newest=shown.version == detail.versions[0].version,
        newest_url=replace(address, version=None, before=None).url(),
        table=cost_table(shown.costs),
        passed=PASSED,
        warnings=warning_texts(check_costs(shown.costs), shown.costs.labels),
        versions=tuple(_version_lines(detail, address)),
        difference=None if detail.before is None else cost_difference(detail.before, shown),
        uses=tuple(_uses(detail)),
        datasets=tuple(
            (
                use.dataset,
                use.cost_matrix_id == shown.id,
                what_if_start_url(use.project, use.dataset, f"{shown.name}@{shown.version}"),
            )
            for use in detail.datasets
            if use.label_set_id == label_set
        ),
    )


def _version_lines(
    detail: CostDetail, address: CostsAddress
) -> list[tuple[CostVersion, str, str, str | None]]:
    """Each version with its address, its users, and a link to compare it with the previous one."""
    lines = []
    for place, each in enumerate(detail.versions):
        users = [use.dataset for use in detail.datasets if use.cost_matrix_id == each.id]
        reports = [
            use.report
            for use in detail.reports
            if use.costs == f"{each.name}@{each.version}" or (use.costs == each.name and not place)
        ]
        words = [f"default of {name}" for name in users] + [f"report {name}" for name in reports]
        has_earlier = place + 1 < len(detail.versions)
        lines.append(
            (
                each,
                replace(address, version=each.version, before=None).url(),
                ", ".join(words),
                replace(
                    address, version=each.version, before=detail.versions[place + 1].version
                ).url()
                if has_earlier
                else None,
            )
        )
    return lines


def _uses(detail: CostDetail) -> list[tuple[str, str, str]]:
    by_id = {each.id: each for each in detail.versions}
    found = [
        (
            f"dataset {use.dataset}, default",
            DatasetAddress(use.project, use.dataset).url(),
            f"v{by_id[use.cost_matrix_id].version}",
        )
        for use in detail.datasets
        if use.cost_matrix_id in by_id
    ]
    for report in detail.reports:
        name, at, version = report.costs.rpartition("@")
        pinned = f"v{version}" if at and name == detail.shown.name else "the newest"
        found.append(
            (f"report {report.report}", ReportAddress(report.project, report.report).url(), pinned)
        )
    return found
