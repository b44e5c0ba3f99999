"""Reliability diagrams."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag import evaluate_scores, plot
from offdiag.metrics.intervals.proportions import wilson
from support.pictures import heading, legend_texts, lines_are_finite_and_inside, rendered, texts

RNG = np.random.default_rng(2)
P = np.append(RNG.uniform(0, 0.7, 400), [0.95, 0.97])
HAPPENED = (RNG.random(402) < P).astype(int)
EVENT = evaluate_scores(y_true=HAPPENED, y_score=P)
TABLE = RNG.dirichlet([1, 1, 1], 150)
CLASSES = evaluate_scores(y_true=RNG.integers(0, 3, 150), y_score=TABLE)


def test_points_are_the_bins_that_have_cases() -> None:
    curve = EVENT.reliability_curve(n_bins=10)
    used = curve.columns["count"] > 0

    ax = plot.reliability(EVENT, n_bins=10)

    line = ax.get_lines()[1]
    assert np.array_equal(line.get_xdata(), curve.columns["mean_score"][used])
    assert np.array_equal(line.get_ydata(), curve.columns["observed_share"][used])
    rendered(ax)
    assert lines_are_finite_and_inside(ax)


def test_whiskers_are_the_intervals_of_wilson() -> None:
    curve = EVENT.reliability_curve(n_bins=10)
    bins = curve.columns
    hits = np.rint(bins["observed_share"][0] * bins["count"][0])
    low, high = wilson(int(hits), int(bins["count"][0])).at()

    ax = plot.reliability(EVENT, n_bins=10)

    (first, *_) = ax.collections[0].get_segments()  # type: ignore[attr-defined]
    assert first[:, 1].tolist() == pytest.approx([low, high])


def test_axes_and_title_say_what_is_drawn() -> None:
    ax = plot.reliability(EVENT)

    assert ax.get_xlabel() == "Mean predicted probability"
    assert ax.get_ylabel() == "Observed share"
    assert heading(ax) == "Reliability of 1, 402 examples, 15 bins of equal width"


def test_bins_of_few_cases_are_hollow_and_named() -> None:
    found = legend_texts(plot.reliability(EVENT, n_bins=10))

    assert "bin of fewer than 10 examples" in found
    assert any(text.startswith("examples of a bin, ") for text in found)


def test_without_a_positive_class_the_most_probable_one_is_drawn() -> None:
    ax = plot.reliability(CLASSES)

    assert ax.get_xlabel() == "Mean probability of the most probable class"
    assert heading(ax).startswith("Reliability of the most probable class")


def test_a_class_can_be_asked_for() -> None:
    ax = plot.reliability(CLASSES, label=2)

    assert heading(ax).startswith("Reliability of 2, 150 examples")


def test_scores_that_are_no_probabilities_leave_the_word_undefined() -> None:
    ax = plot.reliability(evaluate_scores(y_true=[0, 1, 1], y_score=[-2.0, 3.0, 5.0]))

    rendered(ax)
    assert texts(ax) == ["undefined (the scores are not probabilities)"]
