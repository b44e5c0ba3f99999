"""The files that are frozen with an issue."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from offdiag.reports.csv_table import csv_text
from offdiag.reports.document import report_document
from offdiag.reports.html_page import html_page
from offdiag.reports.markdown_text import markdown_text
from offdiag.reports.report import Report

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
