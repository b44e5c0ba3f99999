"""Laws of verdicts over generated joint tables."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from offdiag.comparison.differences import HEADLINE, DifferenceStatus, MetricDifference
from offdiag.comparison.pair import PairComparison, compare_paired
from offdiag.comparison.pair_verdict import classes_that_change, pair_verdict
from offdiag.comparison.texts import title_inside
from offdiag.domain.labels import LabelSet
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts

LABELS = LabelSet(("ant", "bee", "cat", "dog"))


@st.composite
def joints(draw: st.DrawFn) -> JointCounts:
    """Up to 12 kinds of samples, each up to 200 times."""
    size = draw(st.integers(2, 4))
    code = st.integers(0, size - 1)
    triples = draw(
        st.lists(st.tuples(code, code, code, st.integers(1, 200)), min_size=1, max_size=12)
    )
    actual, first, second = (
        np.repeat([triple[place] for triple in triples], [triple[3] for triple in triples])
        for place in range(3)
    )
    return joint_counts(
        actual=actual, first=first, second=second, labels=LabelSet(LABELS.names[:size])
    )


def compared(joint: JointCounts) -> PairComparison:
    return compare_paired(joint)


def agrees(found: MetricDifference) -> bool:
    """Whether 0 lies on the side of the simultaneous interval, or in it, that the word says.

    An end may be 0 either way: it is drawn back to it, or reaches just to it.
    """
    assert found.simultaneous is not None
    low, high = found.simultaneous.low, found.simultaneous.high
    assert low is not None
    assert high is not None
    return low >= 0 or high <= 0 if found.outcome.is_separable else low <= 0 <= high


# Macro F1 moves against its slopes, so that its interval reaches just to 0.
@example(
    joint_counts(
        actual=np.repeat([0, 1], [4, 1]),
        first=np.repeat([0, 2], [4, 1]),
        second=np.zeros(5, np.int64),
        labels=LabelSet(LABELS.names[:3]),
    )
)
@settings(max_examples=12, deadline=None)
@given(joints())
def test_word_and_simultaneous_interval_agree_everywhere(joint: JointCounts) -> None:
    pair = compared(joint)

    for found in pair.metrics:
        if found.simultaneous is None:
            assert not found.outcome.is_separable, found.key
        else:
            assert agrees(found), found.key
    for found in (each for values in pair.classes.values() for each in values):
        if found.outcome.is_separable:
            assert found.p_adjusted is not None
            assert found.p_adjusted < 0.05
            assert agrees(found), (found.key, found.class_label)
        elif found.simultaneous is not None:
            low, high = found.simultaneous.low, found.simultaneous.high
            assert (low or 0) <= 0 <= (high or 0), (found.key, found.class_label)


@settings(max_examples=12, deadline=None)
@given(joints())
def test_the_verdict_names_what_is_separable_and_nothing_else(joint: JointCounts) -> None:
    pair = compared(joint)
    verdict = pair_verdict(pair)

    separable = {key for key in HEADLINE if pair.metric(key).outcome.is_separable}
    if not separable:
        assert "better" not in verdict.headline
        assert "worse" not in verdict.headline
        assert verdict.tone == "open"
    claimed = verdict.headline.partition("; no significant")[0]
    if separable and "every primary metric" not in claimed:
        for key in HEADLINE:
            before = "(?<!balanced )" if key == "overall_accuracy" else ""
            named = re.search(f"{before}{re.escape(title_inside(key))}", claimed)
            assert bool(named) == (key in separable)
    sentence = next((text for text in verdict.details if text.startswith("Recall ")), "")
    falling, rising = classes_that_change(pair)
    assert {name for name in LABELS.names if re.search(rf"\b{name}\b", sentence)} == {
        *falling,
        *rising,
    }


@settings(max_examples=12, deadline=None)
@given(joints())
def test_swapping_the_runs_turns_the_verdict_round(joint: JointCounts) -> None:
    there, back = compared(joint), compared(joint.swapped())

    opposite = {
        DifferenceStatus.BETTER: DifferenceStatus.WORSE,
        DifferenceStatus.WORSE: DifferenceStatus.BETTER,
    }
    for key in HEADLINE:
        outcome = there.metric(key).outcome
        assert back.metric(key).outcome is opposite.get(outcome, outcome), key
    assert classes_that_change(there) == classes_that_change(back)[::-1]


@settings(max_examples=12, deadline=None)
@given(joints())
def test_no_interval_is_a_point_and_together_they_are_wider(joint: JointCounts) -> None:
    pair = compared(joint)

    for found in (*pair.metrics, *(each for values in pair.classes.values() for each in values)):
        low, high = found.difference.ci_low, found.difference.ci_high
        assert low is None or high is None or low < high, found.key
        if found.simultaneous is not None:
            assert (found.simultaneous.low or 0) <= (low or 0) + 1e-9
            assert (found.simultaneous.high or 0) >= (high or 0) - 1e-9
    assert pair.cells is not None
    assert (pair.cells.low < pair.cells.high).all()
