"""Whether the cheapest run is significantly so, held against a calculation of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.break_even import choices, lever_on_cell, rays_of
from offdiag.metrics.costs.matrix import zero_one_costs
from offdiag.metrics.pair_counts import count_pairs
from offdiag.services.what_if.leads import Lead, Leads, leads
from offdiag_web.pages.what_if.choice import lead_sentence

LABELS = LabelSet.declared(["ill", "well"])
COSTS = zero_one_costs(LABELS)


def judged(actual: np.ndarray, *predicted: np.ndarray) -> Leads:
    lever = lever_on_cell(COSTS, 0, 1)
    assert lever is not None
    matrices = [
        ConfusionMatrix(count_pairs(actual, each, n_classes=2), LABELS) for each in predicted
    ]
    stretches = choices(rays_of(matrices, COSTS, lever))
    return leads(actual, predicted, COSTS, lever, stretches, prevalence=None)


def patients(n_ill: int, n_well: int, *, missed: int, alarms: int) -> np.ndarray:
    found = np.repeat(np.array([0, 1], np.uint8), [n_ill, n_well])
    found[:missed] = 1
    found[n_ill : n_ill + alarms] = 0
    return found


def test_a_lead_is_certain_where_its_paired_interval_excludes_no_difference() -> None:
    actual = patients(200, 800, missed=0, alarms=0)
    careful = patients(200, 800, missed=5, alarms=60)
    sloppy = patients(200, 800, missed=60, alarms=5)

    found = judged(actual, careful, sloppy)

    assert [(lead.run, lead.is_certain) for lead in found.stretches] == [(0, True)]
    for x in (1.0, 1.2, 3.0):
        prices = np.where(actual == 0, x, 1.0)
        gaps = prices * (careful != actual) - prices * (sloppy != actual)
        reach = math.sqrt(-2 * math.log(0.05)) * math.sqrt((gaps**2).sum()) / len(gaps)
        certain = gaps.mean() + reach < 0
        assert certain == (x > 2)
    assert not found.stretches[0].is_certain_throughout


def test_runs_that_hardly_differ_cannot_be_told_apart() -> None:
    actual = patients(50, 200, missed=0, alarms=0)

    found = judged(
        actual,
        patients(50, 200, missed=4, alarms=30),
        patients(50, 200, missed=6, alarms=12),
    )

    assert [lead.run for lead in found.stretches] == [1, 0]
    assert found.stretches[0].high == pytest.approx(9.0)
    assert found.is_open or not all(lead.is_certain for lead in found.stretches)


def test_three_examples_that_all_favour_one_run_prove_nothing() -> None:
    actual = patients(3, 0, missed=0, alarms=0)

    found = judged(actual, patients(3, 0, missed=0, alarms=0), patients(3, 0, missed=3, alarms=0))

    assert found == Leads((Lead(1.0, 100.0, 0, False, False),), is_open=True)


def lead(run: int, high: float, *, is_certain: bool) -> Lead:
    return Lead(1.0, high, run, is_certain, is_certain)


NO_DIFFERENCE = "tested at all ratios together, the two do not differ significantly."


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            Leads((lead(0, 10, is_certain=True), lead(1, 100, is_certain=True)), is_open=False),
            "A is cheapest up to 10×, B above.",
        ),
        (
            Leads((lead(0, 10, is_certain=False), lead(1, 100, is_certain=False)), is_open=True),
            f"A is lowest up to 10×, B above; {NO_DIFFERENCE}",
        ),
        (
            Leads((lead(0, 10, is_certain=True), lead(1, 100, is_certain=False)), is_open=False),
            "A is lowest up to 10×, B above; only A significantly.",
        ),
        (Leads((lead(1, 100, is_certain=True),), is_open=False), "B is cheapest at every ratio."),
        (
            Leads((lead(1, 100, is_certain=False),), is_open=True),
            f"B is lowest at every ratio; {NO_DIFFERENCE}",
        ),
    ],
)
def test_the_sentence_says_cheapest_only_where_that_is_significant(
    found: Leads, said: str
) -> None:
    assert lead_sentence(found, "AB") == said
