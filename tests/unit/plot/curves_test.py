"""Pictures of ROC, precision-recall and cost curves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.axes import Axes

from offdiag import evaluate_scores, plot, stats
from offdiag.errors import InvalidInput
from offdiag.plot import curves
from offdiag.sdk.evaluations.scores import ScoreEvaluation
from support.pictures import heading, legend_texts, lines_are_finite_and_inside, rendered

RNG = np.random.default_rng(1)
P = RNG.beta(1, 2, 300)
EVENT = evaluate_scores(y_true=(RNG.random(300) < P).astype(int), y_score=P)
DRAWINGS = [plot.roc, plot.precision_recall, plot.cost_curve]
Drawing = Callable[..., Axes]


def of_classes(n_classes: int) -> ScoreEvaluation:
    """The last class never occurs."""
    actual = RNG.integers(0, n_classes - 1, 200)
    table = RNG.dirichlet(np.ones(n_classes), 200)
    table[np.arange(200), actual] += 0.3
    return evaluate_scores(y_true=actual, y_score=table, labels=range(n_classes))


@pytest.mark.parametrize("draw", DRAWINGS)
@pytest.mark.parametrize("evaluation", [EVENT, of_classes(12)])
def test_lines_are_finite_and_inside_the_axes(draw: Drawing, evaluation: ScoreEvaluation) -> None:
    ax = draw(evaluation)

    rendered(ax)
    assert lines_are_finite_and_inside(ax)


@pytest.mark.parametrize(
    ("draw", "x", "y"),
    [
        (plot.roc, "False positive rate", "True positive rate"),
        (plot.precision_recall, "Recall", "Precision"),
        (plot.cost_curve, "Probability cost", "Normalized expected cost"),
    ],
)
def test_both_axes_are_named_in_words(draw: Drawing, x: str, y: str) -> None:
    ax = draw(EVENT)

    assert ax.get_xlabel().startswith(x)
    assert ax.get_ylabel().startswith(y)
    assert ax.get_xticks().tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_the_line_is_the_curve_of_the_positive_class() -> None:
    curve = EVENT.roc_curve()

    ax = plot.roc(EVENT)

    x, y = ax.get_lines()[-1].get_data()
    assert np.array_equal(x, curve.columns["false_positive_rate"])
    assert np.array_equal(y, curve.columns["true_positive_rate"])
    assert heading(ax) == "ROC curve of 1 against the rest, 300 examples"


def test_the_legend_has_the_area_and_its_interval() -> None:
    area = stats.score_intervals(EVENT).per_class["roc_auc"]["1"]

    plain = legend_texts(plot.roc(EVENT))
    bounded = legend_texts(plot.roc(stats.score_intervals(EVENT)))

    assert plain == ["no skill", f"1: area {area.value:.3f}"]
    assert bounded[1] == f"1: area {area.value:.3f} ({area.ci_low:.3f} – {area.ci_high:.3f})"


def test_the_legend_rounds_no_area_to_all() -> None:
    answers = np.repeat([0, 1], 100)
    scores = np.linspace(0.01, 0.99, 200)
    scores[[99, 100]] = scores[[100, 99]]

    texts = legend_texts(plot.roc(evaluate_scores(y_true=answers, y_score=scores)))

    assert texts[1] == "1: area >0.999"


def test_another_class_can_be_asked_for() -> None:
    assert heading(plot.roc(EVENT, label=0)).startswith("ROC curve of 0 against the rest")
    with pytest.raises(InvalidInput, match="label"):
        plot.roc(EVENT, label="no such class")


def test_precision_is_drawn_in_the_steps_that_average_precision_adds_up() -> None:
    line = plot.precision_recall(EVENT).get_lines()[-1]

    x, y = (np.asarray(part, dtype=np.float64) for part in line.get_data())
    area = float((np.diff(x) * y[1:]).sum())

    assert line.get_drawstyle() == "steps-pre"
    assert area == pytest.approx(EVENT.aggregate["average_precision"].value)


def test_scores_without_skill_have_the_share_of_the_class_as_precision() -> None:
    share = float((EVENT.forecasts.actual == 1).mean())

    level = plot.precision_recall(EVENT).get_lines()[0]

    assert set(np.asarray(level.get_ydata(), dtype=np.float64)) == {share}


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_class_without_cases_is_called_undefined(draw: Drawing) -> None:
    ax = draw(of_classes(3))

    assert "2: undefined (there is no example of this class)" in legend_texts(ax)
    assert "each class against the rest" in heading(ax)


def test_of_many_classes_the_worst_are_drawn_and_the_title_says_so() -> None:
    evaluation = of_classes(12)
    areas = evaluation.per_class["roc_auc"]
    worst = min(
        (label for label in areas if areas[label].value), key=lambda k: areas[k].value or 1
    )

    ax = plot.roc(evaluation)

    assert heading(ax).endswith("the 8 of 12 classes with the lowest values")
    assert len(legend_texts(ax)) == 1 + 8
    assert legend_texts(ax)[1].startswith(f"{worst}: ")


def test_lines_differ_in_more_than_colour() -> None:
    lines = plot.roc(of_classes(12)).get_lines()[1:]

    styles = {(line.get_color(), str(line._dash_pattern)) for line in lines}  # type: ignore[attr-defined]
    assert len(styles) == 8
    for colour in {line.get_color() for line in lines}:
        dashes = [str(line._dash_pattern) for line in lines if line.get_color() == colour]  # type: ignore[attr-defined]
        assert len(set(dashes)) == len(dashes)


def test_a_long_curve_is_thinned_and_the_title_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "MOST_POINTS", 50)

    ax = plot.roc(EVENT)

    assert heading(ax).split("\n")[-1] == "thinned for drawing from 301 points"
    assert len(np.asarray(ax.get_lines()[-1].get_xdata())) <= 50


def test_nothing_of_one_kind_leaves_the_word_undefined() -> None:
    one_sided = evaluate_scores(y_true=[1, 1], y_score=[0.2, 0.9])

    ax = plot.roc(one_sided)

    rendered(ax)
    assert legend_texts(ax)[-1] == "1: undefined (all examples are of this class)"


def test_the_cost_curve_stays_below_the_better_constant_answer() -> None:
    constant, line = plot.cost_curve(EVENT).get_lines()

    x, y = (np.asarray(part, dtype=np.float64) for part in line.get_data())
    assert constant.get_label() == "better constant prediction"
    assert (y <= np.minimum(x, 1 - x) + 1e-12).all()
