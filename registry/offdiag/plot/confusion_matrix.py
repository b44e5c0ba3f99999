"""Plots of a confusion matrix: its cells, and the recall of every class."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import require_known
from offdiag.domain.texts import shortened
from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.metrics.orientation import (
    ACTUAL_AXIS,
    PREDICTED_AXIS,
    actual_totals,
    predicted_totals,
)
from offdiag.palette import correct_step, error_step, text_on
from offdiag.plot.axes import (
    CORRECT,
    ERROR,
    LINE,
    PAGE,
    QUARTERS,
    QUIET_INK,
    RULE,
    axes_or_new,
    title,
    undefined_text,
)
from offdiag.sdk.display.displayed import interval_name
from offdiag.sdk.evaluations.evaluate import WeightedEvaluation
from offdiag.sdk.evaluations.evaluation import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


OF_WHAT = {
    "actual": "share of the actual class",
    "predicted": "share of the predicted class",
    "all": "share of all",
}
UNDEFINED = "undefined"
MOST_CLASSES_WITH_NUMBERS = 30
"""Matrices of more classes have colours without numbers, and at most this many names."""
LARGEST_FONT_PT, SMALLEST_FONT_PT = 10.0, 4.0
LETTER_WIDTH = 0.62
"""Average width of a letter relative to its height, rounded up."""
POINTS_PER_INCH = 72


def confusion_matrix(
    evaluation: Evaluation | WeightedEvaluation,
    *,
    normalize: str | None = "actual",
    ax: Axes | None = None,
) -> Axes:
    """Draw a confusion matrix with counts and shares; rows are actual classes. Returns the axes.

    * `evaluation`: an `Evaluation` or a `WeightedEvaluation`.
    * `normalize`: what shares and colours refer to: the "actual" class of the row, the "predicted"
      class of the column, "all" samples, or None for counts alone. Default: "actual".
    * `ax`: the axes to draw into. Default: a new figure.

    Correct cells are blue. Errors are orange, on a scale of their own that ends at the largest
    error and grows with the square root. The title has the ends of both scales. A share of a class
    without samples is marked as undefined. Cells contain numbers for up to 30 classes, if they
    fit; the title says what is left out.

    Raises `InvalidInput` for another `normalize`, and `MissingExtra` without matplotlib.
    """
    if isinstance(evaluation, WeightedEvaluation):
        cells = matrix_cells(evaluation.matrix.weights, normalize)
        heading = f"Confusion matrix, weights of {evaluation.n_samples:,} examples"
    else:
        cells = matrix_cells(evaluation.matrix.counts, normalize)
        heading = f"Confusion matrix, {evaluation.matrix.total:,} examples"
    n_classes = len(cells.counts)
    side = max(1.6 + _cell_inches(n_classes) * n_classes, 4.6)
    # Names and title take room from the cells: a new figure allows for it, given axes do not.
    room = 1.0 if ax is None else 0.85
    ax = axes_or_new(ax, width=side, height=side)
    width = room * _cell_points(ax, n_classes)

    ax.imshow(cells.image(), interpolation="nearest")
    left_out = _name_classes(ax, [shortened(name) for name in evaluation.labels])
    left_out += _write_numbers(ax, cells, width=width)
    ax.set_xlabel("Predicted class")
    ax.set_ylabel("Actual class")
    title(ax, heading, *cells.legend(), *left_out)
    return ax


@dataclass(frozen=True, eq=False)
class MatrixCells:
    """Everything that a plot of a matrix shows; all arrays are (K, K), actual classes first.

    `shares` is NaN if the class it refers to is empty, and equals `counts` if nothing is
    normalized. `correct_end` and `error_end` are the values at the ends of the colour scales.
    """

    counts: NDArray[Any]
    shares: NDArray[np.float64]
    normalize: str | None
    correct_end: float
    error_end: float

    def colour(self, actual: int, predicted: int) -> str:
        """The colour of a cell; cells without samples have the colour of the page."""
        share = self.shares[actual, predicted]
        if self.counts[actual, predicted] == 0 or np.isnan(share):
            return PAGE
        if actual == predicted:
            return CORRECT[correct_step(share, self.correct_end)]
        return ERROR[error_step(share, self.error_end)]

    def image(self) -> NDArray[np.uint8]:
        """The colours of all cells, (K, K, 3)."""
        codes = range(len(self.counts))
        return np.array(
            [[list(bytes.fromhex(self.colour(i, j)[1:])) for j in codes] for i in codes],
            dtype=np.uint8,
        )

    def count_text(self, actual: int, predicted: int) -> str:
        return number_text(self.counts[actual, predicted])

    def share_text(self, actual: int, predicted: int) -> str:
        """The share as a whole percentage, or "undefined"."""
        if self.normalize is None:
            return ""
        return percent_text(float(self.shares[actual, predicted]))

    def text(self, actual: int, predicted: int, *, with_share: bool) -> str:
        """Number and share on two lines; a cell without samples has only a 0."""
        count, share = self.count_text(actual, predicted), self.share_text(actual, predicted)
        is_worth_it = self.counts[actual, predicted] != 0 or share == UNDEFINED
        return f"{count}\n{share}" if with_share and share and is_worth_it else count

    def ends_text(self) -> tuple[str, str]:
        """The values of the darkest blue and the darkest orange."""
        show = number_text if self.normalize is None else percent_text
        return show(self.correct_end), show(self.error_end)

    def legend(self) -> list[str]:
        """What the numbers mean, and the ends of both scales; short, as axes may be narrow."""
        correct, error = self.ends_text()
        lines = ["number" if self.normalize is None else f"number, {OF_WHAT[self.normalize]}"]
        lines.append(f"blue: correct, up to {correct}")
        if self.error_end > 0:
            lines.append(f"orange: errors, up to {error}, square root")
        return lines


def matrix_cells(counts: NDArray[Any], normalize: str | None) -> MatrixCells:
    """Shares, and the ends of both colour scales.

    Blue ends at 1 for shares of a class, else at the largest value on the diagonal. Orange ends at
    the largest error and grows with its square root, so that few errors look different from none.
    """
    if normalize is not None:
        require_known(normalize, tuple(OF_WHAT), field_name="normalize")
    totals: NDArray[Any] = np.ones((1, 1))
    if normalize == "actual":
        totals = np.expand_dims(actual_totals(counts), PREDICTED_AXIS)
    elif normalize == "predicted":
        totals = np.expand_dims(predicted_totals(counts), ACTUAL_AXIS)
    elif normalize == "all":
        totals = counts.sum(keepdims=True)
    shares = counts / np.where(totals == 0, np.nan, totals.astype(np.float64))
    errors = np.nan_to_num(shares)
    largest_correct = float(np.diagonal(errors).max())
    np.fill_diagonal(errors, 0.0)
    return MatrixCells(
        counts=counts,
        shares=shares,
        normalize=normalize,
        correct_end=1.0 if normalize in {"actual", "predicted"} else largest_correct or 1.0,
        error_end=float(errors.max()),
    )


def number_text(number: Any) -> str:
    """Counts with separators; sums of weights with four digits."""
    if isinstance(number, (int, np.integer)) or float(number).is_integer():
        return f"{int(number):,}"
    return f"{float(number):.4g}"


def percent_text(share: float) -> str:
    """ "35 %", "<1 %", ">99 %"; a share above zero is never "0 %"."""
    if np.isnan(share):
        return UNDEFINED
    if 0 < share < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{round(100 * share)} %"


def _name_classes(ax: Axes, names: list[str]) -> list[str]:
    """Write the names along both axes; returns what the title must say about them."""
    step = -(-len(names) // MOST_CLASSES_WITH_NUMBERS)
    places, shown = range(0, len(names), step), names[::step]
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


def _write_numbers(ax: Axes, cells: MatrixCells, *, width: float) -> list[str]:
    """Write the numbers that fit into the cells; returns what the title must say about them."""
    if len(cells.counts) > MOST_CLASSES_WITH_NUMBERS:
        return ["numbers are left out"]
    for with_share in (True, False):
        texts = {
            (i, j): cells.text(i, j, with_share=with_share)
            for i, j in product(range(len(cells.counts)), repeat=2)
        }
        lines = {line for text in texts.values() for line in text.split("\n")}
        size = _font_size(width, lines - {UNDEFINED})
        if size >= SMALLEST_FONT_PT:
            break
    else:
        return ["numbers are left out, the cells are too small"]
    for (i, j), text in texts.items():
        colour, fits = cells.colour(i, j), size
        if text.endswith(UNDEFINED):
            fits = min(size, _font_size(width, {UNDEFINED}))
        ink = QUIET_INK if colour == PAGE else text_on(colour)
        ax.text(j, i, text, ha="center", va="center", fontsize=fits, color=ink)
    if with_share or cells.normalize is None:
        return []
    return ["shares are left out, the cells are too small"]


def _font_size(width: float, lines: set[str]) -> float:
    """The largest size at which the longest line fits into 90 % of a cell, in points."""
    longest = max(map(len, lines), default=1)
    return min(LARGEST_FONT_PT, 0.9 * width / (LETTER_WIDTH * longest), width / 3)


def _cell_points(ax: Axes, n_classes: int) -> float:
    """Width of a cell in points, in the axes at their present size."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # noqa: S101  # Axes that can be drawn into have one.
    box = ax.get_window_extent()
    return min(box.width, box.height) / figure.dpi * POINTS_PER_INCH / n_classes


