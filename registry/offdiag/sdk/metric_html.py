"""Metric values as a notebook shows them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from offdiag.domain.values import MetricValue


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
