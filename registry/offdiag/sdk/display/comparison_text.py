"""Comparisons as text: one line, and a page with the verdict, metrics and recall by class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from textwrap import shorten, wrap
from typing import Any

from offdiag.comparison import texts
from offdiag.comparison.rank_status import RankStatus
from offdiag.domain import number_text
from offdiag.domain.texts import shortened
from offdiag.domain.values import MetricValue, undefined_note
from offdiag.sdk.display.displayed import WIDTH, aligned

MOST_CLASSES = 20
WORST_CLASSES = 12
_MOST_NAMED = 3
_ON_NEW = "* on new data"

Record = Mapping[str, Any]


def comparison_line(record: Record) -> str:
    """ "Comparison of A vit-s · 05 and B effnet-b3: No significant difference."."""
    runs = record["runs"]
    named = [f"{run['letter']} {shortened(run['name'])}" for run in runs[:_MOST_NAMED]]
    hidden = len(runs) - len(named)
    headline = record["verdict"]["headline"]
    about = f"{', '.join(named)} and {hidden} more" if hidden else " and ".join(named)
    return f"Comparison of {about}: {shorten(headline, 120)}"


def comparison_text(record: Record) -> str:
    """The verdict, the primary metrics and, for two runs, the recall of each class."""
    runs = [f"{run['letter']}  {run['name']} ({run['id']})" for run in record["runs"]]
    verdict = record["verdict"]
    said = [
        line for text in (verdict["headline"], *verdict["details"]) for line in wrap(text, WIDTH)
    ]
    head, rows = metric_table(record["result"])
    parts = [*runs, "", *said, "", *aligned(head, rows)]
    if record["result"]["kind"] != "pair":
        parts += [LEGEND]
    parts += wrap(undefined_note(metric_values(record["result"])), WIDTH)
    classes = list(recall_lines(record["result"]))
    if classes:
        header = ("recall of", "n", "A", "B", "B − A", "CI together", "B is")
        parts += ["", *aligned(header, classes, right={1, 4})]
        parts += wrap(undefined_note(recall_values(record["result"])), WIDTH)
        n_more = n_classes(record["result"]) - len(classes)
        parts += [f"... and {n_more} more classes"] if n_more > 0 else []
    return "\n".join(parts)


def metric_table(result: Record) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of the primary metrics."""
    metrics = result["metrics"]
    if result["kind"] == "pair":
        level = texts.level_text(result["confidence"])
        head = ("metric", "A", "B", "B − A", f"{level} CI alone", "together")
        return head, [_difference_row(key, found) for key, found in metrics.items()]
    # Servers of the release before do not correct.
    best = result.get("best_of_many") or {}
    rows = [
        (name, *(_marked(places[name]) for places in metrics.values())) for name in result["n"]
    ]
    if best:
        corrected = (number(best[key]["corrected"]) if key in best else "" for key in metrics)
        rows.append((_ON_NEW, *corrected))
    return ("run", *map(texts.title, metrics)), rows


def metric_values(result: Record) -> Iterator[MetricValue]:
    """The values of `metric_table`."""
    if result["kind"] == "pair":
        for found in result["metrics"].values():
            yield from _side_values(found)
        return
    for places in result["metrics"].values():
        yield from map(MetricValue.of_dict, places.values())
    for best in (result.get("best_of_many") or {}).values():
        yield MetricValue.of_dict(best["corrected"])


def recall_values(result: Record) -> Iterator[MetricValue]:
    """The values of `recall_lines`."""
    for _, _, found in shown_recalls(result):
        yield from _side_values(found)


def _side_values(found: Record) -> Iterator[MetricValue]:
    """The values of both runs, and their difference if it has a reason of its own."""
    sides = [MetricValue.of_dict(found[side]) for side in ("a", "b")]
    yield from sides
    if all(side.is_defined for side in sides):
        yield MetricValue.of_dict(found["difference"])


LEGEND = "* highest   = no significant difference from it   - significantly worse"
_MARKS = {
    RankStatus.BEST: " *",
    RankStatus.NOT_SEPARABLE: " =",
    RankStatus.BEHIND: " -",
}


def _marked(place: Record) -> str:
    return f"{number(place)}{_MARKS.get(RankStatus(place['standing']), '')}"


def _difference_row(key: str, found: Record) -> tuple[str, ...]:
    gap = MetricValue.of_dict(found["difference"])
    together = found.get("simultaneous_interval") or {}
    return (
        texts.title(key),
        number(found["a"]),
        number(found["b"]),
        texts.difference_text(key, gap),
        texts.difference_interval(key, gap) or "none",
        texts.ends_text(key, (together.get("ci_low"), together.get("ci_high"))) or "none",
    )


def number(value: Record) -> str:
    return "undefined" if value["value"] is None else number_text.number(value["value"])


def n_classes(result: Record) -> int:
    """Number of classes whose recall two runs are compared on; 0 for more runs."""
    return len(result["per_class"]["recall"]) if result["kind"] == "pair" else 0


def shown_recalls(result: Record) -> list[tuple[str, int, Record]]:
    """Class, examples and difference in recall of two runs; the largest if there are over 20."""
    if result["kind"] != "pair":
        return []
    sizes = result["class_sizes"]["a"]
    found = [(name, sizes[name], each) for name, each in result["per_class"]["recall"].items()]
    if len(found) <= MOST_CLASSES:
        return found
    return sorted(found, key=lambda row: -abs(row[2]["difference"]["value"] or 0.0))[
        :WORST_CLASSES
    ]


_OUTCOMES = {"not separable": "≈", "no interval": "not tested", "undefined": ""}


def outcome_text(outcome: str) -> str:
    """ "better", "≈" without a significant difference."""
    return _OUTCOMES.get(outcome, outcome)


def judged_difference(found: Record) -> MetricValue:
    """The difference with the interval that the outcome follows from."""
    gap = MetricValue.of_dict(found["difference"])
    together = found.get("simultaneous_interval")
    if together is None:
        return gap
    return replace(gap, ci_low=together["ci_low"], ci_high=together["ci_high"])


def recall_lines(result: Record) -> Iterator[list[str]]:
    for name, n, found in shown_recalls(result):
        gap = judged_difference(found)
        yield [
            name,
            f"{n:,}",
            number(found["a"]),
            number(found["b"]),
            texts.difference_text("recall", gap, of_class=True),
            texts.difference_interval("recall", gap, of_class=True) or "none",
            outcome_text(found["outcome"]),
        ]
