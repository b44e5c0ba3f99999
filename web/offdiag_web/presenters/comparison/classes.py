"""The classes of two runs: values, differences with intervals, and the examples behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

from offdiag.comparison import wording
from offdiag.comparison.differences import MetricDifference
from offdiag.comparison.pair import Fate, PairComparison
from offdiag_web.addresses.compare import ClassMetric, CompareAddress
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import ClassHead, class_head, class_order
from offdiag_web.presenters.comparison.difference_lines import (
    DifferenceLine,
    difference_line,
    symmetric_scale,
)
from offdiag_web.presenters.segments import Segment
from offdiag_web.presenters.values import Notes

MOST_CLASSES = 30


@dataclass(frozen=True, slots=True)
class ExampleCount:
    """How many examples, and where they are listed; no address where there are none."""

    text: str
    url: str | None


@dataclass(frozen=True, slots=True)
class ClassLine:
    """One class; the counts are about its own examples and stand beside recall only."""

    head: ClassHead
    support: str
    difference: DifferenceLine
    only_a: ExampleCount | None
    only_b: ExampleCount | None


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The classes, largest first; of many those whose difference is surest."""

    title: str
    metrics: tuple[Segment, ...]
    lines: tuple[ClassLine, ...]
    ends: tuple[str, str]
    has_counts: bool
    cut: str | None
    how: str


def class_table(pair: PairComparison, address: CompareAddress, notes: Notes) -> ClassTable:
    """Present one per-class metric of a pair."""
    key = address.class_metric
    found = pair.classes[key]
    codes = class_order(pair.first, None)
    n_classes = len(codes)
    if n_classes > MOST_CLASSES:
        codes = sorted(codes, key=lambda code: _rank(found[code]))[:MOST_CLASSES]
    scale = symmetric_scale(found[code] for code in codes)
    among = numbers.plural(pair.classes_tested[key], "class", "classes")
    has_counts = pair.paired is not None and key == "recall"
    return ClassTable(
        title=f"{wording.title(key)} of each class, B − A",
        metrics=metric_segments(address),
        lines=tuple(
            ClassLine(
                head=class_head(pair.labels[code]),
                support=_support(pair, code),
                difference=difference_line(
                    found[code], pair.labels[code], scale, notes, among=among
                ),
                only_a=_examples(pair, code, Fate.ONLY_A, address) if has_counts else None,
                only_b=_examples(pair, code, Fate.ONLY_B, address) if has_counts else None,
            )
            for code in codes
        ),
        ends=scale.ends,
        has_counts=has_counts,
        cut=None
        if n_classes <= MOST_CLASSES
        else f"{MOST_CLASSES} of {numbers.count(n_classes)} classes: first those that change "
        "significantly, the largest difference first. The CSV has all of them.",
        how=_how(pair, among),
    )


def _how(pair: PairComparison, among: str) -> str:
    method = "Holm" if pair.paired is not None else "Bonferroni"
    return (
        f"A class is better or worse where the test of all {among} together says so ({method}). "
        "Thick bar and first interval: the class alone. Thin line and second interval: all "
        "together."
    )


def metric_segments(address: CompareAddress) -> tuple[Segment, ...]:
    """The choice of the value that is shown of each class."""
    return tuple(
        Segment(
            wording.title(key),
            replace(address, class_metric=key).url(),
            key == address.class_metric,
        )
        for key in get_args(ClassMetric)
    )


def _rank(found: MetricDifference) -> tuple[bool, float]:
    return (not found.outcome.is_separable, -abs(found.difference.value or 0.0))


def _support(pair: PairComparison, code: int) -> str:
    sizes = int(pair.first.actual[code]), int(pair.second.actual[code])
    if sizes[0] == sizes[1]:
        return numbers.count(sizes[0])
    return f"{numbers.count(sizes[0])}, {numbers.count(sizes[1])}"


def _examples(
    pair: PairComparison, code: int, fate: Fate, address: CompareAddress
) -> ExampleCount | None:
    if pair.paired is None:
        return None
    count = pair.paired.churn_of_classes[code].of(fate)
    url = address.examples_url(fate, class_label=pair.labels[code]) if count else None
    return ExampleCount(numbers.count(count), url)
