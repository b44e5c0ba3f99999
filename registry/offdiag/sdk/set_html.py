"""The evaluation of sets of labels as a notebook shows it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import CountedSets
from offdiag.sdk.metric_html import metric_table

MOST_LABELS_SHOWN = 30
HEADLINE = (
    "subset_accuracy",
    "hamming_loss",
    "example_jaccard",
    "example_f1",
    "micro_f1",
    "macro_f1",
)
_RIGHT = "style='text-align:right'"


def set_html(counted: CountedSets, aggregate: Mapping[str, MetricValue]) -> str:
    """One HTML fragment: the matrix, the table of each label, and the headline values."""
    headline = {key: aggregate[key] for key in HEADLINE if key in aggregate}
    return (
        f"<div>{_matrix(counted)}{_tables(counted)}{metric_table('Aggregate metrics', headline)}"
        "</div>"
    )


def _matrix(counted: CountedSets) -> str:
    names = _names(counted)
    n = len(names)
    head = "".join(f"<th scope='col' {_RIGHT}>{name}</th>" for name in names)
    body = "".join(
        f"<tr><th scope='row'>{name}</th>{_cells([f'{cell:.2f}' for cell in row])}</tr>"
        for name, row in zip(names, counted.matrix.cells[:n, :n].tolist(), strict=True)
    )
    return (
        f"<table><caption>Multi-label matrix, {counted.matrix.n_cases} cases, fractional shares, "
        f"Algorithm 1{_cut(counted)}</caption><thead><tr><th>actual ↓ predicted →</th>{head}</tr>"
        f"</thead><tbody>{body}</tbody></table>"
    )


def _tables(counted: CountedSets) -> str:
    cells = counted.tally.labels.one_vs_rest()
    columns = ("tp", "fn", "fp", "tn")
    head = "".join(f"<th scope='col' {_RIGHT}>{column.upper()}</th>" for column in columns)
    rows = zip(*(getattr(cells, column).tolist() for column in columns), strict=True)
    body = "".join(
        f"<tr><th scope='row'>{name}</th>{_cells([str(int(cell)) for cell in row])}</tr>"
        for name, row in zip(_names(counted), rows, strict=False)
    )
    return (
        f"<table><caption>Each label against the rest, {counted.total} cases{_cut(counted)}"
        f"</caption><thead><tr><th>label</th>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _names(counted: CountedSets) -> list[str]:
    return [escape(name) for name in counted.labels.names[:MOST_LABELS_SHOWN]]


def _cells(texts: list[str]) -> str:
    return "".join(f"<td {_RIGHT}>{text}</td>" for text in texts)


def _cut(counted: CountedSets) -> str:
    if counted.n_classes <= MOST_LABELS_SHOWN:
        return ""
    return f" (first {MOST_LABELS_SHOWN} of {counted.n_classes} labels shown)"
