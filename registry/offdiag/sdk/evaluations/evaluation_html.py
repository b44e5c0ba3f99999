"""An evaluation as a notebook shows it: the matrix with both axes named, and headline values."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import CountedSets


def metric_table(caption: str, metrics: Mapping[str, MetricValue]) -> str:
    """One HTML table, a row for each metric; the caption is escaped, nothing is loaded."""
    rows = "".join(
        f"<tr><th scope='row'>{escape(key)}</th>"
        f"<td style='text-align:right'>{_text(value)}</td></tr>"
        for key, value in metrics.items()
    )
    return f"<table><caption>{escape(caption)}</caption><tbody>{rows}</tbody></table>"


def _text(value: MetricValue) -> str:
    if value.value is not None:
        ends = (value.ci_low, value.ci_high)
        if None in ends:
            said = f" ({escape(value.why_no_interval)})" if value.why_no_interval else ""
            return f"{value.value:.4f}{said}"
        return f"{value.value:.4f} [{value.ci_low:.4f}, {value.ci_high:.4f}]"
    limit = f", limit {value.limit}" if value.limit else ""
    return escape(f"n/a ({value.reason}{limit})")


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
        f"<table><caption>Confusion matrix, {matrix.total} examples{said}"
        f"{_cut_note(matrix, shown)}</caption>"
        f"<thead><tr><th>actual ↓ predicted →</th>{head}</tr></thead>"
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


MOST_LABELS_SHOWN = 30
SET_HEADLINE = (
    "subset_accuracy",
    "hamming_loss",
    "example_jaccard",
    "example_f1",
    "micro_f1",
    "macro_f1",
)


def set_html(counted: CountedSets, aggregate: Mapping[str, MetricValue]) -> str:
    """One HTML fragment: the matrix, the table of each label, and the headline values."""
    headline = {key: aggregate[key] for key in SET_HEADLINE if key in aggregate}
    return (
        f"<div>{_matrix(counted)}{_tables(counted)}{metric_table('Aggregate metrics', headline)}"
        "</div>"
    )


def _matrix(counted: CountedSets) -> str:
    names = _names(counted)
    n = len(names)
    head = "".join(f"<th scope='col' {_RIGHT}>{name}</th>" for name in names)
    body = "".join(
        f"<tr><th scope='row'>{name}</th>{_set_cells([f'{cell:.2f}' for cell in row])}</tr>"
        for name, row in zip(names, counted.matrix.cells[:n, :n].tolist(), strict=True)
    )
    return (
        "<table><caption>Multi-label matrix, "
        f"{counted.matrix.n_samples} examples, fractional shares, "
        f"Algorithm 1{_cut(counted)}</caption><thead><tr><th>actual ↓ predicted →</th>{head}</tr>"
        f"</thead><tbody>{body}</tbody></table>"
    )


def _tables(counted: CountedSets) -> str:
    cells = counted.tally.labels.one_vs_rest()
    columns = ("tp", "fn", "fp", "tn")
    head = "".join(f"<th scope='col' {_RIGHT}>{column.upper()}</th>" for column in columns)
    rows = zip(*(getattr(cells, column).tolist() for column in columns), strict=True)
    body = "".join(
        f"<tr><th scope='row'>{name}</th>{_set_cells([str(int(cell)) for cell in row])}</tr>"
        for name, row in zip(_names(counted), rows, strict=False)
    )
    return (
        f"<table><caption>Each label against the rest, {counted.total} examples{_cut(counted)}"
        f"</caption><thead><tr><th>label</th>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _names(counted: CountedSets) -> list[str]:
    return [escape(name) for name in counted.labels.names[:MOST_LABELS_SHOWN]]


def _set_cells(texts: list[str]) -> str:
    return "".join(f"<td {_RIGHT}>{text}</td>" for text in texts)


def _cut(counted: CountedSets) -> str:
    if counted.n_classes <= MOST_LABELS_SHOWN:
        return ""
    return f" (first {MOST_LABELS_SHOWN} of {counted.n_classes} labels shown)"
