"""The matrix of many classes: the whole as a map, and twelve classes as a table next to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.components import numbers
from offdiag_web.components.classes import (
    WINDOW_CLASSES,
    Grouping,
    bands,
    busiest_class,
    class_head,
    listed_choices,
    off_diagonal,
)
from offdiag_web.pages.run_matrix.drawings import map_side
from offdiag_web.urls.run import MatrixAddress, cell_url

LARGEST_CHOICE = 1_000
"""Most classes that are chosen from a list; with more, the name is typed."""
_LONGEST_NAME = 18
_LETTER = 6.5
"""Width of a bold letter of a name in CSS pixels."""
_HALF_A_LINE = 6
"""CSS pixels from an end of an axis at which the first and the last name are whole."""
_MOST_NAMES = 40


@dataclass(frozen=True, slots=True)
class AxisName:
    """A name next to the map, `middle` pixels from its start."""

    text: str
    middle: float
    is_current: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """A part of the map that the table shows, in units of classes."""

    down: int
    across: int
    height: int
    width: int


@dataclass(frozen=True, slots=True)
class Map:
    """The whole matrix as a picture, `side` CSS pixels wide and high."""

    light_url: str
    dark_url: str
    side: int
    name: str
    rarest: int
    names: tuple[AxisName, ...]
    room: int
    """CSS pixels above the map that its longest name needs."""
    bounds: tuple[int, ...]
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The classes in the table, the selected cell, and which other classes can be chosen.

    `codes` are in the order of the map.
    """

    codes: tuple[int, ...]
    title: str
    focus: str
    choices: tuple[str, ...] | None
    previous_url: str | None
    next_url: str | None
    sentence: str | None
    examples_url: str | None
    cell: tuple[int, int] | None
    """Codes of the actual and the predicted class of the selected cell."""


def window_of(
    matrix: ConfusionMatrix, order: Sequence[int], address: MatrixAddress, *, has_examples: bool
) -> tuple[Window, list[str]]:
    """The table next to the map, and a notice if the requested class does not exist."""
    names, index = matrix.labels.names, matrix.labels.index
    notices = []
    focus = index.get(address.focus) if address.focus else None
    if address.focus and focus is None:
        notices.append(
            f"There is no class “{address.focus}”; this is the one with the largest error."
        )
    if focus is None:
        focus = busiest_class(matrix)
    taken_for = index.get(address.taken_for) if address.taken_for else None
    if taken_for is None:
        taken_for = _most_frequent_error(matrix, focus)
    codes = _around(order, focus, focus if taken_for is None else taken_for)
    place = list(order).index(focus)
    sentence, examples_url = None, None
    if taken_for is not None:
        count = int(matrix.counts[focus, taken_for])
        sentence = (
            f"actual {names[focus]}, predicted {names[taken_for]}: {numbers.count(count)} of "
            f"{numbers.count(int(matrix.actual[focus]))}."
        )
        if has_examples and count:
            examples_url = cell_url(address.run_id, names[focus], names[taken_for], address.part)

    def beside(step: int) -> str | None:
        at = place + step
        if not -WINDOW_CLASSES < at < len(order) + WINDOW_CLASSES - 1:
            return None
        at = min(max(at, 0), len(order) - 1)
        if at == place:
            return None
        return replace(address, focus=names[order[at]], taken_for=None).url()

    window = Window(
        codes=tuple(codes),
        title=f"{numbers.shortened(names[codes[0]])} to {numbers.shortened(names[codes[-1]])}",
        focus=names[focus],
        choices=listed_choices(names, most=LARGEST_CHOICE),
        previous_url=beside(-WINDOW_CLASSES),
        next_url=beside(WINDOW_CLASSES),
        sentence=sentence,
        examples_url=examples_url,
        cell=None if taken_for is None else (focus, taken_for),
    )
    return window, notices


def _most_frequent_error(matrix: ConfusionMatrix, focus: int) -> int | None:
    errors = off_diagonal(matrix)[focus]
    return int(np.argmax(errors)) if errors.any() else None


