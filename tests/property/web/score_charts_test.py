"""Charts of scores: everything inside the picture, ticks that say what they are."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from offdiag.metrics.scores.operating_points import (
    OperatingPoints,
    of_other_class,
    operating_points,
)
from offdiag.metrics.scores.ranking import rank_scores
from offdiag.metrics.scores.score_curves import score_histogram
from offdiag_web.charts.curves import (
    LARGE,
    SMALL,
    Spread,
    precision_recall_drawing,
    roc_drawing,
    spread_drawing,
)
from offdiag_web.charts.plot import QUARTERS, Frame
from offdiag_web.charts.reliability import LOWER, ReliabilityBin, reliability_drawing
from offdiag_web.components.curves import spread_view
from support.drawings import Drawing, parsed, points_of

shares = st.floats(0, 1)


@st.composite
def both_kinds(draw: st.DrawFn) -> OperatingPoints:
    """Points of samples of both kinds, with few or many different scores, some of them huge."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_cases = draw(st.integers(2, 300))
    is_positive = generator.random(n_cases) < draw(st.sampled_from([0.02, 0.5, 0.98]))
    is_positive[:2] = [True, False]
    levels = draw(st.sampled_from([1, 7, 1_000]))
    scores = np.floor(generator.random(n_cases) * levels) * draw(st.sampled_from([1.0, 1e30]))
    points = operating_points(rank_scores(is_positive, scores.astype(np.float32)))
    return of_other_class(points) if draw(st.booleans()) else points


@given(
    points=both_kinds(),
    in_use=st.none() | st.tuples(shares, shares),
    is_small=st.booleans(),
    prevalence=st.none() | st.floats(1e-6, 1 - 1e-6),
)
def test_curves_lie_inside_their_frames(
    points: OperatingPoints,
    in_use: tuple[float, float] | None,
    is_small: bool,
    prevalence: float | None,
) -> None:
    frame = SMALL if is_small else LARGE

    for svg in (
        roc_drawing(points, name="roc", in_use=in_use, is_small=is_small),
        precision_recall_drawing(
            points, name="pr", prevalence=prevalence, in_use=in_use, is_small=is_small
        ),
    ):
        drawing = parsed(svg)
        _assert_inside(drawing)
        for kind in ("curve", "no-skill"):
            for x, y in points_of(drawing.one(kind)):
                assert frame.left <= x <= frame.right
                assert frame.top <= y <= frame.bottom


@given(both_kinds())
def test_a_roc_curve_goes_from_corner_to_corner_and_never_back(points: OperatingPoints) -> None:
    drawn = points_of(parsed(roc_drawing(points, name="roc")).one("curve"))

    corners = [(LARGE.left, LARGE.bottom), (LARGE.right, LARGE.top)]
    assert [drawn[0], drawn[-1]] == corners
    assert all(x <= next_x and y >= next_y for (x, y), (next_x, next_y) in pairwise(drawn))


@given(both_kinds())
def test_a_curve_is_drawn_with_a_bounded_number_of_commands(points: OperatingPoints) -> None:
    for svg in (roc_drawing(points, name="roc"), precision_recall_drawing(points, name="pr")):
        path = parsed(svg).one("curve").get("d", "")
        assert len(re.findall("[MLHV]", path)) <= 8 * LARGE.width


