"""The audit beside mlscorecheck (Fazekas and Kovacs 2023, arXiv:2310.12527).

First on the examples of its documentation that are about one test set, or about several folds
and sets whose counts are pooled, then on random scores, by the number of matrices that fit.
Scores that are averaged over folds follow from no single matrix and have no counterpart here.
It takes an uncertainty where the audit reads the decimals of the printed number; half a unit of
the last decimal is what rounding allows.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

import numpy as np
import pytest
from mlscorecheck.check.binary import check_1_testset_no_kfold
from mlscorecheck.check.multiclass import (
    check_1_testset_no_kfold_macro,
    check_1_testset_no_kfold_micro,
)

from offdiag.audit.feasible import Constraint, feasible_tables
from offdiag.audit.findings import AuditReport, AuditVerdict
from offdiag.audit.printed import Interval
from offdiag.metrics.suite import evaluate_stack
from offdiag.sdk.evaluations.audit import audit_reported

KEYS = {
    "acc": "accuracy_ovr",
    "sens": "recall",
    "spec": "specificity",
    "ppv": "precision",
    "npv": "npv",
    "bacc": "balanced_accuracy_ovr",
    "f1p": "f1",
    "ji": "jaccard",
    "bm": "informedness",
    "fm": "fowlkes_mallows",
    "gm": "gmean",
    "mk": "markedness",
    "mcc": "mcc_ovr",
    "lrp": "lr_plus",
    "lrn": "lr_minus",
    "dor": "dor",
    "pt": "prevalence_threshold",
}
"""Scores of mlscorecheck and the registry's keys for one class against the rest."""
LINEAR = ("acc", "sens", "spec", "ppv", "npv", "bacc", "f1p", "ji", "bm")
"""Scores whose bounds are straight lines in hits and false alarms. For the others mlscorecheck
tests intervals of intermediate results, so it also accepts matrices that do not fit."""

DOCUMENTED = {
    "README, first example": (100, 200, "acc 0.9567 sens 0.8545 spec 0.9734", True),
    "README, one test set": (530, 902, "acc 0.62 sens 0.22 spec 0.86 f1p 0.30 fm 0.32", False),
    "README, accuracy changed": (530, 902, "acc 0.92 sens 0.22 spec 0.86 f1p 0.30 fm 0.32", True),
    "skin lesions, ISIC 2016": (75, 304, "acc 0.7916 sens 0.2933 spec 0.9145", False),
    "skin lesions, ISIC 2017": (117, 483, "acc 0.6183 sens 0.4957 ppv 0.2544 f1p 0.3362", False),
    "retina, CHASE_DB1": (51133, 907907, "acc 0.4457 sens 0.0051 spec 0.4706", False),
    "retina, DIARETDB1": (17, 44, "acc 0.3115 sens 1.0000 spec 0.0455 f1p 0.4474", False),
    "retina, DRISHTI_GS": (
        118933,
        3487307,
        "acc 0.5966 sens 0.3000 spec 0.6067 f1p 0.0468",
        False,
    ),
    "retina, DRIVE, field of view": (29412, 194965, "acc 0.9633 sens 0.7406 spec 0.9849", True),
    "retina, DRIVE, all pixels": (29440, 300520, "acc 0.9633 sens 0.7406 spec 0.9849", False),
    "retina, HRF, field of view": (712528, 6199936, "acc 0.5562 sens 0.5049 spec 0.5621", False),
    "retina, HRF, all pixels": (712528, 7472816, "acc 0.5562 sens 0.5049 spec 0.5621", True),
    "retina, STARE": (37701, 385799, "acc 0.4699 npv 0.8993 f1p 0.1340", False),
    "three test sets pooled": (517, 1049, "acc 0.4719 npv 0.6253 f1p 0.3091", False),
    "three test sets pooled, NPV changed": (517, 1049, "acc 0.4719 npv 0.6263 f1p 0.3091", True),
    "monk-2, folds and repetitions pooled": (
        612,
        684,
        "spec 0.668 npv 0.744 ppv 0.667 bacc 0.706 f1p 0.703 fm 0.704",
        False,
    ),
    "five folds pooled": (10, 20, "acc 0.428 npv 0.392 bacc 0.442 f1p 0.391", True),
    "two data sets pooled": (
        1098,
        1864,
        "acc 0.631 sens 0.341 spec 0.802 f1p 0.406 fm 0.414",
        False,
    ),
    "two data sets pooled, accuracy changed": (
        1098,
        1864,
        "acc 0.731 sens 0.341 spec 0.802 f1p 0.406 fm 0.414",
        True,
    ),
}
"""Positives, negatives, scores, and whether an inconsistency is documented. Counts of pooled
folds, repetitions and test sets add up to those of one test set."""
ONLY_WITH_WHOLE_UNITS = "retina, DRIVE, all pixels"


