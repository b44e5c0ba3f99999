"""Differences of metrics between two runs with their intervals, overall and for each class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, get_args

from markupsafe import Markup

from offdiag.comparison import texts
from offdiag.comparison.churn import PairedOutcome
from offdiag.comparison.differences import ALL_HEADLINES, DifferenceStatus, MetricDifference
from offdiag.comparison.pair import CHOSEN_HERE, PairComparison
from offdiag.domain.sentences import typeset
from offdiag.metrics.counted import numbers_of
from offdiag_web.charts.marks import Canvas, interval_mark
from offdiag_web.charts.svg import Scale
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, class_order
from offdiag_web.components.controls import Link, Segment
from offdiag_web.components.metric_values import Notes, ShownValue, extent_of, shown
from offdiag_web.urls.compare import ClassMetric, CompareAddress

Tone = Literal["better", "worse", "plain"]

_STEPS = tuple(Decimal(text) for text in ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"))
_CANVAS = Canvas(width=76, height=20)
_TONES: dict[DifferenceStatus, Tone] = {
    DifferenceStatus.BETTER: "better",
    DifferenceStatus.WORSE: "worse",
}


@dataclass(frozen=True, slots=True)
class DifferenceLine:
    """One metric of two runs; `outcome` says in words what the mark shows by shape and colour.

    `interval` is that of the metric alone; `together` is the simultaneous one, which decides, None
    if both are printed the same. `caption` is set if only the former excludes 0.
    """

    title: str
    first: ShownValue
    second: ShownValue
    gap: ShownValue
    interval: str | None
    together: str | None
    caption: str | None
    why_none: str | None
    mark: Markup | None
    outcome: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class MetricTable:
    """Metrics of all classes together, on one axis whose ends are printed.

    `ends` is None if both runs have values but there are no differences.
    """

    lines: tuple[DifferenceLine, ...]
    ends: tuple[str, str] | None
    interval_head: str
    how: str
    n_wider: str | None


def metric_table(pair: PairComparison, notes: Notes) -> MetricTable:
    """All metrics of a pair. Those of scores do not set the axis and may be beyond it."""
    scale = symmetric_scale(
        found for found in pair.metrics if found.key not in {"log_loss", "brier_sum"}
    )
    unreliable = any("unreliable" in (each.difference.ci_method or "") for each in pair.metrics)
    return MetricTable(
        tuple(
            difference_line(
                found,
                texts.title(found.key),
                scale,
                notes,
                among=_among_metrics(found, pair),
            )
            for found in pair.metrics
        ),
        scale.ends if pair.has_differences else None,
        f"{texts.level_text(pair.confidence)} CI",
        _how(pair),
        "Intervals of averages over classes are unreliable here, as the verdict says."
        if unreliable
        else None,
    )


def difference_line(
    found: MetricDifference, title: str, scale: Scale, notes: Notes, *, among: str
) -> DifferenceLine:
    """One line. The mark leaves out what is beyond the axis and points there instead.

    `among` is the number of metrics tested together, in words: "five".
    """
    of_class = found.class_label is not None
    gap = texts.difference_text(found.key, found.difference, of_class=of_class)
    interval = texts.difference_interval(found.key, found.difference, of_class=of_class)
    together = texts.simultaneous_interval(found)
    together = None if together == interval else together
    tone = _TONES.get(found.outcome, "plain")
    first, second = shown(found.first, notes), shown(found.second, notes)
    extent = extent_of(found.difference)
    mark = None
    if extent is not None:
        said = f"interval {interval}" if interval else "no interval"
        said += f", together {together}" if together else ""
        mark = interval_mark(
            extent,
            scale=scale,
            name=f"B minus A {gap}, {said}: {_word(found)}",
            baseline=0.0,
            tone=None if tone == "plain" else tone,
            whisker=_whisker(found),
            canvas=_CANVAS,
        )
    return DifferenceLine(
        title=title,
        first=first,
        second=second,
        gap=ShownValue(gap, first.note or second.note),
        interval=interval,
        together=together,
        caption=f"alone it would pass; not among {among}" if found.would_pass_alone else None,
        why_none=_why_none(found),
        mark=mark,
        outcome=_word(found),
        tone=tone,
    )


def _word(found: MetricDifference) -> str:
    if found.outcome is DifferenceStatus.NOT_SEPARABLE:
        return "no significant difference"
    return found.outcome.value


def _whisker(found: MetricDifference) -> tuple[float, float] | None:
    if found.simultaneous is None:
        return None
    low, high = found.simultaneous.low, found.simultaneous.high
    return None if low is None or high is None else (low, high)


def _among_metrics(found: MetricDifference, pair: PairComparison) -> str:
    if found.key in ALL_HEADLINES:
        return texts.number_word(len(pair.together.tested))
    of_scores = [each for each in pair.metrics if each.key not in ALL_HEADLINES]
    return texts.number_word(sum(each.simultaneous is not None for each in of_scores))


def _how(pair: PairComparison) -> str:
    n_tested = len(pair.together.tested)
    if n_tested < 2:
        return ""
    return (
        f"Thick bar and first interval: the metric alone. Thin line and second interval: "
        f"{texts.number_word(n_tested)} primary metrics together, which decides; metrics of "
        "scores are tested as a separate family."
    )


def symmetric_scale(differences: Iterable[MetricDifference]) -> Scale:
    """The shortest tidy axis around 0 that shows all intervals, at most from -2 to 2."""
    shown_differences = list(differences)
    extents = [extent_of(found.difference) for found in shown_differences]
    ends = [abs(end) for e in extents if e is not None for end in (e.lowest, e.highest)]
    whiskers = map(_whisker, shown_differences)
    ends += [abs(end) for whisker in whiskers if whisker is not None for end in whisker]
    reach = max(ends, default=0.0)
    end = next((step for step in _STEPS if float(step) >= reach), _STEPS[-1])
    return Scale(-end, end)


def _why_none(found: MetricDifference) -> str | None:
    if found.outcome is not DifferenceStatus.NO_INTERVAL:
        return None
    method = found.difference.ci_method or ""
    if found.difference.value == 0 and method != CHOSEN_HERE:
        return "no example differs"
    return "too few examples" if not method else numbers.shortened(typeset(method), longest=60)


MOST_CLASSES = 30
"""Most classes that are sorted by size; if there are more, the worst change is first."""
MOST_LISTED = 120
FIRST_OF_MANY = 12
"""If there are more classes, this many are listed before the others are requested."""


@dataclass(frozen=True, slots=True)
class ClassLine:
    """One class; the counts are about its own examples and only shown for recall."""

    head: ClassHead
    support: str
    difference: DifferenceLine
    only_a: Link | None
    only_b: Link | None


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The classes, largest first; if there are many, those on which B is worse are first.

    If there are many, `lines` has the first ones and `further` the others. `ends` are as in
    `MetricTable`.
    """

    noun: str
    title: str
    metrics: tuple[Segment, ...]
    lines: tuple[ClassLine, ...]
    further: tuple[ClassLine, ...]
    ends: tuple[str, str] | None
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
        codes = sorted(codes, key=lambda code: _rank(found[code]))
        codes = _ends(codes)
    scale = symmetric_scale(found[code] for code in codes)
    among = texts.class_noun(pair.classes_tested[key], of_sets=pair.of_sets)
    has_counts = pair.paired is not None and key == "recall"
    lines = tuple(
        ClassLine(
            head=class_head(pair.labels[code]),
            support=_support(pair, code),
            difference=difference_line(found[code], pair.labels[code], scale, notes, among=among),
            only_a=_examples(pair, code, PairedOutcome.ONLY_A, address) if has_counts else None,
            only_b=_examples(pair, code, PairedOutcome.ONLY_B, address) if has_counts else None,
        )
        for code in codes
    )
    noun = "label" if pair.of_sets else "class"
    n_first = n_classes if n_classes <= MOST_CLASSES else FIRST_OF_MANY
    return ClassTable(
        noun=noun,
        title=f"{texts.title(key)} of each {noun}{', B − A' if pair.has_differences else ''}",
        metrics=metric_segments(address),
        lines=lines[:n_first],
        further=lines[n_first:],
        ends=scale.ends if pair.has_differences else None,
        has_counts=has_counts,
        cut=None
        if n_classes <= MOST_LISTED
        else f"The {MOST_LISTED} of {_counted(pair, n_classes)} that change most, the "
        "worst first. The CSV has all of them.",
        how=_how_by_class(pair, among),
    )


