"""A report as one HTML file that needs nothing else: no script, no font, no image from outside.

The file forbids itself everything but its own stylesheet, so that even a name that got past
the escaping could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from offdiag.domain.values import MetricValue
from offdiag.reports import texts
from offdiag.reports.charts import Drawing, interval_chart, trend_chart
from offdiag.reports.document import provenance
from offdiag.reports.headline import further_sentences, headline
from offdiag.reports.report import HistoryPoint, Report
from offdiag.reports.tables import (
    leader_matrix,
    tables_of_figures,
    tables_of_findings,
    worst_first,
)

MOST_CHARTED = 20
_FOLDER = files("offdiag.reports") / "templates"


def html_page(report: Report) -> str:
    """The whole file."""
    return _template().render(
        issue=report.issue,
        style_hash=_style_hash(),
        headline=headline(report),
        sentences=further_sentences(report),
        charts=_charts(report),
        findings=tables_of_findings(report),
        figures=tables_of_figures(report),
        matrix=leader_matrix(report),
        provenance=provenance(report),
    )


def _charts(report: Report) -> list[tuple[str, Drawing]]:
    """Headings and drawings."""
    metric = report.scope.ranking_metric
    title = texts.title(metric)
    ranking = report.ranking[:MOST_CHARTED]
    charts = []
    if ranking:
        rows = [(run.name, texts.printed(metric, run.metrics[metric])) for run in ranking]
        baseline = [
            value
            for run, (_, value) in zip(ranking, rows, strict=True)
            if run.id == report.scope.baseline
        ]
        heading = f"{title} of the best {texts.count(len(rows), 'run')}"
        charts.append((heading, _of_runs(rows, title, baseline)))
        worst = worst_first(ranking[0])[:MOST_CHARTED]
        recalls = [(each.label, each.values["recall"]) for each in worst]
        heading = f"Recall of the classes of {texts.name(ranking[0].name)}"
        charts.append((heading, interval_chart(recalls, value_title="Recall", row_title="class")))
    if len(report.history) > 1:
        heading = f"{title} of the best run, issue by issue"
        charts.append((heading, trend_chart(_told(report.history, metric), value_title=title)))
    return charts


def _told(history: Sequence[HistoryPoint], metric: str) -> list[HistoryPoint]:
    """The points in the unit in which their metric is told."""
    return [
        point if point.value is None else replace(point, value=texts.printed(metric, point.value))
        for point in history
    ]


def _of_runs(
    rows: list[tuple[str, MetricValue]], title: str, baseline: list[MetricValue]
) -> Drawing:
    level = baseline[0].value if baseline else None
    return interval_chart(rows, value_title=title, row_title="run", baseline=level)


@cache
def _template() -> Template:
    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = texts.visible
    return environment.get_template("report.html")


def _style_hash() -> str:
    """What the content security policy calls the stylesheet, which is included as it is."""
    style = _text("report.css").removesuffix("\n")
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
