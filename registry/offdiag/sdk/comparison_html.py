"""A comparison as a notebook shows it: the runs, the verdict, and the headline numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from offdiag.comparison import wording
from offdiag.comparison.standings import Standing
from offdiag.domain.values import MetricValue

_ON_NEW = "highest, on new examples"
_RIGHT = "style='text-align:right'"


def comparison_html(record: Mapping[str, Any]) -> str:
    """One HTML fragment; names are escaped, nothing is loaded from elsewhere."""
    runs = "".join(
        f"<li><b>{run['letter']}</b> {escape(run['name'])} <code>{escape(run['id'])}</code></li>"
        for run in record["runs"]
    )
    verdict = record["verdict"]
    details = escape(" ".join(verdict["details"]))
    head, rows = _table(record["result"])
    body = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in rows)
    names = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    return (
        f"<div><ul>{runs}</ul><p><b>{escape(verdict['headline'])}</b> {details}</p>"
        f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(row: tuple[str, ...]) -> Iterator[str]:
    first, *others = (escape(cell) for cell in row)
    yield f"<th scope='row'>{first}</th>"
    for cell in others:
        yield f"<td {_RIGHT}>{cell}</td>"


def _table(result: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    metrics = result["metrics"]
    if result["kind"] == "pair":
        level = wording.level_text(result["confidence"])
        head = ("metric", "A", "B", "B − A", f"{level} CI alone", "together")
        return head, [_difference_row(key, found) for key, found in metrics.items()]
    # Servers of the release before do not correct.
    best = result.get("best_of_many") or {}
    return ("metric", *result["n"], *([_ON_NEW] if best else [])), [
        (
            wording.title(key),
            *(
                f"{_number(place)} ({wording.STANDINGS[Standing(place['standing'])]})"
                for place in places.values()
            ),
            *([_number(best[key]["corrected"]) if key in best else ""] if best else []),
        )
        for key, places in metrics.items()
    ]


def _difference_row(key: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    gap = MetricValue.of_dict(found["difference"])
    together = found.get("simultaneous_interval") or {}
    return (
        wording.title(key),
        _number(found["a"]),
        _number(found["b"]),
        wording.gap_text(key, gap),
        wording.gap_interval(key, gap) or "none",
        wording.ends_text(key, (together.get("ci_low"), together.get("ci_high"))) or "none",
    )


def _number(value: Mapping[str, Any]) -> str:
    return "undefined" if value["value"] is None else f"{value['value']:.3f}"
