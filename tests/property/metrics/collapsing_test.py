"""Adding classes up keeps what must stay, and is what mapping the labels would have given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, matthews_corrcoef
from sklearn.metrics import confusion_matrix as reference_matrix

from offdiag.domain.hierarchy import ALL_GROUPS, Collapse, Hierarchy, collapse_groups
from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix, collapsed, collapsed_counts
from offdiag.metrics.orientation import swap_axes
from offdiag.metrics.suite import evaluate_stack


@st.composite
def collapses(draw: st.DrawFn) -> tuple[LabelSet, Hierarchy, Collapse]:
    """Classes, a forest of two levels over some of them, and some of its groups."""
    n_classes = draw(st.integers(1, 9))
    labels = LabelSet.numbered(n_classes)
    shelves = draw(st.lists(st.integers(0, 5), min_size=n_classes, max_size=n_classes))
    trees: dict[str, dict[str, list[str]]] = {}
    for name, shelf in zip(labels.names, shelves, strict=True):
        if shelf:  # Shelf 0 is outside all groups.
            trees.setdefault(f"outer {shelf % 2}", {}).setdefault(f"inner {shelf}", []).append(
                name
            )
    if not trees:
        trees = {"outer": {"inner": [labels.names[0]]}}
    hierarchy = Hierarchy.declared(trees, labels)
    chosen = draw(st.sets(st.sampled_from([ALL_GROUPS, *hierarchy.by_name])))
    return labels, hierarchy, collapse_groups(labels, hierarchy, chosen)


def counts_over(labels: LabelSet, seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.random.default_rng(seed).integers(0, 9, (len(labels), len(labels)))


@settings(max_examples=30)
@given(collapses(), st.integers(0, 2**16))
def test_totals_stay_and_margins_add_up(
    drawn: tuple[LabelSet, Hierarchy, Collapse], seed: int
) -> None:
    labels, _, onto = drawn
    matrix = ConfusionMatrix(counts_over(labels, seed), labels)

    found = collapsed(matrix, onto)

    assert found.total == matrix.total
    for before, after in ((matrix.actual, found.actual), (matrix.predicted, found.predicted)):
        summed = np.bincount(onto.places, weights=before, minlength=len(onto.labels))
        assert after.tolist() == summed.tolist()
    assert np.trace(found.counts) >= np.trace(matrix.counts)


@settings(max_examples=30)
@given(collapses(), st.integers(0, 2**16))
def test_transposing_before_or_after_is_the_same(
    drawn: tuple[LabelSet, Hierarchy, Collapse], seed: int
) -> None:
    labels, _, onto = drawn
    counts = counts_over(labels, seed)

    before = collapsed_counts(swap_axes(counts), onto)

    assert before.tolist() == swap_axes(collapsed_counts(counts, onto)).tolist()


@settings(max_examples=30)
@given(collapses(), st.integers(0, 2**16))
def test_one_group_of_everything_is_always_right(
    drawn: tuple[LabelSet, Hierarchy, Collapse], seed: int
) -> None:
    labels = drawn[0]
    counts = counts_over(labels, seed) + 1
    everything = Hierarchy.declared({"everything": labels.names}, labels)
    onto = collapse_groups(labels, everything, [ALL_GROUPS])

    found = collapsed_counts(counts, onto)

    assert found.tolist() == [[counts.sum()]]
    assert evaluate_stack(found, ordinal=False).aggregate["overall_accuracy"].at().value == 1


@pytest.mark.filterwarnings("ignore:A single label was found")
@settings(max_examples=30)
@given(collapses(), st.integers(0, 2**16))
def test_it_is_what_scikit_learn_says_of_mapped_labels(
    drawn: tuple[LabelSet, Hierarchy, Collapse], seed: int
) -> None:
    labels, _, onto = drawn
    rng = np.random.default_rng(seed)
    actual, predicted = rng.integers(0, len(labels), (2, 40))
    counts = reference_matrix(actual, predicted, labels=np.arange(len(labels)))
    places = np.array(onto.places)
    mapped_actual, mapped_predicted = places[actual], places[predicted]

    found = collapsed_counts(counts, onto)

    everything = np.arange(len(onto.labels))
    expected = reference_matrix(mapped_actual, mapped_predicted, labels=everything)
    assert found.tolist() == expected.tolist()
    classes = set(mapped_actual.tolist())
    if classes != set(mapped_predicted.tolist()) or len(classes) == 1:
        return  # The scores of scikit-learn leave classes out or warn.
    aggregate = evaluate_stack(found, ordinal=False).aggregate
    for key, score in (
        ("mcc", matthews_corrcoef),
        ("cohen_kappa", cohen_kappa_score),
        ("balanced_accuracy", balanced_accuracy_score),
    ):
        reference = score(mapped_actual, mapped_predicted)
        assert aggregate[key].at().value == pytest.approx(reference, abs=1e-12)


def test_stacks_of_matrices_collapse_one_by_one() -> None:
    labels = LabelSet.numbered(4)
    onto = collapse_groups(labels, Hierarchy.declared({"ends": [0, 3]}, labels), [ALL_GROUPS])
    stack = np.arange(2 * 3 * 16).reshape(2, 3, 4, 4)

    found = collapsed_counts(stack, onto)

    assert found.shape == (2, 3, 3, 3)
    assert found[1, 2].tolist() == collapsed_counts(stack[1, 2], onto).tolist()
