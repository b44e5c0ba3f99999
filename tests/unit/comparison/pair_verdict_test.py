"""How many examples would settle what a comparison leaves open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from offdiag.comparison.differences import DifferenceStatus
from offdiag.comparison.pair import compare_unpaired
from offdiag.comparison.pair_verdict import (
    Undecided,
    classes_that_change,
    more_samples_sentence,
    pair_verdict,
    points_text,
    undecided_among,
    undecided_pair,
)
from offdiag.metrics.paired.sample_size import samples_needed
from support.comparisons import BOTH_RIGHT, Triple, pair_of
from support.matrices import matrix_of
from unit.comparison.many_test import BAD, EQUALLY_GOOD, GOOD, compared

AT_ODDS: tuple[Triple, ...] = (("yes", "yes", "no", 8), ("yes", "no", "yes", 7))


@pytest.mark.parametrize(
    ("only_each", "n", "said"),
    [
        (
            25,
            500,
            (
                "About 2,000 labelled examples in all (1,500 to 2,500) would detect a difference "
                "of 2 points in accuracy between A and B; the present 500 detect one of 4 points."
            ),
        ),
        (
            500,
            10_000,
            (
                "The present 10,000 labelled examples detect a difference of 2 points in accuracy "
                "between A and B, and even one of 0.9 points."
            ),
        ),
        (
            # To two digits these are 1,500, which are there and do not settle it.
            58,
            1_500,
            (
                "About 1,516 labelled examples in all (1,300 to 1,800) would detect a difference "
                "of 2 points in accuracy between A and B."
            ),
        ),
        (
            0,
            2,
            (
                "About 390 labelled examples in all (390 to 13,000) would detect a difference "
                "of 2 points in accuracy between A and B."
            ),
        ),
    ],
)
def test_the_sentence_names_the_examples_and_what_the_present_ones_settle(
    only_each: int, n: int, said: str
) -> None:
    found = samples_needed(only_each, only_each, n, difference=0.02)

    assert more_samples_sentence(Undecided(0, 1, found)) == said


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.01, "1 point"), (0.025, "2.5 points"), (0.0002, "0.02 points"), (1.0, "100 points")],
)
def test_differences_are_told_in_points(share: float, text: str) -> None:
    assert points_text(share) == text


@pytest.mark.parametrize(
    "triples",
    [
        pytest.param([*BOTH_RIGHT, ("yes", "yes", "no", 20)], id="one is worse"),
        pytest.param(BOTH_RIGHT, id="same answers"),
    ],
)
def test_a_decided_pair_needs_no_samples(triples: list[Triple]) -> None:
    assert undecided_pair(pair_of(triples)) is None


def test_an_undecided_pair_counts_what_only_one_run_gets_right() -> None:
    found = undecided_pair(pair_of([*BOTH_RIGHT, *AT_ODDS]), difference=0.05)

    assert found == Undecided(0, 1, samples_needed(8, 7, 135, difference=0.05))


def test_of_several_runs_the_highest_is_told_from_the_nearest() -> None:
    found = undecided_among(compared(BAD, EQUALLY_GOOD, GOOD))

    assert found is not None
    assert (found.first, found.second) == (2, 1)
    assert undecided_among(compared(BAD, GOOD)) is None


THREE = ("ant", "bee", "cat")


def test_runs_that_agree_everywhere_are_the_same_and_not_merely_inseparable() -> None:
    verdict = pair_verdict(pair_of([*BOTH_RIGHT, ("yes", "no", "no", 20)]))

    assert verdict.headline == "A and B make the same prediction for all 140 examples."
    assert verdict.tone == "open"
    assert verdict.details == (
        "B − A: accuracy 0 pp (95 % CI −2.7 to +2.7; exact McNemar p = 1.00).",
    )


def test_one_example_is_spoken_of_in_the_singular() -> None:
    verdict = pair_verdict(pair_of([("yes", "yes", "yes", 1)]))

    assert verdict.headline == "A and B make the same prediction for the only example."


def test_one_discordant_case_separates_nothing() -> None:
    verdict = pair_verdict(pair_of([*BOTH_RIGHT, ("yes", "yes", "no", 1)]))

    assert verdict.headline == (
        "No significant difference between A and B on any primary metric (five metrics tested "
        "together, 95 %)."
    )
    assert (
        "No class changes in recall by more than chance explains (Holm over 2 classes)."
        in verdict.details
    )
    assert verdict.tone == "open"


def test_all_discordant_cases_in_favour_of_one_run_separate_everything() -> None:
    verdict = pair_verdict(
        pair_of([*BOTH_RIGHT, ("yes", "no", "yes", 40), ("no", "yes", "no", 40)])
    )

    assert verdict.headline == (
        "B is better than A on every primary metric (five metrics tested together, 95 %)."
    )
    assert verdict.tone == "better"
    assert "Recall rises on yes and no (Holm over 2 classes)." in verdict.details


def test_an_undefined_metric_is_said_to_be_and_neither_better_nor_worse() -> None:
    always_yes: list[Triple] = [("yes", "yes", "yes", 60), ("no", "no", "yes", 60)]

    verdict = pair_verdict(pair_of(always_yes))

    assert "MCC is undefined for B (one class was predicted for all examples)." in verdict.details
    assert "MCC" not in verdict.headline
    assert verdict.tone == "worse"


def test_what_is_undefined_for_both_is_said_once() -> None:
    always: list[Triple] = [("yes", "yes", "no", 60), ("no", "yes", "no", 30)]

    verdict = pair_verdict(pair_of(always))

    assert (
        "MCC is undefined for both (one class was predicted for all examples)." in verdict.details
    )


def test_gains_and_losses_are_told_together() -> None:
    # One large class gains a little, a small one loses all.
    cases: list[Triple] = [
        ("ant", "ant", "ant", 900),
        ("ant", "bee", "ant", 60),
        ("bee", "bee", "bee", 100),
        ("cat", "cat", "ant", 30),
        ("cat", "cat", "cat", 2),
    ]

    verdict = pair_verdict(pair_of(cases, THREE))

    assert verdict.headline.startswith("B is better than A on accuracy")
    assert "but worse on balanced accuracy" in verdict.headline
    assert verdict.tone == "mixed"
    assert "Recall falls on cat and rises on ant (Holm over 3 classes)." in verdict.details


def test_a_class_that_changes_no_more_than_by_chance_is_not_named() -> None:
    # The small class loses 2 of 17, which is no more than chance.
    cases: list[Triple] = [
        ("ant", "ant", "ant", 900),
        ("ant", "bee", "ant", 60),
        ("bee", "bee", "bee", 100),
        ("cat", "cat", "cat", 15),
        ("cat", "cat", "ant", 2),
    ]

    pair = pair_of(cases, THREE)

    assert classes_that_change(pair) == ((), ("ant",))
    assert "Recall rises on ant (Holm over 3 classes)." in pair_verdict(pair).details


def test_a_metric_that_would_pass_alone_is_said_to_and_not_called_better() -> None:
    # 38 against 22 on accuracy: T = 2.07, between the critical values of one metric and of five.
    pair = pair_of(
        [
            *(("yes", "yes", "yes", 900), ("no", "no", "no", 60)),
            *(("yes", "no", "yes", 34), ("yes", "yes", "no", 16)),
            *(("no", "no", "yes", 6), ("no", "yes", "no", 4)),
        ]
    )

    verdict = pair_verdict(pair)

    accuracy = pair.metric("overall_accuracy")
    assert accuracy.would_pass_alone
    assert accuracy.outcome is DifferenceStatus.NOT_SEPARABLE
    assert pair.together.alone < 16 / 60**0.5 < pair.together.critical
    assert verdict.headline.startswith("No significant difference between A and B")
    assert (
        "The difference of accuracy would be significant alone; not among five." in verdict.details
    )


def test_a_metric_that_no_changed_example_counts_for_is_left_out_and_named() -> None:
    # Only errors change into other errors: accuracy and recall stay exactly as they are.
    cases: list[Triple] = [
        *(("ant", "ant", "ant", 90), ("bee", "bee", "bee", 90), ("cat", "cat", "cat", 40)),
        ("ant", "bee", "cat", 12),
    ]

    pair = pair_of(cases, THREE)
    verdict = pair_verdict(pair)

    assert set(pair.together.left_out) == {"overall_accuracy", "balanced_accuracy"}
    assert pair.metric("balanced_accuracy").outcome is DifferenceStatus.NO_INTERVAL
    assert (
        "Accuracy and balanced accuracy are left out of the joint test: no example on which the "
        "runs differ counts." in verdict.details
    )


def test_a_small_class_makes_averages_unreliable() -> None:
    cases: list[Triple] = [
        ("yes", "yes", "no", 9),
        ("no", "no", "no", 500),
        ("no", "no", "yes", 3),
    ]

    verdict = pair_verdict(pair_of(cases))

    assert verdict.details[-1] == (
        "Intervals of averages over classes are unreliable: the smallest class, yes, has "
        "9 examples."
    )


def test_the_number_of_classes_is_said_and_raises_the_bar() -> None:
    # Seven against none: mid-p = 1/128, enough for one of three classes and not of forty.
    def cases(labels: Sequence[str]) -> list[Triple]:
        return [*((name, name, name, 50) for name in labels), (labels[0], labels[0], labels[1], 7)]

    forty = [f"c{code:02}" for code in range(40)]
    few, many = pair_of(cases(THREE), THREE), pair_of(cases(forty), forty)

    assert classes_that_change(few) == (("ant",), ())
    assert classes_that_change(many) == ((), ())
    assert (
        "No class changes in recall by more than chance explains (Holm over 40 classes)."
        in pair_verdict(many).details
    )


def test_names_with_commas_are_quoted_so_that_they_do_not_look_like_several() -> None:
    labels = ("a, b", "c")
    cases: list[Triple] = [
        ("a, b", "a, b", "a, b", 50),
        ("a, b", "a, b", "c", 50),
        ("c", "c", "c", 50),
    ]

    verdict = pair_verdict(pair_of(cases, labels))

    assert any("Recall falls on “a, b”" in detail for detail in verdict.details)


def test_matrices_are_compared_unpaired_and_that_is_said() -> None:
    first, second = matrix_of([[90, 10], [20, 80]]), matrix_of([[50, 50], [20, 80]])

    verdict = pair_verdict(compare_unpaired(first, second))

    assert verdict.headline == (
        "B is worse than A on every primary metric (five metrics tested together, 95 %)."
    )
    assert any(detail.startswith("The runs are not paired") for detail in verdict.details)
    assert "McNemar" not in verdict.text


def test_equal_matrices_of_other_examples_are_inseparable_and_not_the_same() -> None:
    matrix = matrix_of([[90, 10], [20, 80]])

    verdict = pair_verdict(compare_unpaired(matrix, matrix))

    assert verdict.headline == (
        "No significant difference between A and B on any primary metric (five metrics tested "
        "together, 95 %)."
    )


def test_an_exact_p_that_does_not_agree_is_said_not_to_decide() -> None:
    """The test of the interval calls four samples of four significant, the exact one does not."""
    cases: list[Triple] = [
        *(("yes", "yes", "yes", 46), ("no", "no", "no", 46)),
        *(("yes", "no", "yes", 2), ("no", "yes", "no", 2)),
    ]

    verdict = pair_verdict(pair_of(cases, ("yes", "no")))

    assert verdict.headline.startswith("B is better than A on")
    assert "McNemar's χ² decides, p = 0.046, not the exact p = 0.12)" in verdict.details[0]


def test_matrices_without_errors_are_compared_by_accuracy_and_classes_alone() -> None:
    perfect = matrix_of([[95, 0], [0, 25]])

    verdict = pair_verdict(compare_unpaired(perfect, perfect))

    assert verdict.headline == "No significant difference between A and B on accuracy."
    assert (
        "Accuracy, balanced accuracy, MCC, macro F1 and Cohen's kappa are left out of the joint "
        "test: both runs have one prediction for each class, which tells nothing of chance."
    ) in verdict.details


def test_a_metric_that_does_not_vary_but_for_rounding_is_not_tested() -> None:
    first = matrix_of([[0, 0, 0], [0, 0, 0], [1, 0, 19]])
    second = matrix_of([[0, 0, 0], [0, 0, 0], [4, 0, 16]])

    pair = compare_unpaired(first, second)

    assert np.isfinite(pair.together.critical)
    assert pair_verdict(pair).headline.startswith("No significant difference between A and B on")


def test_a_matrix_of_errors_alone_is_worse_than_one_without_any() -> None:
    wrong, right = matrix_of([[0, 10], [10, 0]]), matrix_of([[10, 0], [0, 10]])

    verdict = pair_verdict(compare_unpaired(wrong, right))

    assert verdict.headline == (
        "B is better than A on every primary metric (five metrics tested together, 95 %)."
    )


def test_no_sentence_holds_a_bare_nan_or_none() -> None:
    for triples in (
        [("yes", "yes", "yes", 3)],
        [("yes", "no", "yes", 3)],
        [("yes", "no", "no", 3), ("yes", "no", "yes", 1)],
    ):
        text = pair_verdict(pair_of(triples)).text.lower()

        assert "nan" not in text
        assert "none " not in text
