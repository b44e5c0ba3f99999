"""Which head stands over which column."""

from __future__ import annotations

import re
from collections.abc import Sequence

from offdiag.flags.audit.pasted.lines import Row, Words, axis_word, named_by_axis
from offdiag.flags.audit.pasted.recognition import metric_spans

_STUBS = frozenset(
    {"metric", "metrics", "model", "models", "method", "methods", "class", "classes", "label"}
    | {"classifier", "algorithm", "dataset", "approach", "name", "measure", "labels", "category"}
)
_NUMBERED = re.compile(
    r"(?:class|label|category|group)\s+[^\s()]{1,40}(?:\s*\([^()]{0,40}\))?", re.IGNORECASE
)
_CAMEL = re.compile(r"[A-Z][a-z]{1,30}")
_MOST_LINES = 30
"""Lines of heads, where a PDF file gave each word a line of its own."""


def heads_over(words: Sequence[Words], row: Row) -> tuple[tuple[str, ...], str] | None:
    """Heads of the columns of a row, and what is left of the words as its label.

    `words` are the lines without numbers before the row. None if they are no heads.
    """
    if not words:
        return None
    in_cells = _in_cells(words, row)
    if in_cells is not None:
        return in_cells, ""
    n_columns = len(row.values)
    found = _by_names(words, n_columns)
    first = row.values[0]
    if found is None and n_columns > 2 and first is not None and first.count is not None:
        # The first number of a row without a label may be the name of a class.
        found = None if row.label else _by_names(words, n_columns - 1)
    if found is not None:
        return found
    by_words = _by_words(words[-1].words, n_columns)
    return None if by_words is None else (by_words, "")


def _by_names(words: Sequence[Words], n_columns: int) -> tuple[tuple[str, ...], str] | None:
    """Heads among words that only spaces part: names of metrics, or of an axis, in any line."""
    for n_lines in range(1, min(len(words), _MOST_LINES) + 1):
        flat = [word for line in words[-n_lines:] for word in line.words]
        by_metrics = _by_metrics(flat, n_columns)
        if by_metrics is not None:
            heads, label = by_metrics
            above = words[-n_lines - 1].words if n_lines < len(words) else []
            return _with_first_group(heads, above), label
        by_axis = named_by_axis(flat)
        if len(by_axis) == n_columns:
            return tuple(by_axis), ""
    return None


def number_classes(words: Sequence[str], n_columns: int) -> bool:
    """Whether words are the heads of so many classes: "Class A (80) Class B (15)"."""
    return len(_NUMBERED.findall(" ".join(words))) == n_columns


def _with_first_group(heads: tuple[str, ...], above: list[str]) -> tuple[str, ...]:
    """Heads of which the first is in a group, too, whose name stands in the line above."""
    second = heads[1].partition(" ")[0] if len(heads) > 1 else ""
    if above == [second] and not metric_spans(above):
        return (f"{second} {heads[0]}", *heads[1:])
    return heads


def _in_cells(words: Sequence[Words], row: Row) -> tuple[str, ...] | None:
    """Heads that already are cells of the last line."""
    n_columns, cells = len(row.values), words[-1].cells
    if not words[-1].line.is_aligned and _is_stub(cells[0]):
        cells = cells[1:]
    if len(cells) < 2 and not (n_columns == 1 and words[-1].line.is_aligned):
        return None
    if n_columns == len(cells) + 1 and not row.label:
        # The first number of the row is the name of a class.
        return _under(words, cells)
    if len(cells) < n_columns:
        return None
    start = row.n_before if len(cells) >= row.n_before + n_columns else len(cells) - n_columns
    return _under(words, cells[start : start + n_columns])


def _under(words: Sequence[Words], heads: tuple[str, ...]) -> tuple[str, ...]:
    """Heads with the names of the groups that stand in the line above them."""
    groups = [cell for cell in words[-2].cells if cell] if len(words) > 1 else []
    if len(groups) < 2 or len(heads) % len(groups):
        return heads
    per_group = len(heads) // len(groups)
    if per_group < 2 or heads != heads[:per_group] * len(groups):
        return heads
    return tuple(f"{groups[place // per_group]} {head}" for place, head in enumerate(heads))


def _by_metrics(words: list[str], n_columns: int) -> tuple[tuple[str, ...], str] | None:
    """Heads that are names of metrics, each with the words before it, and what comes after."""
    spans = metric_spans(words)
    if len(spans) != n_columns:
        return None
    starts = [0, *(end for _, end in spans[:-1])]
    heads = [
        " ".join(_without_stub(words[start:end]))
        for start, (_, end) in zip(starts, spans, strict=True)
    ]
    return tuple(heads), " ".join(words[spans[-1][1] :])


def _by_words(words: list[str], n_columns: int) -> tuple[str, ...] | None:
    """Heads of classes or models: "Class A (80) Class B (15)", "A (80) B (15)", "A B"."""
    kept = _without_stub(words)
    for parts in (_NUMBERED.findall(" ".join(words)), kept, _with_brackets(kept)):
        if len(parts) == n_columns:
            return tuple(parts)
    camel = _CAMEL.findall(words[0]) if len(words) == 1 else []
    if len(camel) == n_columns:
        return tuple(camel)
    return tuple(kept[1:]) if len(kept) == n_columns + 1 else None


def _without_stub(words: list[str]) -> list[str]:
    """Words without the name of the axis and the head of the labels before them."""
    start = 0
    while start < len(words) - 1 and axis_word(words[start]) is not None:
        start += 1
    if start < len(words) - 1 and _is_stub(words[start]):
        start += 1
    return words[start:]


def _is_stub(word: str) -> bool:
    """Whether it is the head of the labels, or the name of an axis in their place."""
    return axis_word(word) is not None or word.lower().strip(":") in _STUBS


def _with_brackets(words: list[str]) -> list[str]:
    """Words with a bracket behind them taken as one: "A (80)"."""
    parts: list[str] = []
    for word in words:
        if parts and (word.startswith("(") or parts[-1].count("(") > parts[-1].count(")")):
            parts[-1] = f"{parts[-1]} {word}"
        else:
            parts.append(word)
    return parts
