"""The picture of a confusion matrix."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from offdiag import evaluate_labels, evaluate_matrix, plot
from offdiag.errors import InvalidInput
from offdiag.plot.axes import CORRECT, ERROR
from offdiag.sdk.evaluations.evaluation import Evaluation
from support.pictures import heading, rendered, texts, tick_names

LABELS = ["Absent", "Benign", "Cancer"]
COUNTS = [[72, 6, 2], [8, 6, 1], [0, 0, 0]]


@pytest.fixture
def evaluation() -> Evaluation:
    return evaluate_matrix(COUNTS, labels=LABELS, orientation="actual_rows")


def random_matrix(n_classes: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(n_classes)
    return rng.integers(0, 40, (n_classes, n_classes)) + 300 * np.eye(n_classes, dtype=np.int64)


def test_both_axes_are_named_and_list_the_classes_in_order(evaluation: Evaluation) -> None:
    ax = plot.confusion_matrix(evaluation)

    assert ax.get_xlabel() == "Predicted class"
    assert ax.get_ylabel() == "Actual class"
    assert tick_names(ax, "x") == LABELS
    assert tick_names(ax, "y") == LABELS
    assert ax.get_xticks().tolist() == [0, 1, 2]
    assert ax.get_yticks().tolist() == [0, 1, 2]


def test_the_first_actual_class_is_on_top(evaluation: Evaluation) -> None:
    ax = plot.confusion_matrix(evaluation)

    low, high = ax.get_ylim()
    assert low > high
    placed = {text.get_position(): text.get_text() for text in ax.texts}
    # Position is (predicted, actual).
    assert placed[1, 0] == "6\n8 %"
    assert placed[0, 1] == "8\n53 %"


def test_the_diagonal_is_blue_and_errors_are_orange(evaluation: Evaluation) -> None:
    ax = plot.confusion_matrix(evaluation)

    pixels = np.asarray(ax.images[0].get_array())
    colours = [[to_hex(pixels[i, j] / 255) for j in range(3)] for i in range(3)]
    assert colours[0][0] in CORRECT
    assert colours[1][0] == ERROR[10]
    assert colours[1][2] in ERROR
    assert colours[2][2] == "#ffffff"


def test_the_title_says_what_the_numbers_and_colours_are(evaluation: Evaluation) -> None:
    assert heading(plot.confusion_matrix(evaluation)).split("\n") == [
        "Confusion matrix, 95 examples",
        "number, share of the actual class",
        "blue: correct, up to 100 %",
        "orange: errors, up to 53 %, square root",
    ]


@pytest.mark.parametrize(
    ("normalize", "text", "what"),
    [
        ("predicted", "8\n10 %", "number, share of the predicted class"),
        ("all", "8\n8 %", "number, share of all"),
        (None, "8", "number"),
    ],
)
def test_other_shares_can_be_asked_for(
    evaluation: Evaluation, normalize: str | None, text: str, what: str
) -> None:
    ax = plot.confusion_matrix(evaluation, normalize=normalize)

    placed = {each.get_position(): each.get_text() for each in ax.texts}
    assert placed[0, 1] == text
    assert heading(ax).split("\n")[1] == what


def test_a_perfect_matrix_has_no_scale_of_errors() -> None:
    perfect = evaluate_matrix([[5, 0], [0, 5]], orientation="actual_rows")

    assert "orange" not in heading(plot.confusion_matrix(perfect))


@pytest.mark.parametrize("n_classes", [1, 10, 30])
def test_up_to_thirty_classes_every_cell_has_its_numbers_inside(n_classes: int) -> None:
    counts = random_matrix(n_classes) * 9 + 1_000

    ax = plot.confusion_matrix(evaluate_matrix(counts, orientation="actual_rows"))

    assert len(texts(ax)) == n_classes**2
    assert all(
        text.partition("\n")[0] == f"{count:,}"
        for text, count in zip(texts(ax), counts.ravel().tolist(), strict=True)
    )
    assert "left out" not in heading(ax)
    assert len(tick_names(ax, "y")) == n_classes
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    cell = ax.get_window_extent().width / n_classes
    # One of seven falls into every column, and looking at each takes as long as drawing it.
    for each in ax.texts[::7]:
        box = each.get_window_extent()
        assert box.width < cell
        assert box.height < cell


def test_more_classes_are_drawn_in_colours_and_the_title_says_so() -> None:
    evaluation = evaluate_matrix(random_matrix(70), orientation="actual_rows")

    ax = plot.confusion_matrix(evaluation)

    assert texts(ax) == []
    assert tick_names(ax, "y") == [str(code) for code in range(0, 70, 3)]
    assert ax.get_yticks().tolist() == list(range(0, 70, 3))
    assert heading(ax).split("\n")[-2:] == [
        "70 classes: one in 3 is named",
        "numbers are left out",
    ]


def test_cells_too_small_for_numbers_are_said_to_be() -> None:
    _, ax = plt.subplots(figsize=(2, 2))

    plot.confusion_matrix(evaluate_matrix(random_matrix(25), orientation="actual_rows"), ax=ax)

    assert texts(ax) == []
    assert heading(ax).endswith("numbers are left out, the cells are too small")


def test_sums_of_weights_are_called_so() -> None:
    weighted = evaluate_labels(y_true=["a", "b"], y_pred=["a", "a"], sample_weight=[0.25, 1.5])

    ax = plot.confusion_matrix(weighted)

    assert heading(ax).split("\n")[0] == "Confusion matrix, weights of 2 examples"
    assert texts(ax) == ["0.25\n100 %", "0", "1.5\n100 %", "0"]


def test_names_are_no_formulas_and_long_ones_are_cut_in_the_middle() -> None:
    names = ["$\\frac{1}", "a class whose name is much too long"]

    ax = plot.confusion_matrix(
        evaluate_matrix([[1, 0], [0, 1]], labels=names, orientation="actual_rows")
    )

    rendered(ax)
    assert tick_names(ax, "y") == ["$\\frac{1}", "a class whos…ch too long"]


def test_given_axes_are_drawn_into_and_nothing_else_changes(evaluation: Evaluation) -> None:
    before = dict(mpl.rcParams)
    _, (left, right) = plt.subplots(1, 2)
    figures = plt.get_fignums()

    found = plot.confusion_matrix(evaluation, ax=right)

    assert found is right
    assert not left.has_data()
    assert plt.get_fignums() == figures
    assert dict(mpl.rcParams) == before


def test_another_normalization_is_refused(evaluation: Evaluation) -> None:
    with pytest.raises(InvalidInput, match="Use one of: actual, predicted, all"):
        plot.confusion_matrix(evaluation, normalize="true")
