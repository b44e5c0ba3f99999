"""A comparison as a notebook card: verdict, recall of each class, and which run is right where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode

from offdiag.card import card, cell, column, head, mark, row_name, says, table
from offdiag.comparison import texts
from offdiag.domain.texts import shortened
from offdiag.domain.values import undefined_note
from offdiag.sdk.display.comparison_text import (
    LEGEND,
    judged_difference,
    metric_table,
    metric_values,
    n_classes,
    number,
    outcome_text,
    recall_values,
    shown_recalls,
)

Record = Mapping[str, Any]


def comparison_card(record: Record, server_url: str | None = None) -> str:
    """One HTML fragment. Names are escaped, and nothing is loaded from elsewhere.

    It links to the comparison on the dashboard at `server_url`.
    """
    url = None if server_url is None else f"{server_url}/compare?{_query(record)}"
    result, verdict = record["result"], record["verdict"]
    runs = "".join(
        f"<div><b>{run['letter']}</b> {escape(shortened(run['name'], longest=48))} "
        f'<span class="od-q">{escape(run["id"])}</span></div>'
        for run in record["runs"]
    )
    first, *others = verdict["details"] or [""]
    said = "".join(f"<div>{escape(text)}</div>" for text in others)
    is_pair = result["kind"] == "pair"
    folded = f"{_metrics(result) if is_pair else ''}{said}"
    details = f"<details><summary>All metrics, and why</summary>{folded}</details>"
    left = _recalls(result) if is_pair else _metrics(result)
    right = f"<div>{runs}{_churn(result)}</div>"
    return card(
        head("Comparison", _about(record), url=url, link="Open comparison"),
        says(verdict["headline"], first),
        f'<div class="od-cols">{left}{right}</div>',
        details,
    )


def _query(record: Record) -> str:
    ids = ",".join(run["id"] for run in record["runs"])
    part = {"slice": record["slice"]} if record["slice"] else {}
    return urlencode({"runs": ids, **part}, safe=",")


def _about(record: Record) -> str:
    result, samples = record["result"], record["samples"] or {}
    is_paired = result["is_paired"] if result["kind"] == "pair" else not result["not_paired"]
    facts = ["paired" if is_paired else "not paired"]
    if samples.get("n_compared") is not None:
        facts.append(f"{samples['n_compared']:,} examples")
    versions = {run["truth_version"] for run in record["runs"]}
    version = f" v{versions.pop()}" if len(versions) == 1 and None not in versions else ""
    facts.append(f"{record['dataset']}{version}")
    if record["slice"]:
        facts.append(record["slice"])
    return " · ".join(facts)


def _metrics(result: Record) -> str:
    names, rows = metric_table(result)
    columns = [column(name, left=not place) for place, name in enumerate(names)]
    body = (row_name(first) + "".join(map(cell, others)) for first, *others in rows)
    legend = "" if result["kind"] == "pair" else LEGEND
    caption = filter(None, (legend, undefined_note(metric_values(result))))
    return table(columns, body, caption=" · ".join(caption))


def _recalls(result: Record) -> str:
    shown = shown_recalls(result)
    gaps = [judged_difference(found) for _, _, found in shown]
    ends = [
        abs(end) for gap in gaps for end in (gap.value, gap.ci_low, gap.ci_high) if end is not None
    ]
    reach = max([0.05, *ends])
    columns = [column("Recall", left=True), column("n"), column("A"), column("B")]
    columns += [column("B − A"), column(f"±{100 * reach:.0f} pp"), column("B is", left=True)]
    hidden = n_classes(result) - len(shown)
    cut = f"{len(shown)} of {n_classes(result)} classes, largest difference first"
    caption = filter(None, (cut if hidden else "", undefined_note(recall_values(result))))
    return table(columns, _recall_rows(shown, reach), caption=" · ".join(caption))


def _recall_rows(shown: list[tuple[str, int, Record]], reach: float) -> Iterator[str]:
    for name, n, found in shown:
        gap = judged_difference(found)
        drawn, is_out = "", found["outcome"] in {"better", "worse", "different"}
        if gap.value is not None:
            ends = (gap.ci_low, gap.ci_high)
            drawn = mark(gap.value, ends, low=-reach, high=reach, baseline=0.0, stands_out=is_out)
        yield (
            row_name(name)
            + cell(f"{n:,}")
            + cell(number(found["a"]))
            + cell(number(found["b"]))
            + cell(texts.difference_text("recall", gap, of_class=True))
            + f"<td>{drawn}</td>"
            + cell(outcome_text(found["outcome"]), left=True)
        )


_BAR = 400
_PARTS = (
    ("both_right", "both right", "--line"),
    ("only_a", "only A", "--error"),
    ("only_b", "only B", "--correct"),
    ("both_wrong", "both wrong", "--quiet"),
)


def _churn(result: Record) -> str:
    """How many examples both runs, only one of them, or none gets right."""
    counts = result.get("counts")
    total = sum(counts.values()) if counts else 0
    if not counts or not total:
        return ""
    place, bars = 0.0, []
    for key, _, colour in _PARTS:
        width = _BAR * counts[key] / total
        bars.append(
            f'<rect x="{place:.1f}" width="{width:.1f}" height="14" fill="var({colour})"/>'
        )
        place += width
    said = " · ".join(f"{name} <b>{counts[key]:,}</b>" for key, name, _ in _PARTS)
    drawing = f'<svg width="{_BAR}" height="14" aria-hidden="true">{"".join(bars)}</svg>'
    return f'<div style="margin:6px 0">{drawing}{said}</div>'
