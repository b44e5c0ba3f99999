"""An evaluation as a notebook shows it: the matrix with both axes named, and headline values."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix

MOST_CLASSES_SHOWN = 30
HEADLINE = ("overall_accuracy", "majority_baseline", "balanced_accuracy", "macro_f1", "mcc")

_RIGHT = "style='text-align:right'"


def evaluation_html(
    matrix: ConfusionMatrix, aggregate: Mapping[str, MetricValue], *, note: str | None = None
) -> str:
    """One HTML fragment; labels are escaped, nothing is loaded from elsewhere.

    `note` says what is special about the matrix.
    """
    return f"<div>{_matrix_table(matrix, note)}{_headline_table(aggregate)}</div>"


def _matrix_table(matrix: ConfusionMatrix, note: str | None) -> str:
    shown = min(matrix.n_classes, MOST_CLASSES_SHOWN)
    names = [escape(name) for name in matrix.labels.names[:shown]]
    head = "".join(f"<th scope='col' {_RIGHT}>{name}</th>" for name in names)
    body = "".join(
        f"<tr><th scope='row'>{name}</th>{_cells(row)}</tr>"
        for name, row in zip(names, matrix.counts[:shown, :shown].tolist(), strict=True)
    )
    said = f", {escape(note)}" if note else ""
    return (
        f"<table><caption>Confusion matrix, {matrix.total} cases{said}{_cut_note(matrix, shown)}"
        f"</caption><thead><tr><th>actual ↓ predicted →</th>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _cells(row: list[int]) -> str:
    return "".join(f"<td {_RIGHT}>{count}</td>" for count in row)


def _cut_note(matrix: ConfusionMatrix, shown: int) -> str:
    if shown == matrix.n_classes:
        return ""
    return f" (first {shown} of {matrix.n_classes} classes shown)"


def _headline_table(aggregate: Mapping[str, MetricValue]) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{key}</th><td {_RIGHT}>{_value_text(aggregate[key])}</td></tr>"
        for key in HEADLINE
        if key in aggregate
    )
    return f"<table><caption>Aggregate metrics</caption><tbody>{rows}</tbody></table>"


def _value_text(value: MetricValue) -> str:
    if value.value is None:
        return f"n/a ({escape(str(value.reason))})"
    if value.ci_low is None or value.ci_high is None:
        said = f" ({escape(value.why_no_interval)})" if value.why_no_interval else ""
        return f"{value.value:.4f}{said}"
    return f"{value.value:.4f} [{value.ci_low:.4f}, {value.ci_high:.4f}]"
