"""One cost matrix: its prices, its versions, what changed, and who uses which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.metrics.costs.matrix import check_costs
from offdiag.services.browse_costs import CostDetail
from offdiag_web.presenters.costs.difference import CostDifference, cost_difference
from offdiag_web.presenters.costs.table import PriceTable, price_table
from offdiag_web.presenters.times import Moment, moment
from offdiag_web.presenters.what_if.warnings import PASSED, warning_texts
from offdiag_web.urls.costs import CostsAddress
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import with_query
from offdiag_web.urls.reports import ReportAddress


@dataclass(frozen=True, slots=True)
class VersionLine:
    """One version; `difference_url` compares it with the one before it."""

    version: str
    url: str
    is_shown: bool
    created: Moment
    author: str
    note: str
    uses: str
    difference_url: str | None


@dataclass(frozen=True, slots=True)
class UseLine:
    """Somebody who uses a version."""

    text: str
    url: str
    version: str


@dataclass(frozen=True, slots=True)
class DatasetOption:
    """A dataset of the same classes, by id; what it is judged by now."""

    name: str
    is_default: bool
    what_if_url: str


@dataclass(frozen=True, slots=True)
class CostPageView:
    """Everything the page shows."""

    address: CostsAddress
    title: str
    project: str | None
    reference: str
    currency: str | None
    author: str | None
    note: str | None
    created: Moment
    is_newest: bool
    newest_url: str
    table: PriceTable
    passed: str
    warnings: tuple[str, ...]
    versions: tuple[VersionLine, ...]
    difference: CostDifference | None
    uses: tuple[UseLine, ...]
    datasets: tuple[DatasetOption, ...]


def cost_page_view(detail: CostDetail, address: CostsAddress, *, now: datetime) -> CostPageView:
    """Present one version."""
    shown = detail.shown
    label_set = next(each.label_set_id for each in detail.versions if each.id == shown.id)
    return CostPageView(
        address=address,
        title=f"{shown.name} v{shown.version}",
        project=None if shown.project == DEFAULT_PROJECT else shown.project,
        reference=f"{shown.name}@{shown.version}",
        currency=shown.costs.currency,
        author=shown.author,
        note=shown.note,
        created=moment(shown.created_at, now=now),
        is_newest=shown.version == detail.versions[0].version,
        newest_url=replace(address, version=None, before=None).url(),
        table=price_table(shown.costs),
        passed=PASSED,
        warnings=warning_texts(check_costs(shown.costs), shown.costs.labels),
        versions=tuple(_version_lines(detail, address, now)),
        difference=None if detail.before is None else cost_difference(detail.before, shown),
        uses=tuple(_uses(detail)),
        datasets=tuple(
            DatasetOption(
                use.dataset,
                use.cost_matrix_id == shown.id,
                with_query(
                    "/whatif",
                    {
                        "dataset": use.dataset,
                        "project": None if use.project == DEFAULT_PROJECT else use.project,
                        "cost": f"{shown.name}@{shown.version}",
                    },
                ),
            )
            for use in detail.datasets
            if use.label_set_id == label_set
        ),
    )


def _version_lines(detail: CostDetail, address: CostsAddress, now: datetime) -> list[VersionLine]:
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
            VersionLine(
                version=f"v{each.version}",
                url=replace(address, version=each.version, before=None).url(),
                is_shown=each.id == detail.shown.id,
                created=moment(each.created_at, now=now),
                author=each.author or "",
                note=each.note or "",
                uses=", ".join(words),
                difference_url=replace(
                    address, version=each.version, before=detail.versions[place + 1].version
                ).url()
                if has_earlier
                else None,
            )
        )
    return lines


def _uses(detail: CostDetail) -> list[UseLine]:
    by_id = {each.id: each for each in detail.versions}
    found = [
        UseLine(
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
            UseLine(
                f"report {report.report}",
                ReportAddress(report.project, report.report).url(),
                pinned,
            )
        )
    return found
