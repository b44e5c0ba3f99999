"""Joint counts of two runs: both matrices and every pairing of outcomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.paired import joint_counts as module
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts
from support.matrices import numbered_labels

ACTUAL = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 0], np.uint8)
FIRST = np.array([0, 0, 1, 1, 2, 2, 2, 0, 1, 0], np.uint8)
SECOND = np.array([0, 1, 1, 1, 1, 2, 0, 0, 2, 0], np.uint8)


@pytest.fixture(params=["table", "sorting"])
def joint(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> JointCounts:
    if request.param == "sorting":
        monkeypatch.setattr(module, "LARGEST_CUBE", 0)
    return joint_counts(actual=ACTUAL, first=FIRST, second=SECOND, labels=numbered_labels(3))


def test_triples_that_occur_are_counted_in_order(joint: JointCounts) -> None:
    triples = list(
        zip(
            *(part.tolist() for part in (joint.actual, joint.first, joint.second, joint.counts)),
            strict=True,
        )
    )

    assert triples == sorted(triples)
    assert triples[:3] == [(0, 0, 0, 2), (0, 0, 1, 1), (0, 1, 1, 1)]
    assert joint.total == 10


def test_each_run_keeps_its_confusion_matrix(joint: JointCounts) -> None:
    assert joint.first_matrix.counts.tolist() == [[3, 1, 0], [0, 1, 1], [1, 1, 2]]
    assert joint.second_matrix.counts.tolist() == [[2, 2, 0], [0, 2, 0], [2, 0, 2]]


def test_accuracy_pairs_right_answers(joint: JointCounts) -> None:
    rates = joint.accuracy

    assert int(rates.only_first) == np.count_nonzero((FIRST == ACTUAL) & (SECOND != ACTUAL))
    assert int(rates.only_second) == np.count_nonzero((FIRST != ACTUAL) & (SECOND == ACTUAL))
    assert int(rates.cases) == 10


def test_hits_pair_the_cases_of_each_class(joint: JointCounts) -> None:
    for code in range(3):
        of_class = code == ACTUAL
        first, second = (code == FIRST) & of_class, (code == SECOND) & of_class

        assert joint.hits.only_first[code] == np.count_nonzero(first & ~second)
        assert joint.hits.only_second[code] == np.count_nonzero(~first & second)
        assert joint.hits.cases[code] == np.count_nonzero(of_class)


def test_false_alarms_pair_the_cases_of_other_classes(joint: JointCounts) -> None:
    for code in range(3):
        of_others = code != ACTUAL
        first, second = (code == FIRST) & of_others, (code == SECOND) & of_others

        assert joint.false_alarms.only_first[code] == np.count_nonzero(first & ~second)
        assert joint.false_alarms.only_second[code] == np.count_nonzero(~first & second)
        assert joint.false_alarms.cases[code] == np.count_nonzero(of_others)


def test_chunks_do_not_change_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = numbered_labels(3)
    whole = joint_counts(actual=ACTUAL, first=FIRST, second=SECOND, labels=labels)
    monkeypatch.setattr(module, "CHUNK", 3)

    parts = joint_counts(actual=ACTUAL, first=FIRST, second=SECOND, labels=labels)

    assert parts.counts.tolist() == whole.counts.tolist()
    assert parts.second.tolist() == whole.second.tolist()


def test_no_cases_have_no_triples() -> None:
    nothing = np.array([], np.uint8)

    joint = joint_counts(actual=nothing, first=nothing, second=nothing, labels=numbered_labels(2))

    assert joint.total == 0
    assert joint.first_matrix.total == 0


@pytest.mark.parametrize(
    ("first", "text"),
    [
        (FIRST[:5], r"first: uint8 codes of shape \(5,\) for 10 samples"),
        (FIRST.astype(float), "float64 codes"),
        (FIRST + 1, "codes range from 1 to 3"),
        (FIRST.astype(np.int8) - 1, "codes range from -1 to 1"),
    ],
)
def test_codes_that_cannot_be_meant_are_refused(first: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        joint_counts(actual=ACTUAL, first=first, second=SECOND, labels=numbered_labels(3))


def test_answers_pair_the_predictions_whatever_is_right(joint: JointCounts) -> None:
    pairs = [[(i == FIRST) & (j == SECOND) for j in range(3)] for i in range(3)]
    expected = [[np.count_nonzero(pair) for pair in line] for line in pairs]

    assert joint.answers.tolist() == expected


def test_swapping_exchanges_the_runs_and_keeps_the_order(joint: JointCounts) -> None:
    swapped = joint.swapped()

    expected = joint_counts(actual=ACTUAL, first=SECOND, second=FIRST, labels=numbered_labels(3))
    for part in ("actual", "first", "second", "counts"):
        assert getattr(swapped, part).tolist() == getattr(expected, part).tolist()
