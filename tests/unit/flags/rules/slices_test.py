from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.flags.assessment import assess
from offdiag.flags.rules.slices import MOST_RAISED, slice_verdicts
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Severity, Verdict
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.slices.counts import CodedColumn, count_slices, outcomes_of_classes
from offdiag.metrics.slices.finder import SliceFindings, find_slices

Codes = NDArray[np.int64]
LABELS = ("ill", "well", "unsure")


def column(name: str, values: Sequence[str]) -> CodedColumn:
    choices = tuple(dict.fromkeys(values))
    codes = np.array([choices.index(each) for each in values], dtype=np.uint8)
    return CodedColumn(name, choices, codes, np.eye(len(choices), dtype=bool))


def findings(
    actual: Codes, predicted: Codes, columns: Mapping[str, Sequence[str]]
) -> tuple[SliceFindings, ConfusionMatrix]:
    k = int(max(actual.max(), predicted.max())) + 1
    counts = count_slices(
        [column(name, values) for name, values in columns.items()],
        outcomes_of_classes(
            actual, predicted, n_classes=k, part=np.zeros(len(actual), dtype=np.uint8), n_parts=1
        ),
        n_samples=len(actual),
    )
    matrix = np.zeros((k, k), dtype=np.int64)
    np.add.at(matrix, (actual, predicted), 1)
    return find_slices(counts, matrix), ConfusionMatrix(matrix, LabelSet(LABELS[:k]))


def found_by(
    *groups: tuple[Mapping[str, str], Sequence[tuple[int, int, int]]],
    thresholds: Thresholds | None = None,
) -> list[Verdict]:
    """Groups of samples with their slices, and (class, samples, of them found) in each."""
    actual: list[int] = []
    predicted: list[int] = []
    values: dict[str, list[str]] = {}
    k = 1 + max(code for _, cells in groups for code, _, _ in cells)
    for slices, cells in groups:
        for code, n, hits in cells:
            actual += [code] * n
            predicted += [code] * hits + [(code + 1) % k] * (n - hits)
            for name, value in slices.items():
                values.setdefault(name, []).extend([value] * n)
    found, matrix = findings(np.array(actual), np.array(predicted), values)
    return list(
        slice_verdicts(found, LABELS, assess(matrix, thresholds).verdicts, thresholds=thresholds)
    )


def subjects(verdicts: Sequence[Verdict]) -> list[tuple[str | None, str | None, str]]:
    return [(each.class_label, each.slice, each.severity.value) for each in verdicts]


WELL = (1, 200, 190)


def test_a_class_that_is_missed_in_one_slice_is_flagged_there_with_its_numbers() -> None:
    found = found_by(
        ({"site": "w"}, [(0, 200, 180), WELL]),
        ({"site": "x"}, [(0, 200, 180), WELL]),
        ({"site": "z"}, [(0, 40, 8), (1, 40, 38)]),
    )

    assert subjects(found) == [("ill", "site=z", "critical")]
    (verdict,) = found
    assert (verdict.evidence["correct"], verdict.evidence["cases"]) == (8, 40)
    assert (verdict.evidence["rest_correct"], verdict.evidence["rest_cases"]) == (360, 400)
    assert verdict.message.startswith(
        "Recall of 'ill' is 20 % on site=z (8 of 40), against 90 % on all other examples "
        "(360 of 400; CI -"
    )


def test_the_interval_of_the_gap_decides_how_severe_it_is() -> None:
    def severities(hits: int, n: int) -> list[str]:
        found = found_by(
            ({"site": "w"}, [(0, 2000, 1800), (1, 2000, 1800)]),
            ({"site": "z"}, [(0, n, hits), (1, n, round(0.9 * n))]),
        )
        return [each.severity.value for each in found if each.class_label == "ill"]

    assert severities(160, 400) == ["critical"]  # 50 points, at least 40.
    assert severities(220, 400) == ["high"]  # 35 points, at least 20.
    assert severities(28, 40) == ["medium"]  # 20 points, perhaps more.
    assert severities(320, 400) == []  # 10 points for sure, not 20.


