"""Rows and the heads over them, as blocks: one for each table of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from offdiag.flags.audit.pasted.heads import heads_over, number_classes
from offdiag.flags.audit.pasted.lines import Row, Words, axis_word
from offdiag.flags.audit.pasted.recognition import metric_spans, recognised
from offdiag.flags.audit.pasted.values import NOTHING, Value

MOST_LABEL_CELLS = 3
"""Whole numbers at the start of a row that may belong to its label: "class 1 of 3"."""


@dataclass(frozen=True, slots=True)
class Block:
    """A table: heads of its columns, empty where there are none, and rows of equal length.

    `above` are the lines over the first row, where axes and units are named.
    """

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    above: tuple[str, ...]


def blocks_of(parts: Sequence[Row | Words]) -> tuple[list[Block], list[Words]]:
    """The tables of a text, and the lines that are neither heads nor rows."""
    collected = _Collected()
    for part in parts:
        if isinstance(part, Words):
            collected.waiting.append(part)
        elif not collected.continues_with(part):
            collected.begin(part)
    return collected.finished()


class _Collected:
    """Blocks found so far, the open one, and words that wait for what comes after them."""

    def __init__(self) -> None:
        self.waiting: list[Words] = []
        self._blocks: list[Block] = []
        self._heads: tuple[str, ...] = ()
        self._rows: list[Row] = []
        self._above: tuple[str, ...] = ()
        self._unread: list[Words] = []

    def continues_with(self, row: Row) -> bool:
        """Add the row to the open block, if it goes on there."""
        if not self._rows or _are_heads(self.waiting, row):
            return False
        fitted = _fitted(row, self._heads)
        if fitted is None:
            return False
        if self.waiting and not fitted.label:
            fitted = replace(fitted, label=" ".join(words.line.text for words in self.waiting))
        else:
            self._unread += self.waiting
        self.waiting = []
        self._rows.append(fitted)
        return True

    def begin(self, row: Row) -> None:
        """Close the open block and begin one with this row."""
        self._close()
        found = heads_over(self.waiting, row)
        first = None if found is None else _fitted(row, found[0])
        if found is None or first is None:
            found, first = (("",) * len(row.values), ""), row
            self._unread += self.waiting
        self._above = tuple(words.line.text for words in self.waiting)
        self.waiting = []
        self._heads, label = found
        self._rows = [replace(first, label=label) if label and not first.label else first]

    def finished(self) -> tuple[list[Block], list[Words]]:
        self._close()
        return self._blocks, [*self._unread, *self.waiting]

    def _close(self) -> None:
        if self._rows:
            block = Block(self._heads, tuple(self._rows), self._above)
            self._blocks.append(_with_numbers_as_heads(block))
        self._rows = []


def _with_numbers_as_heads(block: Block) -> Block:
    """The block with its first row as heads, where classes are numbered: 0 1 2 over 0, 1, 2."""
    first, rest = block.rows[0], block.rows[1:]
    is_corner = not first.label or any(axis_word(word) for word in first.label.split())
    if any(block.heads) or not rest or not is_corner:
        return block
    numbers = tuple(value.last if value is not None else None for value in first.values)
    if numbers != tuple(row.label for row in rest):
        return block
    heads = tuple(number or "" for number in numbers)
    return Block(heads, rest, (*block.above, first.label) if first.label else block.above)


def _fitted(row: Row, heads: tuple[str, ...]) -> Row | None:
    """The row with a value under each head, None if it belongs under other heads."""
    values, label = row.values, row.label
    surplus = len(values) - len(heads)
    if surplus > 0:
        leading = [value.count if value else None for value in values[:surplus]]
        is_label = surplus <= MOST_LABEL_CELLS if label and any(heads) else surplus == 1
        if not is_label or None in leading:
            return None
        label = " ".join([label, *(str(count) for count in leading)]).strip()
        values = values[surplus:]
    if surplus < 0:
        missing: tuple[Value | None, ...] = (NOTHING,) * -surplus
        if row.is_aligned or _is_below_classes(label, heads, len(values)):
            values = (*values, *missing)
        elif _is_report_line(label, heads):
            values = (*missing, *values)
        else:
            return None
    return replace(row, label=label, values=values)


def _is_report_line(label: str, heads: tuple[str, ...]) -> bool:
    """A line such as "accuracy 0.59 54", whose numbers stand at the end of a report."""
    found = recognised(label)
    under_metrics = any(recognised(head) is not None for head in heads if head)
    return found is not None and found.meaning.is_aggregate and under_metrics


def _is_below_classes(label: str, heads: tuple[str, ...], n_values: int) -> bool:
    """A line of a metric below a matrix at whose side another metric stands."""
    found = recognised(label)
    names, beside = heads[:n_values], heads[n_values:]
    return (
        found is not None
        and found.meaning.is_metric
        and not any(name and recognised(name) for name in names)
        and all(head and recognised(head) for head in beside)
    )


def _are_heads(waiting: Sequence[Words], row: Row) -> bool:
    """Whether words between rows are the heads of another table."""
    if not waiting:
        return False
    if len(waiting[-1].cells) > 1 and len(waiting[-1].cells) >= len(row.values):
        return True
    words = [word for line in waiting for word in line.words]
    if number_classes(words, len(row.values)):
        return True
    return bool(metric_spans(words)) or any(axis_word(word) for word in words)
