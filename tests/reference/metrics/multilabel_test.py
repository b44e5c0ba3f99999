"""scikit-learn as an oracle for the multi-label metrics it defines as we do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import metrics as sk

from offdiag.metrics.multilabel.examples import example_metrics
from offdiag.metrics.multilabel.label_averages import label_averages
from offdiag.metrics.multilabel.ranking import ranking_metrics, sum_over_rankings
from offdiag.metrics.multilabel.tally import tally_sets

Sets = NDArray[np.bool_]
SCORES = {
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "f1": sk.f1_score,
    "jaccard": sk.jaccard_score,
}
SHAPES = [(1, 3), (200, 2), (300, 6), (100, 40)]


def sets_of(shape: tuple[int, int], seed: int = 0) -> tuple[Sets, Sets]:
    """Sets where empty ones, absent labels and never predicted labels occur."""
    generator = np.random.default_rng(seed)
    actual = generator.random(shape) < 0.25
    predicted = actual ^ (generator.random(shape) < 0.2)
    actual[:, 0] = False
    predicted[:, -1] = False
    return actual, predicted


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("zero_division", [0, 1])
@pytest.mark.parametrize("measure", SCORES)
def test_example_based_variants_are_those_of_scikit_learn(
    shape: tuple[int, int], zero_division: int, measure: str
) -> None:
    actual, predicted = sets_of(shape)

    ours = example_metrics(tally_sets(actual, predicted).examples)

    theirs = SCORES[measure](actual, predicted, average="samples", zero_division=zero_division)
    value = ours[f"example_{measure}_zd{zero_division}"].value
    assert value == pytest.approx(theirs, abs=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_subset_accuracy_and_hamming_loss(shape: tuple[int, int]) -> None:
    actual, predicted = sets_of(shape)

    ours = example_metrics(tally_sets(actual, predicted).examples)

    assert ours["subset_accuracy"].value == pytest.approx(sk.accuracy_score(actual, predicted))
    assert ours["hamming_loss"].value == pytest.approx(sk.hamming_loss(actual, predicted))


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("measure", SCORES)
def test_label_based_averages(shape: tuple[int, int], average: str, measure: str) -> None:
    actual, predicted = sets_of(shape)

    ours = label_averages(tally_sets(actual, predicted).labels)

    theirs = SCORES[measure](actual, predicted, average=average, zero_division=0)
    assert ours[f"{average}_{measure}"].value == pytest.approx(theirs, abs=1e-14)


@pytest.mark.parametrize("measure", ["precision", "recall", "f1"])
def test_averages_over_defined_labels(measure: str) -> None:
    actual, predicted = sets_of((300, 6))

    ours = label_averages(tally_sets(actual, predicted).labels)

    theirs = SCORES[measure](actual, predicted, average="macro", zero_division=np.nan)
    assert ours[f"macro_{measure}_defined"].value == pytest.approx(theirs, abs=1e-14)


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_two_by_two_tables(shape: tuple[int, int]) -> None:
    actual, predicted = sets_of(shape)

    cells = tally_sets(actual, predicted).labels.one_vs_rest()

    theirs = sk.multilabel_confusion_matrix(actual, predicted)
    assert theirs[:, 0, 0].tolist() == cells.tn.tolist()
    assert theirs[:, 0, 1].tolist() == cells.fp.tolist()
    assert theirs[:, 1, 0].tolist() == cells.fn.tolist()
    assert theirs[:, 1, 1].tolist() == cells.tp.tolist()


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("levels", [3, 10_000])
def test_rankings_with_and_without_ties(shape: tuple[int, int], levels: int) -> None:
    actual, _ = sets_of(shape)
    generator = np.random.default_rng(7)
    scores = np.floor(generator.random(shape) * levels) / levels + 0.1 * actual

    ours = ranking_metrics(sum_over_rankings(actual, scores))

    assert ours["coverage_error"].value == pytest.approx(sk.coverage_error(actual, scores))
    assert ours["label_ranking_loss"].value == pytest.approx(sk.label_ranking_loss(actual, scores))
    assert ours["label_ranking_average_precision"].value == pytest.approx(
        sk.label_ranking_average_precision_score(actual, scores)
    )
