"""What holds for the rules on any matrix."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from offdiag.flags.assessment import assess, badges, judge
from offdiag.flags.rule_evaluation import Subjects
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Severity
from support.matrices import matrix_of

Counts = NDArray[np.int64]

THRESHOLDS = Thresholds()


@st.composite
def matrices(draw: st.DrawFn) -> Counts:
    """Matrices of 2 to 5 classes, diagonal or not, with classes absent now and then."""
    size = draw(st.integers(2, 5))
    cells = st.one_of(st.just(0), st.integers(0, 12), st.integers(0, 500))
    counts: Counts = draw(arrays(np.int64, (size, size), elements=cells))
    return counts


@st.composite
def stacks(draw: st.DrawFn) -> Counts:
    size = draw(st.integers(2, 4))
    cells = st.one_of(st.just(0), st.integers(0, 12), st.integers(0, 500))
    counts: Counts = draw(arrays(np.int64, (3, size, size), elements=cells))
    return counts


def findings(counts: Counts) -> set[tuple[str, str | None, str]]:
    return {
        (verdict.rule, verdict.class_label, verdict.severity.value)
        for verdict in assess(matrix_of(counts), THRESHOLDS).verdicts
    }


@given(matrices(), st.randoms(use_true_random=False))
def test_the_order_of_the_classes_does_not_matter(counts: Counts, random: Any) -> None:
    supports = sorted(counts.sum(axis=1))
    # With two largest classes there are two majority rules to compare with.
    assume(supports[-1] != supports[-2])
    order = list(range(len(counts)))
    random.shuffle(order)

    found = findings(counts[np.ix_(order, order)])

    renamed = {
        (rule, None if label is None else str(order[int(label)]), severity)
        for rule, label, severity in found
    }
    assert renamed == findings(counts)


@given(stacks())
def test_a_matrix_is_judged_alike_alone_and_in_a_stack(stack: Counts) -> None:
    names = tuple(str(code) for code in range(stack.shape[-1]))
    subjects = Subjects(stack, names)

    judgements = judge(subjects, THRESHOLDS)
    shown = badges(judgements, subjects, THRESHOLDS)

    for place, counts in enumerate(stack):
        alone = assess(matrix_of(counts), THRESHOLDS)
        if alone.not_assessable is not None:
            continue
        fired = {
            (rule, label)
            for rule, judgement in judgements.items()
            for label in labels_where(judgement.fires[place], names)
        }
        assert fired == {(verdict.rule, verdict.class_label) for verdict in alone.verdicts}
        assert bool(shown.hides[place]) is alone.badge
        assert bool(shown.may_hide[place]) is alone.may_hide


def labels_where(fires: Any, names: tuple[str, ...]) -> list[str | None]:
    if np.ndim(fires) == 0:
        return [None] if fires else []
    return [names[code] for code in np.flatnonzero(fires)]


@given(matrices())
def test_every_verdict_is_plain_json_whose_conditions_explain_it(counts: Counts) -> None:
    for verdict in assess(matrix_of(counts), THRESHOLDS).verdicts:
        stored = json.loads(json.dumps(verdict.to_dict(), allow_nan=False))

        assert stored["message"]
        assert any(condition["holds"] for condition in stored["fired"])
        if verdict.rule == "F4":
            two = stored["fired"][:2] if stored["certainty"] == "proved" else stored["fired"][2:4]
            assert all(condition["holds"] for condition in two)
        elif verdict.rule not in {"F8", "F12"}:
            assert all(condition["holds"] for condition in stored["fired"])


@given(matrices())
def test_a_model_without_errors_is_only_ever_told_that_cases_are_few(counts: Counts) -> None:
    perfect = np.diag(counts.sum(axis=1))

    assert {rule for rule, _, _ in findings(perfect)} <= {"F12"}


def gap_states(correct: int, examples: int, others: Counts, *, n_classes: int) -> int:
    """How severe F4 is about the last of `n_classes` classes, 0 where it is not raised.

    The other classes have the hits and examples of `others` together, all but the first of them
    one example each.
    """
    counts = np.zeros((n_classes, n_classes), np.int64)
    hits, total = others
    for code in reversed(range(n_classes - 1)):
        found, of = (min(1, hits), 1) if code else (hits, total)
        counts[code, code], counts[code, code - 1 if code else -1] = found, of - found
        hits, total = hits - found, total - of
    counts[-1, -1], counts[-1, 0] = correct, examples - correct
    raised = [
        verdict.severity.rank
        for verdict in assess(matrix_of(counts), THRESHOLDS).verdicts
        if verdict.rule == "F4" and verdict.class_label == str(n_classes - 1)
    ]
    return raised[0] if raised else 0


@st.composite
def a_class_among_others(draw: st.DrawFn) -> tuple[int, int, Counts, int]:
    examples, total = draw(st.integers(1, 200)), draw(st.integers(8, 3_000))
    hits = draw(st.integers(0, total))
    return (
        draw(st.integers(0, examples)),
        examples,
        np.array((hits, total), np.int64),
        draw(st.integers(2, 8)),
    )


@given(a_class_among_others())
def test_a_class_that_is_found_once_more_is_never_judged_worse(
    example: tuple[int, int, Counts, int],
) -> None:
    correct, examples, others, n_classes = example
    assume(correct < examples)

    before = gap_states(correct, examples, others, n_classes=n_classes)

    assert gap_states(correct + 1, examples, others, n_classes=n_classes) <= before


@given(a_class_among_others())
def test_the_same_class_among_more_classes_proves_no_more(
    example: tuple[int, int, Counts, int],
) -> None:
    """A gap in sight may well appear: with more classes 20 points are harder to rule out."""
    correct, examples, others, n_classes = example
    in_sight = Severity.MEDIUM.rank

    fewer = gap_states(correct, examples, others, n_classes=n_classes)
    more = gap_states(correct, examples, others, n_classes=n_classes + 1)

    assert max(more, in_sight) <= max(fewer, in_sight)