def _counted(pair: PairComparison, n_classes: int) -> str:
    return texts.class_noun(n_classes, of_sets=pair.of_sets)


def _how_by_class(pair: PairComparison, among: str) -> str:
    method = "Holm" if pair.paired is not None else "Bonferroni"
    noun = "label" if pair.of_sets else "class"
    if not pair.has_differences:
        return ""
    if pair.chosen_here:
        return f"Recall, precision and F1 of each {noun} are {CHOSEN_HERE}."
    return (
        f"A {noun} is better or worse where the test of all {among} together says so ({method}). "
        f"Thick bar and first interval: the {noun} alone. Thin line and second interval: all "
        "together."
    )


def metric_segments(address: CompareAddress) -> tuple[Segment, ...]:
    """The choice of the metric that is shown for each class."""
    return tuple(
        Segment(
            texts.title(key),
            replace(address, class_metric=key).url(),
            key == address.class_metric,
        )
        for key in get_args(ClassMetric)
    )


def _rank(found: MetricDifference) -> tuple[int, float]:
    """Significantly worse first, significantly better last, both sorted by the difference."""
    side = {DifferenceStatus.WORSE: -1, DifferenceStatus.BETTER: 1}.get(found.outcome, 0)
    return side, found.difference.value or 0.0


def _ends(codes: list[int]) -> list[int]:
    """The first and the last ones, as many as are listed."""
    if len(codes) <= MOST_LISTED:
        return codes
    half = MOST_LISTED // 2
    return [*codes[:half], *codes[-half:]]


def _support(pair: PairComparison, code: int) -> str:
    sizes = int(numbers_of(pair.first).actual[code]), int(numbers_of(pair.second).actual[code])
    if sizes[0] == sizes[1]:
        return numbers.count(sizes[0])
    return f"{numbers.count(sizes[0])}, {numbers.count(sizes[1])}"


def _examples(
    pair: PairComparison, code: int, outcome: PairedOutcome, address: CompareAddress
) -> Link | None:
    if pair.paired is None:
        return None
    count = pair.paired.churn_of_classes[code].of(outcome)
    url = address.examples_url(outcome, class_label=pair.labels[code]) if count else None
    return Link(numbers.count(count), url)
