"""Laws of verdicts over generated joint tables."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from offdiag.comparison.differences import HEADLINE, Outcome
from offdiag.comparison.pair import PairComparison, compare_paired
from offdiag.comparison.verdict import classes_that_change, pair_verdict
from offdiag.comparison.wording import title_inside
from offdiag.domain.labels import LabelSet
from offdiag.metrics.paired.joint import JointCounts, joint_counts

LABELS = LabelSet(("ant", "bee", "cat", "dog"))


@st.composite
def joints(draw: st.DrawFn) -> JointCounts:
    """Up to 12 kinds of cases, each up to 200 times."""
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
    return compare_paired(joint, seed=1, replicates=60)


@settings(max_examples=50, deadline=None)
@given(joints())
def test_the_classes_in_the_sentence_are_those_whose_interval_excludes_zero(
    joint: JointCounts,
) -> None:
    pair = compared(joint)

    sentence = next(
        (text for text in pair_verdict(pair).details if text.startswith("Recall ")), ""
    )

    excluded = {
        str(each.class_label)
        for each in pair.classes["recall"]
        if each.difference.ci_low is not None
        and each.difference.ci_high is not None
        and not each.difference.ci_low <= 0 <= each.difference.ci_high
    }
    assert {name for name in LABELS.names if re.search(rf"\b{name}\b", sentence)} == excluded
    falling, rising = classes_that_change(pair)
    assert {*falling, *rising} == excluded


@settings(max_examples=50, deadline=None)
@given(joints())
def test_better_and_worse_are_said_of_nothing_whose_interval_holds_zero(
    joint: JointCounts,
) -> None:
    pair = compared(joint)
    verdict = pair_verdict(pair)

    outcomes = {key: pair.metric(key).outcome for key in HEADLINE}
    separable = {key for key, outcome in outcomes.items() if outcome.is_separable}
    if not separable:
        assert "better" not in verdict.headline
        assert "worse" not in verdict.headline
        assert verdict.tone == "open"
    for key in HEADLINE:
        low, high = pair.metric(key).difference.ci_low, pair.metric(key).difference.ci_high
        if low is None or high is None or low <= 0 <= high:
            assert key not in separable
    claimed = verdict.headline.partition("; not separable")[0]
    if separable and "every headline metric" not in claimed:
        for key in HEADLINE:
            named = re.search(rf"(?<!balanced ){re.escape(title_inside(key))}", claimed)
            assert bool(named) == (key in separable)


@settings(max_examples=50, deadline=None)
@given(joints())
def test_swapping_the_runs_turns_the_verdict_round(joint: JointCounts) -> None:
    there, back = compared(joint), compared(joint.swapped())

    opposite = {
        Outcome.BETTER: Outcome.WORSE,
        Outcome.WORSE: Outcome.BETTER,
    }
    for key in HEADLINE:
        outcome = there.metric(key).outcome
        assert back.metric(key).outcome is opposite.get(outcome, outcome), key
    assert classes_that_change(there) == classes_that_change(back)[::-1]


@settings(max_examples=50, deadline=None)
@given(joints())
def test_no_interval_is_a_point(joint: JointCounts) -> None:
    pair = compared(joint)

    for found in (*pair.metrics, *(each for values in pair.classes.values() for each in values)):
        low, high = found.difference.ci_low, found.difference.ci_high
        assert low is None or high is None or low < high, found.key
    assert (pair.cells.low < pair.cells.high).all()
