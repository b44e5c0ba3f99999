"""Recall against class size for a flag: the chart, its interpretation, and its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.flags.assessment import ClassRecall, Side, class_recalls
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag_web.app.exports import Cell
from offdiag_web.charts.recall_by_size import ClassPoint, Floor, recall_by_size
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, quoted_name

MOST_DRAWN = 200
"""Most points; more would hide each other, so those with the lowest recall are drawn."""
MOST_LISTED = 50
LONGEST_CAPTION = 16

CLASS_COLUMNS = ("class", "cases", "found", "recall", "ci_low", "ci_high", "floor", "interval_is")

_SIDES: dict[Side, str] = {
    "below": "below the floor",
    "across": "across the floor",
    "above": "above the floor",
}


@dataclass(frozen=True, slots=True)
class RecallFloor:
    """The recall below which the rule on recall raises a flag, and how it was derived."""

    recall: float
    accuracy: float
    gap: float
    class_label: str | None


@dataclass(frozen=True, slots=True)
class SizeChart:
    """The drawing, the sentences that interpret it, and its data as lines: on which side of the
    floor each class is."""

    drawing: Markup
    floor: str | None
    reading: str
    lines: tuple[tuple[ClassRecall, ClassHead, str], ...]
    left_out: str | None


def recall_floor(matrix: Counted, *, gap: float, class_label: str | None) -> RecallFloor | None:
    """The recall below which the rule on recall raises a flag: a gap below the accuracy.

    For a class that is the accuracy on the samples of all others, as in that rule, and otherwise
    that of all samples. None if no recall can be that low, and for sets of labels, to which that
    rule does not apply.
    """
    if not isinstance(matrix, ConfusionMatrix):
        return None
    hits, total = matrix.n_right, matrix.total
    code = None if class_label is None else matrix.labels.index.get(class_label)
    if code is not None:
        hits -= int(matrix.counts[code, code])
        total -= int(matrix.actual[code])
    if not total or hits / total <= gap:
        return None
    about = class_label if code is not None else None
    return RecallFloor(hits / total - gap, hits / total, gap, about)


def size_chart(
    matrix: Counted, floor: RecallFloor | None, *, class_label: str | None
) -> SizeChart | None:
    """Present the classes of a run, starting with that of the flag. None without samples."""
    classes = class_recalls(matrix)
    if not classes:
        return None
    classes.sort(key=lambda each: (each.name != class_label, each.recall, -each.cases))
    drawn = classes[:MOST_DRAWN]
    reading = _reading(classes, floor, of_sets=isinstance(matrix, CountedSets))
    return SizeChart(
        drawing=recall_by_size(
            [_point(each, floor) for each in drawn],
            floor=None
            if floor is None
            else Floor(floor.recall, f"floor {numbers.metric(floor.recall)}"),
            name=f"Recall of {numbers.plural(len(drawn), 'class', 'classes')} against the number "
            f"of their examples, with 95 % intervals. {reading}",
        ),
        floor=_floor_sentence(floor),
        reading=reading,
        lines=tuple(
            (
                each,
                class_head(each.name, longest=24),
                "no floor" if floor is None else _SIDES[each.side_of(floor.recall)],
            )
            for each in classes[:MOST_LISTED]
        ),
        left_out=_left_out(matrix, n_classes=len(classes)),
    )


def class_rows(
    classes: Sequence[ClassRecall], floor: RecallFloor | None
) -> list[tuple[Cell, ...]]:
    """One line for each class, in the order of `CLASS_COLUMNS` and in full precision."""
    return [
        (
            each.name,
            each.cases,
            each.found,
            each.recall,
            each.low,
            each.high,
            None if floor is None else floor.recall,
            None if floor is None else each.side_of(floor.recall),
        )
        for each in classes
    ]


def _point(each: ClassRecall, floor: RecallFloor | None) -> ClassPoint:
    return ClassPoint(
        numbers.shortened(each.name, longest=LONGEST_CAPTION),
        each.cases,
        each.recall,
        each.low,
        each.high,
        stands_out=floor is not None and each.side_of(floor.recall) == "below",
    )


def _floor_sentence(floor: RecallFloor | None) -> str | None:
    if floor is None:
        return None
    where = (
        "on all examples"
        if floor.class_label is None
        else f"on all examples but those of {quoted_name(floor.class_label)}"
    )
    return (
        f"The floor is {numbers.metric(floor.gap)} below the accuracy {where}, "
        f"{numbers.metric(floor.accuracy)}."
    )


def _reading(classes: Sequence[ClassRecall], floor: RecallFloor | None, *, of_sets: bool) -> str:
    """Which classes fail and which have too few examples, judged only by their intervals."""
    if of_sets:
        return "Multi-label runs have no accuracy from which a floor could be derived."
    if floor is None:
        return "Accuracy is too low to derive a floor."
    below = [each for each in classes if each.side_of(floor.recall) == "below"]
    across = [each for each in classes if each.side_of(floor.recall) == "across"]
    sentences = [
        f"{_names(below)} {_verb(below, 'is', 'are')} entirely below the floor."
        if below
        else "No class is entirely below the floor."
    ]
    if across:
        sentences.append(
            f"{_names(across)} {_verb(across, 'has', 'have')} too few examples to tell on which "
            "side of it."
        )
    return " ".join(sentences)


def _names(classes: Sequence[ClassRecall]) -> str:
    return numbers.listed([quoted_name(each.name) for each in classes])


def _verb(classes: Sequence[ClassRecall], one: str, many: str) -> str:
    return one if len(classes) == 1 else many


def _left_out(matrix: Counted, *, n_classes: int) -> str | None:
    """What the picture does not show; None if it shows everything."""
    parts = []
    if n_classes > MOST_DRAWN:
        drawn, all_of_them = numbers.count(MOST_DRAWN), numbers.count(n_classes)
        parts.append(f"Only the {drawn} lowest recalls of {all_of_them} are drawn.")
    empty = matrix.n_classes - n_classes
    if empty:
        has = "has" if empty == 1 else "have"
        parts.append(f"{numbers.plural(empty, 'class', 'classes')} {has} no examples.")
    return " ".join(parts) or None
