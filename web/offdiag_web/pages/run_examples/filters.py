"""Links to other examples: filters with their counts, and the next cell of the matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.examples.selection import ExampleQuestion, Kind
from offdiag_web.components import numbers
from offdiag_web.components.classes import class_head
from offdiag_web.components.controls import Link, Segment
from offdiag_web.pages.run_examples.counts import ExampleCounts, expected_count
from offdiag_web.urls.run import ExamplesAddress

CellCodes = tuple[int, int]


def cells_by_size(matrix: ConfusionMatrix, *, is_correct: bool) -> list[CellCodes]:
    """The cells of errors, or the correct ones, from the largest on; empty cells are left out.

    Equal cells are in label order.
    """
    cells = matrix.counts.copy()
    cells[np.eye(matrix.n_classes, dtype=np.bool_) != is_correct] = 0
    rows, columns = np.nonzero(cells)
    order = np.argsort(-cells[rows, columns], kind="stable")
    return list(zip(rows[order].tolist(), columns[order].tolist(), strict=True))


_KIND_TEXTS = {
    Kind.WRONG: "wrong",
    Kind.RIGHT: "right",
    Kind.UNLABELLED: "no label yet",
    Kind.ALL: "all",
}


@dataclass(frozen=True, slots=True)
class CellStepper:
    """The position of a cell among those of its kind, and links to its neighbours."""

    place: str
    before: Link | None
    after: Link | None


def kind_segments(
    counts: ExampleCounts | None, address: ExamplesAddress, *, n_unlabelled: int
) -> tuple[Segment, ...]:
    """Wrong, right, without a label, all: with their counts; none for a single cell."""
    question = address.question
    if question.is_cell:
        return ()
    kinds = [kind for kind in Kind if kind is not Kind.UNLABELLED or n_unlabelled]
    return tuple(
        Segment(
            _with_count(
                _KIND_TEXTS[kind], counts, replace(question, kind=kind), n_unlabelled=n_unlabelled
            ),
            address.asking(_of_kind(question, kind)).url(),
            kind is question.kind,
        )
        for kind in kinds
    )


def _of_kind(question: ExampleQuestion, kind: Kind) -> ExampleQuestion:
    """The same question for another kind; samples without a label have no actual class."""
    actual = None if kind is Kind.UNLABELLED else question.actual
    return replace(question, kind=kind, actual=actual)


def _with_count(
    text: str, counts: ExampleCounts | None, question: ExampleQuestion, *, n_unlabelled: int
) -> str:
    if counts is None:
        return text
    count = expected_count(counts.of(question), question, n_unlabelled=n_unlabelled)
    return text if count is None else f"{text} {numbers.count(count)}"


def terms(
    counts: ExampleCounts | None, address: ExamplesAddress, *, n_unlabelled: int
) -> tuple[tuple[str, str, str | None], ...]:
    """Every condition of the question, with the address without it."""
    question = address.question
    named = (
        ("actual", "actual", question.actual),
        ("predicted", "predicted", question.predicted),
        ("sample", "sample", question.sample),
        ("part", "slice", question.part),
    )
    found = []
    for field, word, value in named:
        if value is None:
            continue
        other = address.without(field)
        count = None
        if counts is not None:
            matrix = counts.of(other.question)
            count = expected_count(matrix, other.question, n_unlabelled=n_unlabelled)
        without = None if count is None else f"{numbers.count(count)} without it"
        found.append((f"{word} {numbers.shortened(value, longest=40)}", other.url(), without))
    return tuple(found)


def cell_stepper(counts: ExampleCounts | None, address: ExamplesAddress) -> CellStepper | None:
    """The cells around the one shown; None if there is no single cell."""
    question = address.question
    if counts is None or question.sample is not None:
        return None
    if question.actual is None or question.predicted is None:
        return None
    matrix = counts.of(question)
    if not isinstance(matrix, ConfusionMatrix):
        return None
    index = matrix.labels.index
    actual, predicted = index[question.actual], index[question.predicted]
    cells = cells_by_size(matrix, is_correct=actual == predicted)
    if (actual, predicted) not in cells:
        return None
    place = cells.index((actual, predicted))
    kind = "correct cell" if actual == predicted else "error"
    return CellStepper(
        place=f"{kind} {numbers.count(place + 1)} of {numbers.count(len(cells))}, by size",
        before=_cell_link(matrix, address, cells[place - 1]) if place else None,
        after=_cell_link(matrix, address, cells[place + 1]) if place + 1 < len(cells) else None,
    )


def _cell_link(matrix: ConfusionMatrix, address: ExamplesAddress, cell: CellCodes) -> Link:
    names = matrix.labels.names
    actual, predicted = names[cell[0]], names[cell[1]]
    count = numbers.count(int(matrix.counts[cell]))
    return Link(
        f"{class_head(actual).short} → {class_head(predicted).short} ({count})",
        address.asking(ExampleQuestion(actual, predicted)).url(),
    )


def kept_fields(address: ExamplesAddress) -> list[tuple[str, str]]:
    """The hidden fields of the form: what it does not change."""
    question, kept = address.question, []
    if question.kind is not Kind.WRONG:
        kept.append(("show", question.kind.value))
    if question.part is not None:
        kept.append(("slice", question.part))
    if question.order is not None:
        sign = "-" if question.order.descending else ""
        kept.append(("sort", f"{sign}{question.order.key.value}"))
    return kept
