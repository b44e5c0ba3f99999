"""Two runs by slice: one family of tests, and a sentence that says no more than they do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offdiag.comparison.by_slice import SliceChanges, compare_parts
from offdiag.comparison.churn import Churn
from offdiag.metrics.paired.hypothesis_tests import holm, mcnemar

SAME = Churn(both_right=80, only_a=5, only_b=5, both_wrong=10)
LOSS = Churn(both_right=60, only_a=30, only_b=0, both_wrong=10)
GAIN = Churn(both_right=60, only_a=0, only_b=30, both_wrong=10)


def compared(whole: Churn, **slices: Churn) -> SliceChanges:
    return compare_parts(whole, slices, {}, too_small={}, n_suppressed=0, min_size=12)


@pytest.mark.parametrize(
    ("whole", "slices", "says"),
    [
        (GAIN, {"JP": LOSS, "DE": SAME}, "By accuracy, B is better overall and worse for JP ("),
        (LOSS, {"JP": GAIN}, "By accuracy, B is worse overall and better for JP ("),
        (SAME, {"JP": LOSS, "DE": GAIN}, "By accuracy, B is worse for JP and better for DE ("),
        (GAIN, {"JP": SAME}, "By accuracy, B is better overall; no slice changes significantly ("),
        # Tested alone, the whole may well differ: it is not told here that it does not.
        (SAME, {"JP": SAME}, "No slice changes significantly ("),
    ],
)
def test_the_verdict_names_the_whole_and_the_slices_that_change(
    whole: Churn, slices: dict[str, Churn], says: str
) -> None:
    verdict = compared(whole, **slices).verdict

    assert verdict.startswith(says)
    n_slices = "1 slice" if len(slices) == 1 else f"{len(slices)} slices"
    assert f"the whole and {n_slices} judged together)." in verdict


def test_the_largest_changes_are_named_first_and_not_all() -> None:
    slices = {f"s{at}": Churn(60 - at, only_a=30 + at, only_b=0, both_wrong=10) for at in range(6)}

    assert "worse for s5, s4, s3, s2 and 2 more" in compared(SAME, **slices).verdict


counts = st.tuples(*[st.integers(0, 40)] * 4).filter(lambda cells: sum(cells) > 0)


@settings(max_examples=15)
@given(st.lists(counts, min_size=2, max_size=8))
def test_the_whole_and_all_slices_are_one_family_of_mid_p_mcnemar_and_holm(
    cells: list[tuple[int, int, int, int]],
) -> None:
    parts = [Churn(*each) for each in cells]

    found = compare_parts(
        parts[0],
        {str(at): each for at, each in enumerate(parts[1:])},
        {},
        too_small={},
        n_suppressed=0,
        min_size=1,
    )

    changes = [found.whole.change, *(each.change for each in found.slices)]
    for part, change in zip(parts, changes, strict=True):
        assert change.p == pytest.approx(mcnemar(part.only_a, part.only_b).mid_p)
    adjusted = holm([change.p for change in changes if change.p is not None])
    assert [change.p_adjusted for change in changes] == pytest.approx(list(adjusted))
    for change in changes:
        assert change.outcome.is_separable is (float(change.p_adjusted or 1) < 0.05)


@settings(max_examples=15)
@given(st.lists(counts, min_size=2, max_size=6), st.lists(counts, min_size=1, max_size=6))
def test_classes_of_slices_have_half_of_the_error_rate(
    parts: list[tuple[int, int, int, int]], classes: list[tuple[int, int, int, int]]
) -> None:
    whole, *slices = (Churn(*each) for each in parts)
    of_classes = [Churn(*each) for each in classes]

    found = compare_parts(
        whole,
        {str(at): each for at, each in enumerate(slices)},
        {("0", f"class {at}"): each for at, each in enumerate(of_classes)},
        too_small={},
        n_suppressed=0,
        min_size=1,
    )

    for family in ((found.whole, *found.slices), found.classes):
        changes = [part.change for part in family]
        adjusted = holm([change.p for change in changes if change.p is not None]) * 2
        assert [change.p_adjusted for change in changes] == pytest.approx(
            list(np.minimum(adjusted, 1.0))
        )
        for change in changes:
            assert change.outcome.is_separable is (float(change.p_adjusted or 1) < 0.05)


def test_a_class_is_named_where_its_slice_says_something_else() -> None:
    classes = {("JP", "mel"): LOSS, ("DE", "mel"): LOSS}

    found = compare_parts(
        GAIN, {"JP": SAME, "DE": LOSS}, classes, too_small={}, n_suppressed=0, min_size=12
    )

    said = "By accuracy, B is better overall and worse for DE and mel on JP ("
    assert found.verdict.startswith(said)
    assert "accuracy and recalls" in found.verdict
