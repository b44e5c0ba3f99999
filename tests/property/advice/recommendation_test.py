"""Laws of advice over all situations."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from offdiag.advice.recommendation import Counsel, is_prevalence_independent, recommend
from offdiag.advice.situation import Goal, Situation
from offdiag.domain.labels import LabelSet
from offdiag.metrics.catalogue import Scope
from offdiag.metrics.suite import evaluate_stack


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    n_classes = draw(st.integers(2, 5))
    names = tuple(f"c{code}" for code in range(n_classes))
    cases = draw(st.lists(st.integers(1, 500), min_size=n_classes, max_size=n_classes))
    return Situation(
        goal=draw(st.sampled_from(Goal)),
        labels=LabelSet(names, ordinal=draw(st.booleans())),
        cases=tuple(cases),
        about=draw(st.sampled_from([None, *names])),
        balance_known=draw(st.booleans()),
        has_scores=draw(st.booleans()),
    )


@given(situation=situations())
def test_three_different_numbers_are_recommended_and_none_of_them_warned_of(
    situation: Situation,
) -> None:
    advice = recommend(situation)

    names = [counsel.name for counsel in advice.report]
    assert len(set(names)) == 3
    assert not set(names) & {counsel.name for counsel in advice.avoid}


@given(situation=situations())
def test_nothing_that_depends_on_the_balance_is_recommended_while_it_is_unknown(
    situation: Situation,
) -> None:
    advice = recommend(situation)

    if not situation.balance_known:
        assert all(is_prevalence_independent(counsel.spec) for counsel in advice.report)


@given(situation=situations())
def test_scores_are_asked_for_only_where_there_are_some(situation: Situation) -> None:
    if not situation.has_scores:
        scopes = {counsel.spec.scope for counsel in recommend(situation).report}

        assert Scope.PROBABILISTIC not in scopes


@given(situation=situations())
def test_whatever_is_warned_of_has_a_reason(situation: Situation) -> None:
    assert all(counsel.why and all(counsel.why) for counsel in recommend(situation).avoid)


@given(situation=situations(), seed=st.integers(0, 2**32 - 1), factor=st.integers(2, 50))
def test_more_cases_of_the_class_in_question_leave_what_is_recommended_as_it_is(
    situation: Situation, seed: int, factor: int
) -> None:
    size = len(situation.labels)
    counts = np.random.default_rng(seed).integers(1, 50, (size, size))
    scaled = counts.copy()
    scaled[situation.labels.index[situation.watched]] *= factor

    if not situation.balance_known:
        for counsel in recommend(situation).report:
            if counsel.spec.scope is not Scope.PROBABILISTIC:
                before, after = (value(counsel, each, situation) for each in (counts, scaled))
                assert np.isclose(before, after, rtol=1e-12)


def value(counsel: Counsel, counts: np.ndarray, situation: Situation) -> float:
    suite = evaluate_stack(counts.astype(np.int64), ordinal=situation.labels.has_declared_order)
    if counsel.class_label is None:
        return float(suite.aggregate[counsel.spec.key].value)
    code = situation.labels.index[counsel.class_label]
    return float(suite.per_class[counsel.spec.key].value[code])
