"""Cost against threshold as a drawing."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag_web.charts.threshold_costs import FRAME, CostLine, Mark, threshold_cost_chart
from support.drawings import Drawing, parsed, points_of


def drawn(
    thresholds: list[float],
    costs: list[float],
    *,
    others: tuple[Mark, ...] = (),
    reach: float = 0.1,
) -> Drawing:
    best = int(np.argmin(costs))
    low, high = costs[best] * (1 - reach), costs[best] * (1 + reach)
    line = CostLine(
        np.array(thresholds),
        np.array(costs),
        Mark("cheapest", thresholds[best], costs[best], low, high),
        others,
        "{:.6g}".format,
        are_probabilities=True,
    )
    return parsed(
        threshold_cost_chart(
            line,
            x_title="threshold",
            y_title="cost",
            nothing="flag nothing",
            everything="flag everything",
            name="costs",
        )
    )


def test_the_cheapest_threshold_is_ringed_with_its_interval() -> None:
    found = drawn([0.9, 0.5, 0.1], [100, 40, 80])

    ring = found.one("ring")
    assert float(ring.get("cx", "nan")) == pytest.approx(FRAME.x(0.5))
    x, low = points_of(found.one("whisker"))[0]
    assert x == pytest.approx(FRAME.x(0.5))
    assert low > float(ring.get("cy", "nan"))


def test_a_cost_holds_down_to_the_next_score() -> None:
    found = drawn([0.9, 0.5, 0.1], [100, 40, 80])

    levels = points_of(found.one("curve"))
    costs = [100 * (FRAME.bottom - y) / FRAME.height for _, y in levels]
    places = [(x - FRAME.left) / FRAME.width for x, _ in levels]
    at = dict(zip(np.round(places, 2).tolist(), np.round(costs).tolist(), strict=False))
    assert at == {0.0: 80.0, 0.1: 40.0, 0.5: 100.0, 1.0: 100.0}


def test_both_constant_answers_are_named_without_overlap() -> None:
    found = drawn([0.9, 0.5, 0.1], [100, 40, 99])

    names = [part for part in found.root if part.get("class") == "direct quiet"]
    assert sorted(part.text or "" for part in names) == ["flag everything", "flag nothing"]
    ys = sorted(float(part.get("y", "nan")) for part in names)
    assert ys[1] - ys[0] >= 14
    assert found.count("no-skill") == 2


def test_what_is_far_dearer_leaves_the_frame_and_says_so() -> None:
    found = drawn([0.9, 0.5, 0.1], [100, 40, 90_000])

    assert "flag everything ↑" in found.texts("direct quiet")
    assert found.count("no-skill") == 1
    assert min(y for _, y in points_of(found.one("curve"))) >= FRAME.top


def test_rare_classes_are_drawn_near_zero() -> None:
    found = drawn([0.5, 0.02, 0.001], [100, 40, 300], others=(Mark("in use", 0.03, 60),))

    assert found.texts("tick")[:3] == ["0", "0.02", "0.04"]
    assert float(found.one("ring").get("cx", "nan")) == pytest.approx(FRAME.x(0.2))


def test_thresholds_with_names_stand_upright() -> None:
    found = drawn(
        [0.9, 0.5, 0.1],
        [100, 40, 80],
        others=(Mark("in use", 0.9, 100), Mark("implied", 0.3, 40), Mark("beyond", 1.4, 40)),
    )

    assert found.count("threshold") == 2
    assert {"in use", "implied", "cheapest"} <= set(found.texts("direct"))


def test_readings_name_thresholds_as_the_page_does() -> None:
    found = drawn([0.99997, 0.99993, 0.1], [100, 40, 80])

    said = [part.get("data-read", "") for part in found.root if part.get("class") == "spot"]
    assert said == ["from 0.99997: 100", "from 0.99993: 40", "from 0.1: 80"]


def test_costs_that_only_rounding_tells_apart_have_an_axis_of_round_numbers() -> None:
    costs = [100.0, 100.00000000000001, 99.99999999999999]

    found = drawn([0.9, 0.5, 0.1], costs, reach=0.0)

    texts = [part.text or "" for part in found.root if part.get("class") == "tick"]
    assert {"50", "100", "150"} <= set(texts)