@pytest.fixture(autouse=True)
def _no_log_of_each_step() -> None:
    logging.getLogger("mlscorecheck").setLevel(logging.ERROR)


def scores_in(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def audited(positives: int, negatives: int, scores: Mapping[str, str]) -> AuditReport:
    return audit_reported(
        reported={KEYS[name]: value for name, value in scores.items()},
        class_counts={"positive": positives, "negative": negatives},
        positive_label="positive",
    )


def unit_of(value: str) -> float:
    return 10.0 ** -len(value.partition(".")[2])


def count_of(positives: int, negatives: int, scores: Mapping[str, str], *, units: float) -> int:
    """Matrices whose scores lie within so many units of the last decimal, by our search."""
    constraints = tuple(
        Constraint(
            KEYS[name],
            0,
            Interval(float(text) - units * unit_of(text), float(text) + units * unit_of(text)),
        )
        for name, text in scores.items()
    )
    found = feasible_tables((positives, negatives), constraints)
    assert found.is_complete
    return found.count


def their_count(positives: int, negatives: int, scores: Mapping[str, str], *, units: float) -> int:
    result = check_1_testset_no_kfold(
        testset={"p": positives, "n": negatives},
        scores={name: float(text) for name, text in scores.items()},
        eps={name: units * unit_of(text) for name, text in scores.items()},
        numerical_tolerance=1e-11,
    )
    return int(result["n_valid_tptn_pairs"])


@pytest.mark.parametrize("example", DOCUMENTED)
def test_documented_examples_get_the_documented_verdict(example: str) -> None:
    positives, negatives, text, is_inconsistent = DOCUMENTED[example]

    count = count_of(positives, negatives, scores_in(text), units=1)

    assert (count == 0) is is_inconsistent


@pytest.mark.parametrize("example", [name for name in DOCUMENTED if name != ONLY_WITH_WHOLE_UNITS])
def test_the_decimals_of_the_documented_examples_lead_to_the_same_verdict(example: str) -> None:
    positives, negatives, text, is_inconsistent = DOCUMENTED[example]

    report = audited(positives, negatives, scores_in(text))

    assert (report.verdict is not AuditVerdict.CONSISTENT) is is_inconsistent


def test_one_documented_example_needs_more_than_rounding() -> None:
    """A whole unit to either side leaves one matrix, but not one that rounds to the scores."""
    positives, negatives, text, _ = DOCUMENTED[ONLY_WITH_WHOLE_UNITS]

    assert count_of(positives, negatives, scores_in(text), units=1) == 1
    assert count_of(positives, negatives, scores_in(text), units=0.5) == 0
    report = audited(positives, negatives, scores_in(text))
    assert report.verdict is AuditVerdict.IMPOSSIBLE


@pytest.mark.parametrize("example", [name for name in DOCUMENTED if DOCUMENTED[name][1] < 1000])
@pytest.mark.parametrize("units", [0.5, 1])
def test_small_documented_examples_have_as_many_matrices(example: str, units: float) -> None:
    positives, negatives, text, _ = DOCUMENTED[example]
    scores = scores_in(text)

    theirs = their_count(positives, negatives, scores, units=units)

    assert count_of(positives, negatives, scores, units=units) == theirs


def random_scores(
    rng: np.random.Generator, names: tuple[str, ...]
) -> tuple[int, int, dict[str, str]]:
    positives, negatives = (int(n) for n in rng.integers(20, 200, size=2))
    hits, alarms = int(rng.integers(1, positives)), int(rng.integers(1, negatives))
    cells = np.array([[hits, positives - hits], [alarms, negatives - alarms]])
    suite = evaluate_stack(cells, ordinal=False)
    chosen = rng.choice(names, size=int(rng.integers(2, 5)), replace=False).tolist()
    scores = {
        name: f"{suite.per_class[KEYS[name]].at(0).value:.{int(rng.integers(2, 4))}f}"
        for name in chosen
    }
    if rng.random() < 0.3:
        scores[chosen[0]] = f"{float(scores[chosen[0]]) + 0.01:.3f}"
    return positives, negatives, scores


def test_random_scores_have_as_many_matrices() -> None:
    rng = np.random.default_rng(2310)
    counts = []
    for _ in range(40):
        positives, negatives, scores = random_scores(rng, LINEAR)

        count = count_of(positives, negatives, scores, units=0.5)

        assert count == their_count(positives, negatives, scores, units=0.5), scores
        counts.append(count)
    assert 0 in counts
    assert max(counts) > 5


def test_on_curved_scores_we_accept_no_matrix_that_they_refuse() -> None:
    rng = np.random.default_rng(12527)
    fewer = 0
    for _ in range(30):
        positives, negatives, scores = random_scores(rng, tuple(KEYS))

        ours = count_of(positives, negatives, scores, units=0.5)
        theirs = their_count(positives, negatives, scores, units=0.5)

        assert ours <= theirs, scores
        fewer += ours < theirs
    assert fewer > 0


@pytest.mark.parametrize("accuracy", ["0.5158", "0.5258"])
def test_pooled_scores_of_three_classes_get_the_documented_verdict(accuracy: str) -> None:
    """Pooled over the classes against the rest, their accuracy is our average accuracy."""
    sizes = {0: 10, 1: 100, 2: 80}

    report = audit_reported(
        reported={
            "average_accuracy": accuracy,
            "micro_recall": "0.2737",
            "micro_precision": "0.2737",
        },
        class_counts=sizes,
    )
    theirs = check_1_testset_no_kfold_micro(
        testset=sizes, scores={"acc": float(accuracy), "sens": 0.2737, "ppv": 0.2737}, eps=1e-4
    )

    assert theirs["inconsistency"] is (accuracy == "0.5258")
    assert (report.verdict is not AuditVerdict.CONSISTENT) is theirs["inconsistency"]


@pytest.mark.parametrize(("recall", "is_inconsistent"), [("0.2543", False), ("0.2553", True)])
def test_pooled_scores_of_four_classes_in_two_folds_get_the_documented_verdict(
    recall: str, is_inconsistent: bool
) -> None:
    report = audit_reported(
        reported={"average_accuracy": "0.6272", "micro_recall": recall, "micro_f1": "0.2543"},
        class_counts={0: 86, 1: 96, 2: 59, 3: 105},
    )

    assert (report.verdict is not AuditVerdict.CONSISTENT) is is_inconsistent


@pytest.mark.parametrize(("accuracy", "is_inconsistent"), [("0.5662", False), ("0.6762", True)])
def test_macro_scores_of_folds_and_repetitions_pooled_get_the_documented_verdict(
    accuracy: str, is_inconsistent: bool
) -> None:
    """Two repetitions of 129, 81 and 135 cases."""
    report = audit_reported(
        reported={"average_accuracy": accuracy, "macro_recall": "0.3577", "macro_f1": "0.3481"},
        class_counts={0: 258, 1: 162, 2: 270},
    )

    assert (report.verdict is not AuditVerdict.CONSISTENT) is is_inconsistent


@pytest.mark.filterwarnings("ignore:.*PuLP 4:DeprecationWarning")
@pytest.mark.parametrize("accuracy", ["0.6000", "0.6020"])
def test_macro_scores_of_three_classes_get_the_documented_verdict(accuracy: str) -> None:
    sizes = {0: 10, 1: 100, 2: 80}

    report = audit_reported(
        reported={"average_accuracy": accuracy, "macro_recall": "0.3417"}, class_counts=sizes
    )
    theirs = check_1_testset_no_kfold_macro(
        testset=sizes, scores={"acc": float(accuracy), "sens": 0.3417}, eps=1e-4, verbosity=0
    )

    assert theirs["inconsistency"] is (accuracy == "0.6020")
    assert (report.verdict is not AuditVerdict.CONSISTENT) is theirs["inconsistency"]
