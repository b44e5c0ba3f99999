"""Where a matrix is read first: its most frequent confusions, and a window around a busy class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import ACTUAL_AXIS
from offdiag_web.charts.marks import share_bar
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head
from offdiag_web.urls.examples import cell_url


@dataclass(frozen=True, slots=True)
class Confusion:
    """One kind of error: actual class, class it was taken for, and how often.

    `url` leads to the examples, where there are any to show.
    """

    actual: ClassHead
    predicted: ClassHead
    count: str
    reverse: str
    share: str
    bar: Markup
    url: str | None = None


@dataclass(frozen=True, slots=True)
class ConfusionList:
    """The most frequent kinds of error out of all that occur."""

    errors: tuple[Confusion, ...]
    n_errors: int
    n_kinds: int

    @property
    def is_cut(self) -> bool:
        return self.n_kinds > len(self.errors)

    @property
    def n_errors_text(self) -> str:
        return numbers.plural(self.n_errors, "error")

    @property
    def n_kinds_text(self) -> str:
        return numbers.plural(self.n_kinds, "kind")


def off_diagonal(matrix: ConfusionMatrix) -> NDArray[np.int64]:
    """A copy of the counts with the correct cases taken out, (K, K)."""
    errors = matrix.counts.copy()
    np.fill_diagonal(errors, 0)
    return errors


def most_frequent(
    matrix: ConfusionMatrix, *, at_most: int, run_id: str | None = None
) -> ConfusionList:
    """The largest error cells; equal ones in label order.

    With the id of a run that keeps predictions, each with the address of its examples.
    """
    errors = off_diagonal(matrix)
    actual_codes, predicted_codes = np.nonzero(errors)
    counts = errors[actual_codes, predicted_codes]
    largest = np.argsort(-counts, kind="stable")[:at_most]
    return ConfusionList(
        errors=tuple(
            _confusion(matrix, int(actual_codes[place]), int(predicted_codes[place]), run_id)
            for place in largest
        ),
        n_errors=int(counts.sum()),
        n_kinds=len(counts),
    )


def _confusion(
    matrix: ConfusionMatrix, actual: int, predicted: int, run_id: str | None
) -> Confusion:
    count, support = int(matrix.counts[actual, predicted]), int(matrix.actual[actual])
    names = matrix.labels.names
    share = numbers.whole_percent(count, support)
    return Confusion(
        actual=class_head(names[actual]),
        predicted=class_head(names[predicted]),
        count=numbers.count(count),
        reverse=numbers.count(int(matrix.counts[predicted, actual])),
        share=share,
        bar=share_bar(count / support, name=f"{share} of the class", tone="error"),
        url=None if run_id is None else cell_url(run_id, names[actual], names[predicted]),
    )


WINDOW_CLASSES = 12


def busiest_class(matrix: ConfusionMatrix) -> int:
    """Code of the actual class of the most frequent error, or the largest class without any."""
    errors = off_diagonal(matrix)
    if not errors.any():
        return int(np.argmax(matrix.actual))
    return int(np.unravel_index(int(np.argmax(errors)), errors.shape)[ACTUAL_AXIS])


def window_around(matrix: ConfusionMatrix, focus: int) -> list[int]:
    """The class `focus` and those it is most often confused with in either direction.

    Where fewer classes are involved, the largest remaining ones fill the window.
    """
    errors = off_diagonal(matrix)
    missed, taken_for_it = errors[focus, :], errors[:, focus]
    confused = missed + taken_for_it
    supports: list[int] = matrix.actual.tolist()
    others = [code for code in range(matrix.n_classes) if code != focus]
    others.sort(key=lambda code: (-int(confused[code]), -supports[code], code))
    return [focus, *others[: WINDOW_CLASSES - 1]]
