"""Cases with an empty set are counted, not lost."""

from __future__ import annotations

from offdiag.metrics.multilabel.tally import count_empty_sets
from support.krstinic import indicator


def test_every_kind_of_empty_case_is_counted() -> None:
    actual = indicator(["000", "000", "011", "001", "110"])
    predicted = indicator(["000", "110", "000", "000", "110"])

    empty = count_empty_sets(actual, predicted)

    assert empty.both_empty == 1
    assert empty.n_true_empty == 2
    assert empty.n_pred_empty == 3
    assert empty.missed_when_pred_empty.tolist() == [0, 1, 2]
    assert empty.spurious_when_true_empty.tolist() == [1, 1, 0]


def test_full_sets_leave_all_counters_at_zero() -> None:
    sets = indicator(["11", "01"])

    empty = count_empty_sets(sets, sets)

    assert (empty.both_empty, empty.n_true_empty, empty.n_pred_empty) == (0, 0, 0)
    assert empty.missed_when_pred_empty.tolist() == [0, 0]
    assert empty.spurious_when_true_empty.tolist() == [0, 0]
