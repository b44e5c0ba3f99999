"""Laws of the score metrics on arbitrary scores with many ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from offdiag.domain.values import MetricValue
from offdiag.metrics.scores.calibration import (
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_error,
    maximum_calibration_error,
)
from offdiag.metrics.scores.curves import cost_curve, roc_curve, thin
from offdiag.metrics.scores.discrimination import average_precision, ks, roc_auc
from offdiag.metrics.scores.forecasts import Forecasts, rank_counts
from offdiag.metrics.scores.losses import brier_decomposition, loss_metrics
from offdiag.metrics.scores.suite import score_metrics
from support.forecasts import (
    exact_auc,
    exact_average_precision,
    of_classes,
    of_event,
    ranked,
    rates,
)

Cases = tuple[list[int], list[float]]


@st.composite
def scored(draw: st.DrawFn, both_classes: bool = True) -> Cases:
    """Outcomes and probabilities of up to 40 cases, eighths so that ties are common."""
    pairs = draw(
        st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8)), min_size=1, max_size=40)
    )
    actual = [outcome for outcome, _ in pairs]
    if both_classes:
        assume(0 < sum(actual) < len(actual))
    return actual, [eighths / 8 for _, eighths in pairs]


@st.composite
def forecast(draw: st.DrawFn) -> Forecasts:
    """Probabilities of up to 5 classes in sixteenths, exact in floating point."""
    n_classes = draw(st.integers(2, 5))
    n_samples = draw(st.integers(1, 20))
    rows = []
    for _ in range(n_samples):
        cuts = sorted(
            draw(st.lists(st.integers(0, 16), min_size=n_classes - 1, max_size=n_classes - 1))
        )
        rows.append([part / 16 for part in np.diff([0, *cuts, 16]).tolist()])
    actual = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_samples, max_size=n_samples))
    return of_classes(actual, rows)


def assert_same(value: MetricValue, expected: MetricValue) -> None:
    """Equal up to the order in which floats were added."""
    assert (value.reason, value.limit) == (expected.reason, expected.limit)
    if expected.value is not None:
        assert value.value == pytest.approx(expected.value, rel=1e-13, abs=1e-15)


@given(scored())
def test_the_area_is_the_share_of_pairs_in_order(cases: Cases) -> None:
    actual, scores = cases
    pairs = 2 * sum(actual) * (len(actual) - sum(actual))

    wins = ranked(actual, scores).sums.doubled_wins

    assert Fraction(wins, pairs) == exact_auc(actual, scores)
    assert roc_auc(ranked(actual, scores)).value == wins / pairs


@given(scored())
def test_average_precision_is_its_sum_of_steps(cases: Cases) -> None:
    value = average_precision(ranked(*cases)).value

    assert value == pytest.approx(float(exact_average_precision(*cases)), rel=1e-13)


@given(scored())
def test_swapping_the_classes_and_reversing_the_scores_keeps_the_area(cases: Cases) -> None:
    actual, scores = cases

    swapped = ranked([1 - outcome for outcome in actual], [-score for score in scores])

    assert roc_auc(swapped) == roc_auc(ranked(actual, scores))
    assert ks(swapped) == ks(ranked(actual, scores))


@given(scored())
def test_reversing_the_scores_alone_mirrors_the_area(cases: Cases) -> None:
    actual, scores = cases
    plain, mirrored = ranked(actual, scores), ranked(actual, [-score for score in scores])

    n_pairs = sum(actual) * (len(actual) - sum(actual))

    assert plain.sums.doubled_wins + mirrored.sums.doubled_wins == 2 * n_pairs


@given(scored())
def test_only_the_order_of_scores_counts(cases: Cases) -> None:
    actual, scores = cases

    stretched = ranked(actual, [np.exp(3 * score) - 7 for score in scores])

    for metric in (roc_auc, average_precision, ks):
        assert metric(stretched) == metric(ranked(actual, scores))


@given(scored(), st.data())
def test_the_order_of_cases_does_not_matter(cases: Cases, data: st.DataObject) -> None:
    actual, scores = cases
    order = data.draw(st.permutations(range(len(actual))))

    plain = score_metrics(of_event(actual, scores))
    shuffled = score_metrics(of_event([actual[i] for i in order], [scores[i] for i in order]))

    for key, value in plain.items():
        assert_same(shuffled[key], value)


@given(scored())
def test_the_roc_curve_has_the_rates_at_its_thresholds_and_ks_is_its_largest_gap(
    cases: Cases,
) -> None:
    actual, scores = cases
    curve = roc_curve(ranked(actual, scores)).columns

    points = zip(
        curve["threshold"].tolist(),
        curve["false_positive_rate"].tolist(),
        curve["true_positive_rate"].tolist(),
        strict=True,
    )

    gaps = []
    for threshold, alarms, hits in points:
        expected = rates(actual, scores, threshold)
        assert (alarms, hits) == (float(expected[0]), float(expected[1]))
        gaps.append(abs(expected[1] - expected[0]))
    assert ks(ranked(actual, scores)).value == float(max(gaps))


@given(scored(), st.fractions(0, 1))
def test_the_cost_curve_is_the_cheapest_threshold_everywhere(
    cases: Cases, position: Fraction
) -> None:
    actual, scores = cases
    thresholds = [2.0, *scores]
    pairs = [rates(actual, scores, threshold) for threshold in thresholds]

    best = min((1 - hit) * position + alarm * (1 - position) for alarm, hit in pairs)

    curve = cost_curve(ranked(actual, scores)).columns
    drawn = np.interp(
        float(position), curve["probability_cost"], curve["normalized_expected_cost"]
    )
    assert drawn == pytest.approx(float(best), abs=1e-14)


@given(scored())
def test_the_threshold_of_a_corner_has_the_cost_the_curve_says(cases: Cases) -> None:
    actual, scores = cases
    curve = cost_curve(ranked(actual, scores)).columns

    corners = zip(
        curve["probability_cost"].tolist(),
        curve["normalized_expected_cost"].tolist(),
        curve["threshold"].tolist(),
        strict=True,
    )

    for position, cost, threshold in corners:
        alarm, hit = rates(actual, scores, threshold)
        assert cost == pytest.approx(
            float(1 - hit) * position + float(alarm) * (1 - position), abs=1e-14
        )


@given(scored(both_classes=False), st.integers(1, 20))
def test_calibration_errors_are_bounded_and_ordered(cases: Cases, n_bins: int) -> None:
    scores = ranked(*cases)

    for bins in (equal_width_bins(scores, n_bins=n_bins), equal_mass_bins(scores, n_bins=n_bins)):
        expected = expected_calibration_error(bins)
        assert 0 <= expected <= maximum_calibration_error(bins) + 1e-15 <= 1 + 2e-15
        assert bins.count.sum() == scores.n_samples
        assert bins.happened.sum() == scores.n_positive
        assert (np.diff(bins.edges) >= 0).all()


@given(scored(both_classes=False), st.integers(1, 20))
def test_every_score_lies_in_the_bin_it_is_counted_in(cases: Cases, n_bins: int) -> None:
    actual, scores = cases
    bins = equal_width_bins(ranked(actual, scores), n_bins=n_bins)

    # Eighths and their products are exact, so floor says which bin is right.
    expected = np.bincount(
        [min(int(Fraction(score) * n_bins), n_bins - 1) for score in scores], minlength=n_bins
    )

    assert bins.count.tolist() == expected.tolist()


@given(forecast())
def test_the_parts_of_the_brier_score_close(scores: Forecasts) -> None:
    parts = {key: value.value or 0.0 for key, value in brier_decomposition(scores).items()}

    closed = parts["brier_reliability"] - parts["brier_resolution"] + parts["brier_uncertainty"]

    assert closed == pytest.approx(loss_metrics(scores)["brier_sum"].value, abs=1e-14)


@given(scored(both_classes=False))
def test_the_parts_close_for_one_column_too(cases: Cases) -> None:
    parts = {
        key: value.value or 0.0 for key, value in brier_decomposition(of_event(*cases)).items()
    }

    closed = parts["brier_reliability"] - parts["brier_resolution"] + parts["brier_uncertainty"]

    score = loss_metrics(of_event(*cases))["brier_sum"].value
    assert closed == pytest.approx(score, abs=1e-14)


@given(forecast(), st.data())
def test_listing_the_classes_in_another_order_changes_no_average(
    scores: Forecasts, data: st.DataObject
) -> None:
    order = np.array(data.draw(st.permutations(range(scores.n_classes))))
    position = np.argsort(order)

    moved = of_classes(position[scores.actual].tolist(), scores.scores[:, order].tolist())

    moved_values = score_metrics(moved)
    for key, value in score_metrics(scores).items():
        # Ties between classes go to the lowest index, so only these depend on the order.
        if not key.startswith(("top_", "ece_top_label")):
            assert_same(moved_values[key], value)


@given(forecast())
def test_places_of_the_actual_class_cover_all_cases(scores: Forecasts) -> None:
    counts = rank_counts(scores)

    assert counts.sum() == scores.n_samples
    assert counts[0] == np.count_nonzero(scores.table.argmax(axis=1) == scores.actual)


@given(scored(), st.integers(2, 12))
def test_thinning_picks_points_of_the_curve(cases: Cases, max_points: int) -> None:
    full = roc_curve(ranked(*cases))

    short = thin(full, max_points=max_points)

    assert short.n_points <= max(2, max_points)
    thresholds = full.columns["threshold"].tolist()
    kept = short.columns["threshold"].tolist()
    assert [kept[0], kept[-1]] == [thresholds[0], thresholds[-1]]
    assert [threshold for threshold in thresholds if threshold in set(kept)] == kept
