"""A report as Markdown, readable as plain text too: it is the body of e-mails."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from offdiag.reports import wording
from offdiag.reports.headline import further_sentences, headline
from offdiag.reports.matrix import LeaderMatrix, leader_matrix
from offdiag.reports.provenance import provenance
from offdiag.reports.report import Report
from offdiag.reports.tables import tables_of_figures, tables_of_findings

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&])")


def markdown_text(report: Report) -> str:
    """The first line names the report, the first paragraph says what changed."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    issue = report.issue
    yield f"# {_escaped(issue.name)} #{issue.number}"
    yield ""
    yield _escaped(" ".join((headline(report), *further_sentences(report))))
    for table in (*tables_of_findings(report), *tables_of_figures(report)):
        yield from ("", f"## {_escaped(table.title)}", "")
        yield from _table(table.columns, table.rows)
        if table.note:
            yield from ("", _escaped(table.note))
    matrix = leader_matrix(report)
    if matrix is not None:
        yield from _matrix(matrix)
    yield from ("", "---", "")
    for name, text in provenance(report):
        yield f"* {name}: {_escaped(text)}"


def _matrix(matrix: LeaderMatrix) -> Iterator[str]:
    yield from ("", f"## {_escaped(matrix.title)}", "")
    rows = [(label, *(f"{count:,}" for count in counts)) for label, counts in matrix.rows]
    yield from _table((matrix.corner, *matrix.labels), rows)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _line([_escaped(column) for column in columns])
    yield _line(["---"] * len(columns))
    for row in rows:
        yield _line([_escaped(cell) for cell in row])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Names are anybody's input: nothing in them may become a heading, a link or a tag."""
    return _SPECIAL.sub(r"\\\1", wording.visible(text))
