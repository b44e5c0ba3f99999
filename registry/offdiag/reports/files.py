"""The files that are frozen with an edition, including CSV and Markdown."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from offdiag.domain import number_text, sentences
from offdiag.domain.schedule import due_text
from offdiag.domain.texts import Cell, csv_cell
from offdiag.domain.values import MetricValue
from offdiag.metrics import metric_text
from offdiag.reports.charts import Drawing, interval_chart, trend_chart
from offdiag.reports.document import provenance, report_document
from offdiag.reports.finding_tables import tables_of_findings
from offdiag.reports.headline import further_sentences, headline
from offdiag.reports.report import HistoryPoint, Report
from offdiag.reports.snapshot import RunFigures
from offdiag.reports.tables import (
    LeaderMatrix,
    leader_matrix,
    marked_name,
    tables_of_figures,
    things_of,
    worst_classes,
)

MOST_CHARTED = 20
_FOLDER = files("offdiag.reports") / "templates"


def html_page(report: Report) -> str:
    return _template().render(
        edition=report.edition,
        due=due_text(report.edition.fire_time),
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
    title = metric_text.title(metric)
    ranking = report.ranking[:MOST_CHARTED]
    charts = []
    if ranking:
        rows = [
            (marked_name(run), metric_text.printed(metric, run.metrics[metric])) for run in ranking
        ]
        baseline = [
            value
            for run, (_, value) in zip(ranking, rows, strict=True)
            if run.id == report.scope.baseline
        ]
        heading = f"{title} of the best {number_text.count(len(rows), 'run')}"
        charts.append((heading, _of_runs(rows, title, baseline)))
        worst = worst_classes(ranking[0])[:MOST_CHARTED]
        recalls = [(each.label, each.values["recall"]) for each in worst]
        if recalls:
            things = things_of(report)
            heading = f"Recall of the {things[1]} of {sentences.name(ranking[0].name)}"
            charts.append(
                (heading, interval_chart(recalls, value_title="Recall", rows_are=things))
            )
    if len(report.history) > 1:
        heading = f"Best {metric_text.title_inside(metric)} of each edition"
        charts.append(
            (heading, trend_chart(_in_shown_units(report.history, metric), value_title=title))
        )
    return charts


def _in_shown_units(history: Sequence[HistoryPoint], metric: str) -> list[HistoryPoint]:
    """The points in the unit in which their metric is shown."""
    return [
        point
        if point.value is None
        else replace(point, value=metric_text.printed(metric, point.value))
        for point in history
    ]


def _of_runs(
    rows: list[tuple[str, MetricValue]], title: str, baseline: list[MetricValue]
) -> Drawing:
    level = baseline[0].value if baseline else None
    return interval_chart(rows, value_title=title, rows_are=("run", "runs"), baseline=level)


@cache
def _template() -> Template:
    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = sentences.visible
    return environment.get_template("report.html")


def _style_hash() -> str:
    """The hash of the inlined stylesheet for the content security policy."""
    style = _text("report.css").removesuffix("\n")
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


HEADER = (
    *("run", "name", "model", "slice", "truth_version", "suite_version", "cases", "scored"),
    *("metric", "class", "support", "value", "reason", "ci_low", "ci_high", "ci_method"),
    "is_weighted",
)


def csv_text(report: Report) -> str:
    """A header line, then a line for each metric of each run, its classes and slices."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(HEADER)
    for run in (*report.ranking, *report.snapshot.slices):
        writer.writerows([csv_cell(cell) for cell in row] for row in _rows(run))
    return buffer.getvalue()


def _rows(run: RunFigures) -> Iterator[tuple[Cell, ...]]:
    head = (
        *(run.id, run.name, run.model, run.slice),
        *(run.truth_number, run.suite_version, run.n_cases, run.n_scored),
    )
    is_weighted = "yes" if run.has_weights else "no"
    for key, value in run.metrics.items():
        yield (*head, key, None, None, *_value(value), is_weighted)
    for figures in run.classes:
        for key, value in figures.values.items():
            yield (*head, key, figures.label, figures.support, *_value(value), is_weighted)


def _value(value: MetricValue) -> tuple[Cell, ...]:
    return value.value, value.reason, value.ci_low, value.ci_high, value.ci_method


def markdown_text(report: Report) -> str:
    """The first line names the report, the first paragraph says what changed."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    edition = report.edition
    yield f"# {sentences.markdown_escaped(edition.name)} #{edition.number}"
    yield ""
    yield sentences.markdown_escaped(" ".join((headline(report), *further_sentences(report))))
    for table in (*tables_of_findings(report), *tables_of_figures(report)):
        yield from ("", f"## {sentences.markdown_escaped(table.title)}", "")
        yield from _table(table.columns, table.rows)
        if table.note:
            yield from ("", sentences.markdown_escaped(table.note))
    matrix = leader_matrix(report)
    if matrix is not None:
        yield from _matrix(matrix)
    yield from ("", "---", "")
    for name, text in provenance(report):
        yield f"* {name}: {sentences.markdown_escaped(text)}"


def _matrix(matrix: LeaderMatrix) -> Iterator[str]:
    yield from ("", f"## {sentences.markdown_escaped(matrix.title)}", "")
    rows = [(label, *(f"{count:,}" for count in counts)) for label, counts in matrix.rows]
    yield from _table((matrix.corner, *matrix.labels), rows)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _line([sentences.markdown_escaped(column) for column in columns])
    yield _line(["---"] * len(columns))
    for row in rows:
        yield _line([sentences.markdown_escaped(cell) for cell in row])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


FileKind = Literal["html", "markdown", "json", "csv"]
SUFFIXES: dict[FileKind, str] = {
    "html": ".html",
    "markdown": ".md",
    "json": ".json",
    "csv": ".csv",
}


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One form of a report."""

    kind: FileKind
    content_type: str
    content: bytes


def report_files(report: Report) -> tuple[ReportFile, ...]:
    """The report in all its forms, from the same figures."""
    document = json.dumps(report_document(report), indent=1, ensure_ascii=False, allow_nan=False)
    return (
        _file("html", "text/html", html_page(report)),
        _file("markdown", "text/markdown", markdown_text(report)),
        _file("json", "application/json", document),
        _file("csv", "text/csv", csv_text(report)),
    )


def _file(kind: FileKind, content_type: str, text: str) -> ReportFile:
    return ReportFile(kind, f"{content_type}; charset=utf-8", text.encode())
