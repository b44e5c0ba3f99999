"""What is said about a run to use instead follows from tests and intervals alone."""

from __future__ import annotations

import pytest

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import MetricValue
from offdiag.services.flags.alternatives import Alternative, AlternativeRuns, Gain
from offdiag.store.run_neighbours import AlternativeRun
from offdiag_web.pages.flags.flag_evidence import (
    AlternativesView,
    alternatives_view,
    pair_text,
)
from support.drawings import parsed


@pytest.mark.parametrize(
    ("measured", "threshold", "texts"),
    [
        (0.8742, 0.2, ("0.8742", "0.2")),
        (17.0, 0.0, ("17", "0")),
        (12345.0, 30.0, ("12,345", "30")),
        (7.629394e-06, 0.05 / 7, ("7.629e−06", "0.007143")),
        (None, 0.3, ("undefined", "0.3")),
        (-0.25, 0.3, ("−0.25", "0.3")),
        (0.3, 0.3, ("0.3", "0.3")),
    ],
)
def test_numbers_keep_the_digits_that_matter(
    measured: float | None, threshold: float, texts: tuple[str, str]
) -> None:
    assert pair_text(measured, threshold) == texts


@pytest.mark.parametrize("measured", [0.19999, 0.1999999, 0.19999999999])
def test_a_value_just_off_its_threshold_does_not_look_like_it(measured: float) -> None:
    value, threshold = pair_text(measured, 0.2)

    assert value != threshold
    assert float(value) < 0.2


RUN = AlternativeRun(
    run_id="r_1",
    name="focal",
    model=None,
    source=SourceOrientation.PREDICTIONS,
    recall=MetricValue(0.7059),
    accuracy=0.861,
)
MORE = Gain(0.706, 0.391, 0.867, won=12, lost=0)


def _view(*runs: Alternative, n_compared: int = 7) -> AlternativesView:
    return alternatives_view(AlternativeRuns(runs, n_compared), "df")


def _only(run: Alternative) -> tuple[str, bool, str]:
    (line,) = _view(run).lines
    return line.verdict, line.is_certain, line.cost


@pytest.mark.parametrize(
    ("p", "verdict", "is_certain"),
    [
        (0.00001, "detects more, p < 0.001", True),
        (0.0034, "detects more, p = 0.0034", True),
        (0.05, "detects more, p = 0.050", True),
        (0.051, "could be chance, p = 0.051", False),
        (1.0, "could be chance, p = 1.00", False),
    ],
)
def test_a_run_is_said_to_find_more_only_where_the_test_says_so(
    p: float, verdict: str, is_certain: bool
) -> None:
    assert _only(Alternative(RUN, MORE, MORE, p))[:2] == (verdict, is_certain)


@pytest.mark.parametrize(
    ("low", "high", "price"),
    [
        (-0.019, -0.002, "costs accuracy"),
        (0.009, 0.02, "gains accuracy"),
        (-0.017, 0.027, "no clear difference"),
        (0.0, 0.027, "no clear difference"),
        (-0.027, 0.0, "no clear difference"),
    ],
)
def test_the_price_follows_from_the_interval(low: float, high: float, price: str) -> None:
    accuracy = Gain((low + high) / 2, low, high, won=1, lost=1)

    assert _only(Alternative(RUN, MORE, accuracy, 0.001))[2] == price


def test_a_run_that_was_not_compared_is_said_not_to_be() -> None:
    verdict, is_certain, price = _only(Alternative(RUN))

    assert verdict == "not compared example by example: a matrix has no examples"
    assert (is_certain, price) == (False, "not known")


def test_the_difference_is_drawn_as_it_is_written() -> None:
    (line,) = _view(Alternative(RUN, MORE, MORE, 0.001)).lines

    assert line.gain is not None
    assert (line.gain.difference, line.gain.interval) == ("+70.6 pp", "+39.1 to +86.7")
    assert line.gain.interval in (parsed(line.gain.mark).name or "")


def test_it_is_told_out_of_how_many_the_best_were_picked() -> None:
    view = _view(Alternative(RUN, MORE, MORE, 0.001))

    assert view.note == (
        "The best of 7 other runs on these labels, compared example by example; each p "
        "is adjusted for all 7."
    )
    assert _view(n_compared=0).none == "No other run on these labels detects more of “df”."
