"""The confusion matrix as a picture, and the numbers and colours of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import require_known
from offdiag.metrics.orientation import (
    ACTUAL_AXIS,
    PREDICTED_AXIS,
    actual_totals,
    predicted_totals,
)
from offdiag.plot.axes import (
    CORRECT,
    ERROR,
    PAGE,
    QUIET_INK,
    RULE,
    STEPS,
    axes_or_new,
    shortened,
    text_on,
    title,
)
from offdiag.sdk.evaluations.evaluate import WeightedEvaluation
from offdiag.sdk.evaluations.evaluation import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Normalize = Literal["actual", "predicted", "all"]
OF_WHAT = {
    "actual": "share of the actual class",
    "predicted": "share of the predicted class",
    "all": "share of all",
}
UNDEFINED = "undefined"


@dataclass(frozen=True, eq=False)
class MatrixCells:
    """Everything a picture of a matrix shows, all (K, K), actual classes along the first axis.

    `shares` is NaN where the class it refers to is empty, and equals `counts` where nothing
    is normalised. `correct_end` and `error_end` are the values at the ends of the ramps.
    """

    counts: NDArray[Any]
    shares: NDArray[np.float64]
    normalize: Normalize | None
    correct_end: float
    error_end: float

    @property
    def n_classes(self) -> int:
        return len(self.counts)

    def colour(self, actual: int, predicted: int) -> str:
        """The colour of a cell; cells without cases have that of the page."""
        share = self.shares[actual, predicted]
        if self.counts[actual, predicted] == 0 or np.isnan(share):
            return PAGE
        if actual == predicted:
            return CORRECT[_step(share / self.correct_end)]
        return ERROR[_step(np.sqrt(share / self.error_end))]

    def count_text(self, actual: int, predicted: int) -> str:
        return number_text(self.counts[actual, predicted])

    def share_text(self, actual: int, predicted: int) -> str:
        """The share as a whole percentage, or the word for none."""
        if self.normalize is None:
            return ""
        return percent_text(float(self.shares[actual, predicted]))

    def ends_text(self) -> tuple[str, str]:
        """What the darkest blue and the darkest orange stand for."""
        show = number_text if self.normalize is None else percent_text
        return show(self.correct_end), show(self.error_end)


def matrix_cells(counts: NDArray[Any], normalize: str | None) -> MatrixCells:
    """Shares and the ends of both ramps.

    Blue runs to 1 for shares of a class, else to the largest value on the diagonal; orange to
    the largest error, by its square root, so that a few errors can be told from none.
    """
    if normalize is not None:
        require_known(normalize, get_args(Normalize), field_name="normalize")
    shares = counts / _denominators(counts, normalize)
    errors = np.nan_to_num(shares)
    largest_correct = float(np.diagonal(errors).max())
    np.fill_diagonal(errors, 0.0)
    return MatrixCells(
        counts=counts,
        shares=shares,
        normalize=normalize,  # type: ignore[arg-type]  # One of them, as just checked.
        correct_end=1.0 if normalize in {"actual", "predicted"} else largest_correct or 1.0,
        error_end=float(errors.max()),
    )


def number_text(number: Any) -> str:
    """Counts with separators; sums of weights with four digits."""
    if isinstance(number, (int, np.integer)) or float(number).is_integer():
        return f"{int(number):,}"
    return f"{float(number):.4g}"


def percent_text(share: float) -> str:
    """ "35 %", "<1 %", ">99 %"; what is not nothing is never "0 %"."""
    if np.isnan(share):
        return UNDEFINED
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{round(100 * share)} %"


def _denominators(counts: NDArray[Any], normalize: str | None) -> NDArray[np.float64]:
    """Broadcasts against the counts; NaN where there is nothing to be a share of."""
    totals: NDArray[Any]
    if normalize == "actual":
        totals = np.expand_dims(actual_totals(counts), PREDICTED_AXIS)
    elif normalize == "predicted":
        totals = np.expand_dims(predicted_totals(counts), ACTUAL_AXIS)
    elif normalize == "all":
        totals = np.asarray([[counts.sum()]])
    else:
        totals = np.ones((1, 1))
    return np.where(totals == 0, np.nan, totals.astype(np.float64))


def _step(fraction: float) -> int:
    """Step of a fraction in 0..1; what is not nothing does not look like nothing."""
    return max(1, min(STEPS - 1, round(float(fraction) * (STEPS - 1))))


MOST_CLASSES_WITH_NUMBERS = 30
"""Matrices of more classes are drawn in colours only, with as many names as this."""
LARGEST_FONT_PT, SMALLEST_FONT_PT = 10.0, 4.0
LETTER_WIDTH = 0.62
"""Width of a letter by its height, on average and generously."""
POINTS_PER_INCH = 72


def confusion_matrix(
    evaluation: Evaluation | WeightedEvaluation,
    *,
    normalize: str | None = "actual",
    ax: Axes | None = None,
) -> Axes:
    """Draw counts and shares: actual classes downwards, predicted ones to the right.

    `normalize` says what the shares, and the colours, refer to: the "actual" class of the row,
    the "predicted" class of the column, "all" cases, or None for counts alone. Correct cells
    are blue; errors are orange on a scale of their own that ends at the largest error and
    grows with the square root. Both ends stand in the title. A share of a class without cases
    is written as undefined.

    Numbers stand in the cells up to 30 classes, as far as they fit; the title says what was
    left out. Raises `InvalidInput` for another `normalize`, and `ModuleNotFoundError` without
    matplotlib.
    """
    counts = (
        evaluation.matrix.weights
        if isinstance(evaluation, WeightedEvaluation)
        else evaluation.matrix.counts
    )
    cells = matrix_cells(counts, normalize)
    side = max(1.6 + _cell_inches(cells.n_classes) * cells.n_classes, 4.6)
    # Names and title take room from the cells: a new figure allows for it, given axes do not.
    room = 1.0 if ax is None else 0.85
    ax = axes_or_new(ax, width=side, height=side)
    width = room * _cell_points(ax, cells.n_classes)

    colours = [[cells.colour(i, j) for j in _codes(cells)] for i in _codes(cells)]
    ax.imshow(_rgb(colours), interpolation="nearest")
    left_out = _name_classes(ax, [shortened(name) for name in evaluation.labels])
    left_out += _write_numbers(ax, cells, colours, width=width)
    ax.set_xlabel("Predicted class")
    ax.set_ylabel("Actual class")
    title(ax, _heading(evaluation), *_legend(cells), *left_out)
    return ax


def _heading(evaluation: Evaluation | WeightedEvaluation) -> str:
    if isinstance(evaluation, WeightedEvaluation):
        return f"Confusion matrix, weights of {evaluation.n_cases:,} cases"
    return f"Confusion matrix, {evaluation.matrix.total:,} cases"


def _legend(cells: MatrixCells) -> list[str]:
    """What the numbers are, and where both ramps end; short lines, as axes may be narrow."""
    correct, error = cells.ends_text()
    lines = ["number" if cells.normalize is None else f"number, {OF_WHAT[cells.normalize]}"]
    lines.append(f"blue: correct, up to {correct}")
    if cells.error_end > 0:
        lines.append(f"orange: errors, up to {error}, square root")
    return lines


def _name_classes(ax: Axes, names: list[str]) -> list[str]:
    """Put names along both axes; returns what the title has to say about it."""
    step = -(-len(names) // MOST_CLASSES_WITH_NUMBERS)
    places = range(0, len(names), step)
    shown = names[::step]
    ax.set_yticks(places, shown, parse_math=False)
    ax.set_xticks(places, shown, parse_math=False)
    if max(map(len, shown)) > 4 or len(shown) > 12:
        for label in ax.get_xticklabels():
            label.set(rotation=45, rotation_mode="anchor", ha="right")
    if step > 1:
        return [f"{len(names)} classes: one in {step} is named"]
    edges = np.arange(len(names) + 1) - 0.5
    ax.set_xticks(edges, minor=True)
    ax.set_yticks(edges, minor=True)
    ax.grid(which="minor", color=RULE, linewidth=0.6)
    ax.tick_params(which="minor", length=0)
    return []


def _write_numbers(
    ax: Axes, cells: MatrixCells, colours: list[list[str]], *, width: float
) -> list[str]:
    """Write into the cells what fits; returns what the title has to say about it."""
    if cells.n_classes > MOST_CLASSES_WITH_NUMBERS:
        return ["numbers are left out"]
    for with_shares in (True, False):
        texts = [
            [_text(cells, i, j, with_shares=with_shares) for j in _codes(cells)]
            for i in _codes(cells)
        ]
        lines = [line for row in texts for text in row for line in text.split("\n")]
        size = _font_size(width, [line for line in lines if line != UNDEFINED])
        if size >= SMALLEST_FONT_PT:
            _write(ax, texts, colours, size=size, width=width)
            has_shares = with_shares or cells.normalize is None
            return [] if has_shares else ["shares are left out, the cells are too small"]
    return ["numbers are left out, the cells are too small"]


def _write(
    ax: Axes, texts: list[list[str]], colours: list[list[str]], *, size: float, width: float
) -> None:
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            is_blank = colours[i][j] == PAGE
            is_undefined = text.endswith(UNDEFINED)
            ax.text(
                j,
                i,
                text,
                ha="center",
                va="center",
                fontsize=min(size, _font_size(width, [UNDEFINED])) if is_undefined else size,
                color=QUIET_INK if is_blank else text_on(colours[i][j]),
            )


def _text(cells: MatrixCells, actual: int, predicted: int, *, with_shares: bool) -> str:
    """Number and share below each other; cells without cases hold a plain 0."""
    count, share = cells.count_text(actual, predicted), cells.share_text(actual, predicted)
    is_worth_it = cells.counts[actual, predicted] != 0 or share == UNDEFINED
    return f"{count}\n{share}" if with_shares and share and is_worth_it else count


def _font_size(width: float, lines: list[str]) -> float:
    """The largest size in which the longest line fits in 90 % of a cell of so many points."""
    longest = max(map(len, lines), default=1)
    return min(LARGEST_FONT_PT, 0.9 * width / (LETTER_WIDTH * longest), width / 3)


def _cell_points(ax: Axes, n_classes: int) -> float:
    """Width of a cell in points, in the axes as they are now."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # noqa: S101  # Axes that can be drawn into have one.
    box = ax.get_window_extent()
    return min(box.width, box.height) / figure.dpi * POINTS_PER_INCH / n_classes


def _cell_inches(n_classes: int) -> float:
    """Side of a cell in a new figure: generous for few classes, 0.4 from 20 on, less above 30."""
    if n_classes > MOST_CLASSES_WITH_NUMBERS:
        return max(10 / n_classes, 0.02)
    return float(np.interp(n_classes, [3, 20], [0.8, 0.42]))


def _codes(cells: MatrixCells) -> range:
    return range(cells.n_classes)


def _rgb(colours: list[list[str]]) -> NDArray[np.uint8]:
    """An image (K, K, 3) of `#rrggbb` colours."""
    rows = [[[int(c[at : at + 2], 16) for at in (1, 3, 5)] for c in row] for row in colours]
    return np.array(rows, dtype=np.uint8)
