"""Lines with numbers as rows, lines without as words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from offdiag.domain.axis_names import ACTUAL_WORDS, PREDICTED_WORDS
from offdiag.flags.audit.pasted.cells import Line
from offdiag.flags.audit.pasted.recognition import metric_spans, recognised
from offdiag.flags.audit.pasted.values import NOTHING, Value, read_value

_NUMBERED = frozenset({"class", "label", "category", "group"})


@dataclass(frozen=True, slots=True)
class Words:
    """A line without numbers: a heading, heads, half of a label, or prose."""

    line: Line

    @property
    def cells(self) -> tuple[str, ...]:
        return self.line.cells

    @property
    def words(self) -> list[str]:
        return self.line.text.split()


@dataclass(frozen=True, slots=True)
class Row:
    """Numbers behind a label; None stands where words are in the place of a number.

    `n_before` is the number of cells that make up the label, and `text` the row as it stands
    in the text.
    """

    line: int
    text: str
    label: str
    values: tuple[Value | None, ...]
    n_before: int
    is_aligned: bool


def rows_and_words(lines: Sequence[Line]) -> list[Row | Words]:
    """The lines in order; one that holds several names with their numbers becomes several."""
    return [part for line in lines if line.text for part in _parts(line)]


def _parts(line: Line) -> Iterator[Row | Words]:
    values = [read_value(cell) for cell in line.cells]
    if not any(value is not None and value is not NOTHING for value in values):
        yield Words(line)
        return
    start = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or _begins(line, values, start, place):
            yield from _row(line, values, start, place)
            start = place


def _begins(line: Line, values: Sequence[Value | None], start: int, place: int) -> bool:
    """Whether another name begins here, after numbers and before others."""
    if values[place] is not None or not any(value for value in values[start:place]):
        return False
    if not any(value is not None and value is not NOTHING for value in values[place:]):
        return False
    return not line.is_aligned or recognised(line.cells[place]) is not None


def _row(
    line: Line, values: Sequence[Value | None], start: int, end: int
) -> Iterator[Row | Words]:
    first = start
    while first < end and (values[first] is None or (first == start and not line.cells[first])):
        first += 1
    if not line.is_aligned:
        while end > first and values[end - 1] is None:
            end -= 1
    label = " ".join(cell for cell in line.cells[start:first] if cell)
    kept = tuple(values[first:end])
    if not kept or _is_numbered_name(label, kept):
        yield Words(Line(line.number, (" ".join(line.cells[start:end]),), is_aligned=False))
        return
    if not line.is_aligned:
        heads, label = _heads_before(label, len(kept))
        if heads:
            yield Words(Line(line.number, (heads,), is_aligned=False))
    text = " ".join(cell for cell in line.cells[start:end] if cell)
    yield Row(line.number, text, _name(label), kept, first - start, line.is_aligned)


def _is_numbered_name(label: str, values: Sequence[Value | None]) -> bool:
    """ "Class 1", alone in its line, is the name of a class and no number."""
    is_whole = len(values) == 1 and values[0] is not None and values[0].count is not None
    last = label.rsplit(maxsplit=1)[-1].lower() if label else ""
    return is_whole and (last in _NUMBERED or axis_word(last) is not None)


def _name(label: str) -> str:
    """A label without the formula behind it: "Precision = TP/(TP+FP)", but not "A (y = 0)"."""
    depth = 0
    for place, character in enumerate(label):
        depth += (character == "(") - (character == ")")
        if character in ":=≈" and depth <= 0 and label[:place].strip():
            return label[:place].strip()
    return label.strip(" :=≈")


def _heads_before(label: str, n_values: int) -> tuple[str, str]:
    """Heads that run into the label of the first row, where all stands in one line.

    "Predicted Yes No Actual Yes" and "Class A Class B Precision" hold both.
    """
    words = label.split()
    axes = [place for place, word in enumerate(words) if axis_word(word) is not None]
    if len(axes) > 1 and axis_word(words[axes[0]]) != axis_word(words[axes[-1]]):
        return " ".join(words[: axes[-1]]), " ".join(words[axes[-1] :])
    if n_values < 2 or len(words) <= n_values:
        return "", label
    spans = metric_spans(words)
    if spans and spans[-1][1] == len(words) and spans[-1][0] >= n_values:
        start = spans[-1][0]
        return " ".join(words[:start]), " ".join(words[start:])
    return "", label


def named_by_axis(words: Sequence[str]) -> list[str]:
    """ "Predicted A (80) Predicted B" parted at the repeated name of the axis."""
    axes = [axis_word(word) for word in words]
    starts = [place for place, axis in enumerate(axes) if axis is not None and axis == axes[0]]
    ends = [*starts[1:], len(words)]
    return (
        [" ".join(words[start + 1 : end]) for start, end in zip(starts, ends, strict=True)]
        if len(starts) > 1
        else []
    )


def axis_word(word: str) -> str | None:
    """ "predicted" or "actual" for words that name an axis of a confusion matrix."""
    plain = word.strip(":,.()\\/|→↓").lower()
    if plain in PREDICTED_WORDS:
        return "predicted"
    return "actual" if plain in ACTUAL_WORDS else None