@given(st.lists(st.tuples(st.integers(0, 10**9), shares, shares, shares), min_size=1, max_size=30))
def test_a_reliability_diagram_lies_inside_its_frames(
    given_bins: list[tuple[int, float, float, float]],
) -> None:
    n_bins = len(given_bins)
    bins = [
        ReliabilityBin(place / n_bins, (place + 1) / n_bins, count)
        if count < 10
        else ReliabilityBin(
            place / n_bins, (place + 1) / n_bins, count, score, share, min(low, share), share
        )
        for place, (count, score, share, low) in enumerate(given_bins)
    ]

    drawing = parsed(
        reliability_drawing(bins, score_name="score", share_name="share", name="reliability")
    )

    _assert_inside(drawing)
    bars = [part for part in drawing.root if part.get("class") == "bar"]
    assert len(bars) == sum(each.count > 0 for each in bins)
    for bar in bars:
        for x, y in points_of(bar):
            assert LOWER.left <= x <= LOWER.right
            assert LOWER.top <= y <= LOWER.bottom
    n_drawn = sum(each.score is not None for each in bins)
    assert sum(part.get("class") == "dot" for part in drawing.root) == n_drawn


@given(
    upper=st.lists(st.integers(0, 10**6), min_size=20, max_size=20),
    lower=st.lists(st.integers(0, 10**6), min_size=20, max_size=20),
    threshold=st.none() | st.tuples(st.floats(-1, 2), st.just("in use")),
)
def test_a_spread_lies_inside_its_frames_and_shows_every_case(
    upper: list[int], lower: list[int], threshold: tuple[float, str] | None
) -> None:
    spreads = [
        Spread(
            "cases",
            tuple(count / max(sum(counts), 1) for count in counts),
            tuple(float(edge) for edge in range(len(counts) + 1)),
        )
        for counts in (upper, lower)
    ]

    drawing = parsed(
        spread_drawing(*spreads, ticks=(), score_name="s", name="spread", threshold=threshold)
    )

    _assert_inside(drawing)
    bars = [part for part in drawing.root if "bar" in part.get("class", "").split()]
    assert len(bars) == sum(count > 0 for count in (*upper, *lower))
    assert all(float(bar.get("height", "0")) >= 1 for bar in bars)


@given(both_kinds())
def test_the_text_of_every_tick_is_its_value(points: OperatingPoints) -> None:
    for frame, is_small in ((LARGE, False), (SMALL, True)):
        drawing = parsed(roc_drawing(points, name="roc", is_small=is_small))
        _assert_ticks_say_what_they_are(drawing, frame)


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=50))
def test_the_ends_of_a_spread_are_the_scores_they_stand_for(scores: list[float]) -> None:
    values = np.array(scores, dtype=np.float32)
    ranked = rank_scores(np.arange(len(values)) % 2 == 0, values)
    low, high = float(values.min()), float(values.max())
    if low == high:
        high = low + 1

    view = spread_view(
        score_histogram(ranked, low=low, high=high),
        names=("even", "odd"),
        score_name="score",
        name="spread",
    )

    drawing = parsed(view.drawing)
    ends = [part for part in drawing.root if part.get("class") == "tick"][-2:]
    if (low, high) != (0.0, 1.0):
        for end, value in zip(ends, (low, high), strict=True):
            shown = float((end.text or "").replace("−", "-"))
            assert math.isclose(shown, value, rel_tol=1e-5, abs_tol=1e-30)
    counted = sum(int(positive.replace(",", "")) for _, positive, _ in view.lines)
    assert counted == ranked.n_positive


def _assert_ticks_say_what_they_are(drawing: Drawing, frame: Frame) -> None:
    ticks = [part for part in drawing.root if part.get("class") == "tick"]
    known = dict(QUARTERS)
    assert len(ticks) in {4, 2 * len(QUARTERS)}
    for tick in ticks:
        text = tick.text or ""
        x, y = float(tick.get("x", "nan")), float(tick.get("y", "nan"))
        assert float(text) == known[text]
        across, up = (x - frame.left) / frame.width, (frame.bottom + 4 - y) / frame.height
        place = up if x < frame.left else across
        assert math.isclose(place, known[text], abs_tol=1e-3)


def _assert_inside(drawing: Drawing) -> None:
    left, top, width, height = drawing.view_box
    for x, y in drawing.points:
        assert math.isfinite(x)
        assert math.isfinite(y)
        assert left <= x <= left + width
        assert top <= y <= top + height
