"""Laws of the multi-label metrics on arbitrary sets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from offdiag.metrics.multilabel.exact_sums import ExactSums
from offdiag.metrics.multilabel.examples import example_metrics
from offdiag.metrics.multilabel.label_averages import label_averages
from offdiag.metrics.multilabel.ranking import ranking_metrics, sum_over_rankings
from offdiag.metrics.multilabel.tally import SetTally, tally_sets
from support.krstinic import matrix_of

Sets = NDArray[np.bool_]


@st.composite
def two_sets(draw: st.DrawFn, min_cases: int = 1) -> tuple[Sets, Sets]:
    """Two (n, q) indicator arrays with n up to 30 and q up to 9."""
    n_labels = draw(st.integers(1, 9))
    word = st.integers(0, 2**n_labels - 1)
    pairs = draw(st.lists(st.tuples(word, word), min_size=min_cases, max_size=30))
    words = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    bits = (words[:, :, np.newaxis] >> np.arange(n_labels)) & 1
    return bits[:, 0].astype(np.bool_), bits[:, 1].astype(np.bool_)


def content(tally: SetTally) -> list[object]:
    """Everything in a tally, for comparing two of them to the last bit."""
    empty, labels, examples = tally.empty_sets, tally.labels, tally.examples
    arrays = [
        empty.missed_when_pred_empty,
        empty.spurious_when_true_empty,
        labels.true_positives,
        labels.actual,
        labels.predicted,
        tally.mass.cell,
        tally.mass.denominator,
        tally.mass.numerator,
        examples.overlap.cell,
        examples.overlap.denominator,
        examples.overlap.numerator,
    ]
    return [
        *(array.tolist() for array in arrays),
        (empty.both_empty, empty.n_true_empty, empty.n_pred_empty),
        (labels.n_samples, examples.n_samples, examples.n_labels, examples.n_equal),
        (examples.n_wrong_labels, examples.both_empty, examples.n_without_denominator),
    ]


@given(two_sets())
def test_the_matrix_is_that_of_the_algorithm_taken_literally(sets: tuple[Sets, Sets]) -> None:
    tally = tally_sets(*sets)
    n_labels = tally.n_labels

    cells = [
        [tally.mass.total(n_labels * row + column) for column in range(n_labels)]
        for row in range(n_labels)
    ]

    assert cells == matrix_of(*sets)


@given(two_sets(), st.data())
def test_chunks_in_any_order_and_grouping_give_the_same_tally(
    sets: tuple[Sets, Sets], data: st.DataObject
) -> None:
    actual, predicted = sets
    n_samples = len(actual)
    cuts = sorted(data.draw(st.lists(st.integers(0, n_samples), max_size=4)))
    borders = list(zip([0, *cuts], [*cuts, n_samples], strict=True))
    chunks = [tally_sets(actual[low:high], predicted[low:high]) for low, high in borders]

    merged = data.draw(st.permutations(chunks))
    while len(merged) > 1:
        place = data.draw(st.integers(0, len(merged) - 2))
        merged = [*merged[:place], merged[place] + merged[place + 1], *merged[place + 2 :]]

    assert content(merged[0]) == content(tally_sets(actual, predicted))
    assert merged[0].matrix().cells.tolist() == tally_sets(*sets).matrix().cells.tolist()


@given(two_sets())
def test_every_true_label_of_a_counted_case_carries_a_mass_of_one(sets: tuple[Sets, Sets]) -> None:
    actual, predicted = sets
    counted = actual[actual.any(axis=1) & predicted.any(axis=1)]
    tally = tally_sets(actual, predicted)
    n_labels = tally.n_labels

    row_masses = [
        sum((tally.mass.total(n_labels * row + column) for column in range(n_labels)), Fraction(0))
        for row in range(n_labels)
    ]

    assert row_masses == counted.sum(axis=0).tolist()
    assert _total(tally.mass) == counted.sum()


def _total(mass: ExactSums) -> Fraction:
    return Fraction(sum(mass.over_common_denominator().values()), mass.common_denominator())


@given(two_sets())
def test_every_true_label_is_in_the_matrix_or_in_a_side_counter(sets: tuple[Sets, Sets]) -> None:
    tally = tally_sets(*sets)

    in_matrix = _total(tally.mass)
    beside_it = int(tally.empty_sets.missed_when_pred_empty.sum())

    assert in_matrix + beside_it == int(sets[0].sum())


@given(two_sets())
def test_shares_of_a_label_add_up_to_one(sets: tuple[Sets, Sets]) -> None:
    matrix = tally_sets(*sets).matrix()

    for row in range(len(matrix.cells)):
        if matrix.row_share.is_defined[row, 0]:
            assert abs(matrix.row_share.value[row].sum() - 1) < 1e-14
        if matrix.column_share.is_defined[0, row]:
            assert abs(matrix.column_share.value[:, row].sum() - 1) < 1e-14


@given(two_sets(), st.data())
def test_renaming_the_labels_moves_the_cells_and_changes_no_average(
    sets: tuple[Sets, Sets], data: st.DataObject
) -> None:
    actual, predicted = sets
    order = np.array(data.draw(st.permutations(range(actual.shape[1]))))
    plain, moved = tally_sets(actual, predicted), tally_sets(actual[:, order], predicted[:, order])

    cells = plain.matrix().cells[np.ix_(order, order)]

    assert moved.matrix().cells.tolist() == cells.tolist()
    assert example_metrics(moved.examples) == example_metrics(plain.examples)
    averages = label_averages(plain.labels)
    for key, value in label_averages(moved.labels).items():
        assert value.reason == averages[key].reason
        assert abs((value.value or 0) - (averages[key].value or 0)) < 1e-14


@given(two_sets())
def test_every_average_lies_between_zero_and_one(sets: tuple[Sets, Sets]) -> None:
    tally = tally_sets(*sets)

    for value in (
        *example_metrics(tally.examples).values(),
        *label_averages(tally.labels).values(),
    ):
        assert value.value is None or 0 <= value.value <= 1


@given(two_sets())
def test_a_perfect_prediction_is_perfect_everywhere(sets: tuple[Sets, Sets]) -> None:
    actual, _ = sets
    tally = tally_sets(actual, actual)

    values = example_metrics(tally.examples)

    assert values["hamming_loss"].value == 0
    for key in ("subset_accuracy", "example_jaccard", "example_precision", "example_f1"):
        assert values[key].value == 1
    off_diagonal = tally.matrix().cells[~np.eye(tally.n_labels, dtype=np.bool_)]
    assert not off_diagonal.any()


@given(two_sets(), st.data())
def test_ranking_sums_of_chunks_add_up(sets: tuple[Sets, Sets], data: st.DataObject) -> None:
    actual, _ = sets
    grid = st.integers(0, 3)
    scores = np.array(
        [[data.draw(grid) / 3 for _ in range(actual.shape[1])] for _ in range(len(actual))]
    )
    cut = data.draw(st.integers(0, len(actual)))

    merged = sum_over_rankings(actual[cut:], scores[cut:]) + sum_over_rankings(
        actual[:cut], scores[:cut]
    )

    assert ranking_metrics(merged) == ranking_metrics(sum_over_rankings(actual, scores))