def _cell_inches(n_classes: int) -> float:
    """Side of a cell in a new figure: large for few classes, 0.42 from 20 on, less above 30."""
    if n_classes > MOST_CLASSES_WITH_NUMBERS:
        return max(10 / n_classes, 0.02)
    return float(np.interp(n_classes, [3, 20], [0.8, 0.42]))


MOST_CLASSES = 60
"""Classes that one plot lists; if there are more, those with the lowest recall."""


def class_recall(evaluation: Evaluation | WeightedEvaluation, *, ax: Axes | None = None) -> Axes:
    """Draw the recall of each class as a dot with its interval, the largest class on top.

    Returns the axes: `ax`, or those of a new figure. Intervals are those of the evaluation, else
    Wilson's 95 % intervals of its counts; sums of weights have none of their own. A class without
    samples is marked as undefined. With more than 60 classes, those with the lowest recall are
    drawn, and the title says so.

    Raises `MissingExtra` without matplotlib.
    """
    values, intervals = _with_intervals(evaluation)
    heading = [f"Recall by class, {intervals}"]
    codes = sorted(range(len(values)), key=lambda code: _rank(values[code]))[:MOST_CLASSES]
    if len(codes) < len(values):
        heading.append(f"the {len(codes)} of {len(values)} classes with the lowest recall")
    support = [value.value or 0 for value in evaluation.per_class["support"].values()]
    codes.sort(key=lambda code: (-support[code], code))

    ax = axes_or_new(ax, width=6.4, height=1.6 + 0.27 * len(codes))
    for place, value in enumerate(values[code] for code in codes):
        if value.value is None:
            text = undefined_text(value.reason)
            ax.text(0.01, place, text, va="center", fontsize="small", color=QUIET_INK)
            continue
        if value.ci_low is not None and value.ci_high is not None:
            ax.plot([value.ci_low, value.ci_high], [place, place], color=LINE, linewidth=1.6)
        ax.plot([value.value], [place], linestyle="none", marker="o", markersize=5, color=LINE)
    names = [
        f"{shortened(evaluation.labels[code])} ({number_text(support[code])})" for code in codes
    ]
    ax.set_yticks(range(len(codes)), names, parse_math=False)
    ax.set(xlim=(-0.02, 1.02), xticks=QUARTERS, ylim=(len(codes) - 0.5, -0.5))
    ax.grid(axis="x", color=RULE, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("Recall (share of the examples found)")
    unit = "weight" if isinstance(evaluation, WeightedEvaluation) else "examples"
    ax.set_ylabel(f"Actual class ({unit})")
    title(ax, *heading)
    return ax


def _rank(value: MetricValue) -> float:
    """The sort key of a recall; undefined ones come last."""
    return np.inf if value.value is None else value.value


def _with_intervals(
    evaluation: Evaluation | WeightedEvaluation,
) -> tuple[list[MetricValue], str]:
    """The recall of each class, and what the title says about its intervals."""
    values = list(evaluation.per_class["recall"].values())
    if any(value.ci_method for value in values):
        return values, f"with {interval_name(evaluation.confidence)}"
    if isinstance(evaluation, WeightedEvaluation):
        return values, "without intervals"
    matrix = evaluation.matrix
    bounds = wilson(np.diagonal(matrix.counts), matrix.actual)
    return [
        Interval(*bounds.at(code), WILSON).around(value) for code, value in enumerate(values)
    ], "with 95 % Wilson intervals"
