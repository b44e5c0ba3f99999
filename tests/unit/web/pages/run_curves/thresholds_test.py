import numpy as np
import pytest

from offdiag.metrics.scores.operating_points import (
    OperatingPoints,
    of_other_class,
    operating_points,
)
from offdiag_web.pages.run_curves.class_curves import ThresholdTable, threshold_table
from support.forecasts import ranked

SCORES = [0.05, 0.15, 0.35, 0.45, 0.55, 0.75, 0.85, 0.95]
POINTS = operating_points(ranked([0, 0, 0, 1, 0, 1, 1, 1], SCORES))


def _table(
    points: OperatingPoints = POINTS,
    *,
    in_use: int | None = None,
    are_probabilities: bool = True,
    prevalence: float | None = None,
) -> ThresholdTable:
    return threshold_table(
        points,
        score_of="“y”",
        in_use=in_use,
        are_probabilities=are_probabilities,
        prevalence=prevalence,
    )


def test_every_line_counts_what_its_threshold_reports() -> None:
    for line in _table().lines:
        reported = [score for score in SCORES if score >= float(line.threshold)]
        assert line.reported == str(len(reported))


def test_the_threshold_in_use_and_the_best_ones_are_marked() -> None:
    lines = {line.threshold: line for line in _table(in_use=POINTS.at(0.45)).lines}

    in_use = [line for line in lines.values() if line.is_in_use]
    assert len(in_use) == 1
    assert in_use[0].marks.startswith("in use")
    assert any("largest F1" in line.marks for line in lines.values())
    assert any("largest Youden's J" in line.marks for line in lines.values())


def test_thresholds_near_1_are_written_so_that_they_report_what_they_count() -> None:
    scores = [0.5, 0.9, 0.99993, 0.99997]
    points = operating_points(ranked([0, 0, 1, 1], scores))

    reported = {line.threshold: line.reported for line in _table(points, in_use=1).lines}

    # Three decimals would be 1.000 for both, which reports nothing.
    assert (reported["0.99997"], reported["0.9999"]) == ("1", "2")


def test_without_reported_cases_precision_is_undefined_and_f1_is_0() -> None:
    none_reported = _table(operating_points(ranked([0, 1], [0.2, 0.3])))

    assert none_reported.lines[0].reported == "0"
    assert none_reported.lines[0].precision == "undefined"
    assert none_reported.lines[0].f1 == "0.000"


@pytest.mark.parametrize("prevalence", [None, 0.01])
def test_where_only_false_alarms_are_reported_f1_is_0(prevalence: float | None) -> None:
    points = operating_points(ranked([1, 0, 1, 0], [0.05, 0.15, 0.25, 0.95]))
    lines = {line.threshold: line for line in _table(points, prevalence=prevalence).lines}

    assert (lines["0.9"].reported, lines["0.9"].precision) == ("1", "0.000")
    assert lines["0.9"].f1 == "0.000"


def test_other_scores_have_thresholds_by_how_many_cases_they_report() -> None:
    scores = np.arange(-500, 500)
    points = operating_points(ranked((scores > 100).astype(int).tolist(), scores.tolist()))

    reported = [
        int(line.reported.replace(",", ""))
        for line in _table(points, are_probabilities=False).lines
    ]

    assert {10, 20, 50, 100, 200, 500, 900} <= set(reported)


def test_precision_is_that_of_the_prevalence() -> None:
    measured, rare = _table(), _table(prevalence=0.01)

    for before, after in zip(measured.lines, rare.lines, strict=False):
        if before.threshold == after.threshold == "0.4":
            assert before.precision == "0.800"
            assert after.precision == "0.039"
            assert (before.f1, after.f1) == ("0.889", "0.075")
            assert before.recall == after.recall


def test_the_rule_says_on_which_side_cases_are_reported() -> None:
    other = _table(of_other_class(POINTS))

    assert _table().rule.endswith("its score of “y” is at least the threshold.")
    assert other.rule.endswith("its score of “y” is below the threshold.")
    for line in other.lines:
        assert line.reported == str(sum(score < float(line.threshold) for score in SCORES))
