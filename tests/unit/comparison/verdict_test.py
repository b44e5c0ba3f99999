"""Verdicts on constructed tables: nothing is said that no interval or test bears out."""

from __future__ import annotations

import pytest

from offdiag.comparison.pair import compare_unpaired
from offdiag.comparison.verdict import classes_that_change, pair_verdict
from support.comparisons import BOTH_RIGHT, Triple, joint_of, pair_of
from support.matrices import matrix_of

THREE = ("ant", "bee", "cat")


def test_runs_that_agree_everywhere_are_the_same_and_not_merely_inseparable() -> None:
    verdict = pair_verdict(pair_of([*BOTH_RIGHT, ("yes", "no", "no", 20)]))

    assert verdict.headline == "A and B give the same answer to all 140 examples."
    assert verdict.tone == "open"
    assert verdict.details == (
        "B − A: accuracy 0 pp (95 % CI −2.7 to +2.7; exact McNemar p = 1.00).",
    )


def test_one_example_is_spoken_of_in_the_singular() -> None:
    verdict = pair_verdict(pair_of([("yes", "yes", "yes", 1)]))

    assert verdict.headline == "A and B give the same answer to the only example."


def test_one_discordant_case_separates_nothing() -> None:
    verdict = pair_verdict(pair_of([*BOTH_RIGHT, ("yes", "yes", "no", 1)]))

    assert verdict.headline.startswith("A and B are not separable on")
    assert "Recall of no class changes beyond its interval." in verdict.details
    assert verdict.tone == "open"


def test_all_discordant_cases_in_favour_of_one_run_separate_everything() -> None:
    verdict = pair_verdict(
        pair_of([*BOTH_RIGHT, ("yes", "no", "yes", 40), ("no", "yes", "no", 40)])
    )

    assert verdict.headline == "B is better than A on every headline metric."
    assert verdict.tone == "better"
    assert "Recall rises on yes and no." in verdict.details


def test_the_other_way_round_the_verdict_is_the_opposite() -> None:
    joint = [*BOTH_RIGHT, ("yes", "yes", "no", 40), ("no", "no", "yes", 40)]

    verdict = pair_verdict(pair_of(joint))

    assert verdict.headline == "B is worse than A on every headline metric."
    assert verdict.tone == "worse"


def test_an_undefined_metric_is_said_to_be_and_neither_better_nor_worse() -> None:
    always_yes: list[Triple] = [("yes", "yes", "yes", 60), ("no", "no", "yes", 60)]

    verdict = pair_verdict(pair_of(always_yes))

    assert "MCC is undefined for B (constant predicted)." in verdict.details
    assert "MCC" not in verdict.headline
    assert verdict.tone == "worse"


def test_what_is_undefined_for_both_is_said_once() -> None:
    always: list[Triple] = [("yes", "yes", "no", 60), ("no", "yes", "no", 30)]

    verdict = pair_verdict(pair_of(always))

    assert "MCC is undefined for both (constant predicted)." in verdict.details


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
    assert any("Recall falls on cat and rises on ant;" in detail for detail in verdict.details)


def test_a_class_within_its_interval_is_not_named() -> None:
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
    assert any(
        detail == "Recall rises on ant; the other 2 classes stay within theirs."
        for detail in pair_verdict(pair).details
    )


def test_an_interval_that_excludes_zero_without_the_exact_test_is_borderline() -> None:
    # 5 against 0: the score interval excludes 0, the exact test gives 2/32.
    pair = pair_of([*BOTH_RIGHT, ("yes", "no", "yes", 5)])

    verdict = pair_verdict(pair)

    accuracy = pair.metric("overall_accuracy")
    assert accuracy.difference.ci_low is not None
    assert accuracy.difference.ci_low > 0
    assert accuracy.outcome.value == "borderline"
    assert "accuracy" not in verdict.headline.replace("balanced accuracy", "")
    assert (
        "Accuracy is borderline: its interval excludes 0, the exact test finds none (p = 0.062)."
        in verdict.details
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


def test_chance_is_brought_up_where_there_are_many_classes() -> None:
    labels = [f"c{code:02}" for code in range(40)]
    cases: list[Triple] = [(name, name, name, 50) for name in labels]
    cases.append(("c00", "c00", "c01", 30))

    verdict = pair_verdict(pair_of(cases, labels))

    assert "Of 40 classes about 2 would change that far by chance alone." in verdict.details


def test_names_with_commas_are_quoted_so_that_they_do_not_look_like_several() -> None:
    labels = ("a, b", "c")
    cases: list[Triple] = [
        ("a, b", "a, b", "a, b", 50),
        ("a, b", "a, b", "c", 50),
        ("c", "c", "c", 50),
    ]

    verdict = pair_verdict(pair_of(cases, labels))

    assert any("Recall falls on “a, b”" in detail for detail in verdict.details)


@pytest.mark.parametrize("sides", [(0, 1), (1, 0)])
def test_matrices_are_compared_unpaired_and_that_is_said(sides: tuple[int, int]) -> None:
    matrices = [matrix_of([[90, 10], [20, 80]]), matrix_of([[50, 50], [20, 80]])]

    verdict = pair_verdict(
        compare_unpaired(matrices[sides[0]], matrices[sides[1]], seed=1, replicates=200)
    )

    side = "worse" if sides == (0, 1) else "better"
    assert verdict.headline == f"B is {side} than A on every headline metric."
    assert any(detail.startswith("The runs are not paired") for detail in verdict.details)
    assert "McNemar" not in verdict.text


def test_equal_matrices_of_other_examples_are_inseparable_and_not_the_same() -> None:
    matrix = matrix_of([[90, 10], [20, 80]])

    verdict = pair_verdict(compare_unpaired(matrix, matrix, seed=1, replicates=200))

    assert verdict.headline == "A and B are not separable on any headline metric."


def test_no_sentence_holds_a_bare_nan_or_none() -> None:
    for triples in (
        [("yes", "yes", "yes", 3)],
        [("yes", "no", "yes", 3)],
        [("yes", "no", "no", 3), ("yes", "no", "yes", 1)],
    ):
        text = pair_verdict(pair_of(triples)).text.lower()

        assert "nan" not in text
        assert "none " not in text


def test_joint_counts_may_come_from_anywhere() -> None:
    joint = joint_of(BOTH_RIGHT, ("yes", "no"))

    assert joint.total == 120