def _around(order: Sequence[int], actual: int, predicted: int) -> list[int]:
    """Twelve neighbours in the order of the map, or six around each of two distant classes."""
    first, second = sorted(list(order).index(code) for code in (actual, predicted))
    if second - first < WINDOW_CLASSES:
        places = _run(len(order), (first + second) // 2, WINDOW_CLASSES)
    else:
        half = WINDOW_CLASSES // 2
        places = [*_run(len(order), first, half), *_run(len(order), second, half)]
    return [order[place] for place in places]


def _run(n: int, middle: int, length: int) -> list[int]:
    start = min(max(middle - (length - 1) // 2, 0), max(n - length, 0))
    return list(range(start, min(start + length, n)))


def map_of(
    matrix: ConfusionMatrix,
    order: Sequence[int],
    address: MatrixAddress,
    window: Window,
    grouping: Grouping | None,
) -> Map:
    """The picture, with names around it and frames on it."""
    light = address.url("png")
    down, across = address.laid_out("actual", "predicted")
    place_of = {code: place for place, code in enumerate(order)}
    places = sorted(place_of[code] for code in window.codes)
    runs = _contiguous(places)
    names, bounds = _names(
        matrix, order, places, grouping, in_groups=address.order in {None, "group"}
    )
    return Map(
        light_url=light,
        dark_url=f"{light}{'&' if '?' in light else '?'}theme=dark",
        side=map_side(matrix.n_classes),
        name=(
            f"Map of all {matrix.n_classes} classes: {down} downwards, {across} to the right. "
            "Arrow keys move a cursor, Enter shows its cell in the table"
        ),
        rarest=address.rarest,
        names=names,
        room=8 + round(_LETTER * max((len(name.text) for name in names), default=0)),
        bounds=bounds,
        frames=tuple(
            Frame(first, second, n_down, n_across)
            for first, n_down in runs
            for second, n_across in runs
        ),
    )


def _contiguous(places: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place == runs[-1][0] + runs[-1][1]:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((place, 1))
    return runs


def _names(
    matrix: ConfusionMatrix,
    order: Sequence[int],
    shown: Sequence[int],
    grouping: Grouping | None,
    *,
    in_groups: bool,
) -> tuple[tuple[AxisName, ...], tuple[int, ...]]:
    """Groups of classes with their bounds, or class names at regular intervals."""
    n_classes = matrix.n_classes
    if grouping is not None and in_groups:
        levels = bands(grouping, order)
        if levels and len(levels[0]) <= _MOST_NAMES:
            found, start, bounds = [], 0, []
            for group, length in levels[0]:
                if group is not None:
                    found.append(_name(group.name, start, length, shown, n_classes))
                start += length
                bounds.append(start)
            return tuple(found), tuple(bounds[:-1])
    step = max(10, -(-n_classes // _MOST_NAMES // 10) * 10)
    labels = matrix.labels.names
    return tuple(
        _name(labels[order[start]], start, 1, shown, n_classes, until=start + step)
        for start in range(0, n_classes, step)
    ), ()


def _name(
    name: str,
    start: int,
    length: int,
    shown: Sequence[int],
    n_classes: int,
    *,
    until: int | None = None,
) -> AxisName:
    end = until or start + length
    side = map_side(n_classes)
    pixels = side / n_classes
    return AxisName(
        numbers.shortened(name, longest=_LONGEST_NAME),
        round(min(max((start + length / 2) * pixels, _HALF_A_LINE), side - _HALF_A_LINE), 1),
        any(start <= place < end for place in shown),
    )


MOST_SUPERCLASSES = 6


def superclasses(matrix: ConfusionMatrix, grouping: Grouping | None) -> dict[str, object] | None:
    """The outermost groups; None if there are no groups, or some are already collapsed."""
    if grouping is None or grouping.collapse.groups:
        return None
    found, inside = [], 0
    index = matrix.labels.index
    for group in grouping.hierarchy.groups:
        codes = [index[name] for name in group.classes if name in index]
        support = int(matrix.actual[codes].sum())
        if not support:
            continue
        within = matrix.counts[np.ix_(codes, codes)]
        inside += int(within.sum() - np.trace(within))
        found.append((int(within.sum()) / support, group.name, support))
    if not found:
        return None
    errors = int(off_diagonal(matrix).sum())
    share = numbers.whole_percent(inside, errors) if errors else None
    lines = tuple(
        (class_head(name), numbers.metric(recall), numbers.count(support))
        for recall, name, support in sorted(found)[:MOST_SUPERCLASSES]
    )
    return {
        "lines": lines,
        "inside": "" if share is None else f"{share} of errors stay inside the superclass.",
    }