def test_other_thresholds_move_the_severity() -> None:
    groups = (
        ({"site": "w"}, [(0, 2000, 1800), (1, 2000, 1800)]),
        ({"site": "z"}, [(0, 400, 320), (1, 400, 360)]),
    )

    assert found_by(*groups) == []
    (verdict,) = found_by(*groups, thresholds=Thresholds(recall_gap=0.02))
    assert verdict.severity is Severity.HIGH
    assert verdict.thresholds["recall_gap"] == 0.02


def test_a_slice_that_holds_most_misses_of_a_flagged_class_is_merged_with_it() -> None:
    found = found_by(
        ({"site": "w"}, [(0, 30, 24), (1, 2000, 1990)]),
        ({"site": "z"}, [(0, 60, 0), (1, 2000, 1990)]),
    )

    assert [each.slice for each in found if each.class_label == "ill"] == []


def test_a_slice_more_severe_than_the_flag_of_its_class_is_not_merged() -> None:
    groups = (
        ({"site": "w"}, [(0, 200, 194), (1, 2000, 1990)]),
        ({"site": "z"}, [(0, 50, 0), (1, 200, 199)]),
    )

    assert ("ill", "site=z", "critical") in subjects(found_by(*groups))


def test_a_slice_that_fails_on_all_classes_is_flagged_once() -> None:
    found = found_by(
        ({"site": "w"}, [(code, 400, 380) for code in range(3)]),
        ({"site": "z"}, [(code, 100, 20) for code in range(3)]),
    )

    assert subjects(found) == [(None, "site=z", "critical")]


def test_a_cross_whose_errors_are_those_of_its_column_is_not_flagged_again() -> None:
    groups = [
        ({"site": site, "device": device}, [(0, 300, 60 if site == "z" else 280), (1, 300, 285)])
        for site in ("w", "x", "z")
        for device in ("phone", "camera")
    ]

    assert subjects(found_by(*groups)) == [("ill", "site=z", "critical")]


def test_a_cross_that_fails_alone_is_flagged_rather_than_its_columns() -> None:
    groups = [
        (
            {"site": site, "device": device},
            [(0, 300, 30 if (site, device) == ("z", "phone") else 285), (1, 300, 285)],
        )
        for site in ("w", "x", "y", "z")
        for device in ("phone", "camera", "scan", "film")
    ]

    assert subjects(found_by(*groups)) == [("ill", "device=phone & site=z", "critical")]


def test_a_level_within_a_slice_that_fails_as_a_whole_is_not_flagged_again() -> None:
    places = ("DE/Ulm", "DE/Kiel", "JP/Nara", "JP/Kyoto")
    groups = [
        (
            {"country": place.split("/")[0], "country/site": place},
            [(0, 300, 90 if place.startswith("JP") else 280), (1, 300, 285)],
        )
        for place in places
    ]

    assert subjects(found_by(*groups)) == [("ill", "country=JP", "critical")]


def test_no_run_is_flooded() -> None:
    groups = [
        ({"site": f"s{n:02}"}, [(0, 100, 10 if n < 30 else 95), (1, 100, 10 if n < 30 else 95)])
        for n in range(200)
    ]

    found = found_by(*groups)

    assert len(found) == MOST_RAISED
    assert {each.class_label for each in found} == {None}


def test_a_large_gap_that_is_not_significant_is_not_flagged() -> None:
    groups = (({"site": "w"}, [(0, 200, 180), WELL]), ({"site": "z"}, [(0, 14, 10), WELL]))

    assert found_by(*groups) == []


def test_a_slice_that_fails_on_two_flagged_classes_is_not_flagged_for_accuracy_too() -> None:
    found = found_by(
        ({"site": "w"}, [(0, 400, 380), (1, 400, 380), (2, 400, 380)]),
        ({"site": "z"}, [(0, 60, 3), (1, 60, 3), (2, 300, 290)]),
    )

    assert subjects(found) == [("ill", "site=z", "critical"), ("well", "site=z", "critical")]
