"""All metrics of scores at once, each undefined for its own reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.custom import score_specs
from offdiag.metrics.scores import calibration, discrimination, forecasts, isotonic, losses
from offdiag.metrics.scores.calibration import (
    DEFAULT_BINS,
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_error,
    maximum_calibration_error,
)
from offdiag.metrics.scores.discrimination import (
    auc_averages,
    average_precision,
    ks,
    pairwise_wins,
    roc_auc,
)
from offdiag.metrics.scores.forecasts import LARGEST_K, Forecasts, rank_counts, top_k_accuracy
from offdiag.metrics.scores.isotonic import isotonic_parts
from offdiag.metrics.scores.losses import brier_decomposition, loss_metrics
from offdiag.metrics.scores.ranking import RankedScores
from offdiag.metrics.spec import MetricSpec

_FORECAST_KEYS = (
    "log_loss",
    "log_loss_clipped",
    "brier_sum",
    "brier_half",
    "brier_reliability",
    "brier_resolution",
    "brier_uncertainty",
    "brier_miscalibration",
    "brier_discrimination",
    f"ece_top_label_{DEFAULT_BINS}",
    f"ece_top_label_equal_mass_{DEFAULT_BINS}",
)
_POSITIVE_KEYS = (
    f"ece_positive_{DEFAULT_BINS}",
    f"mce_positive_{DEFAULT_BINS}",
    f"ece_positive_equal_mass_{DEFAULT_BINS}",
)


def score_metrics(forecasts: Forecasts) -> Mapping[str, MetricValue]:
    """Every metric of at least one sample by key.

    With a positive class: its ranking and calibration. With a column for each class: the
    averaged areas. Metrics of probabilities are undefined for scores that are not probabilities.
    """
    metrics: dict[str, MetricValue] = {}
    if forecasts.positive is not None:
        metrics |= _positive_class(forecasts, forecasts.ranked(forecasts.positive))
    if forecasts.has_all_columns:
        metrics |= auc_averages(pairwise_wins(forecasts))
    return metrics | _whole_forecast(forecasts) | _top_k(forecasts)


def class_metrics(forecasts: Forecasts) -> Mapping[str, list[MetricValue]]:
    """`roc_auc` and `average_precision` of each class against the rest, in label order."""
    metrics: dict[str, list[MetricValue]] = {"roc_auc": [], "average_precision": []}
    for code in range(forecasts.n_classes):
        ranked = forecasts.ranked(code)
        metrics["roc_auc"].append(roc_auc(ranked))
        metrics["average_precision"].append(average_precision(ranked))
    return metrics


def _positive_class(forecasts: Forecasts, ranked: RankedScores) -> dict[str, MetricValue]:
    ranking = {
        "roc_auc": roc_auc(ranked),
        "average_precision": average_precision(ranked),
        "ks": ks(ranked),
    }
    if not forecasts.are_probabilities:
        return ranking | _no_probabilities(_POSITIVE_KEYS)
    bins = equal_width_bins(ranked)
    errors = (
        expected_calibration_error(bins),
        maximum_calibration_error(bins),
        expected_calibration_error(equal_mass_bins(ranked)),
    )
    return ranking | dict(zip(_POSITIVE_KEYS, map(MetricValue, errors), strict=True))


def _whole_forecast(forecasts: Forecasts) -> dict[str, MetricValue]:
    if not forecasts.are_probabilities:
        return _no_probabilities(_FORECAST_KEYS)
    ranked = forecasts.ranked_top_label()
    by_width = expected_calibration_error(equal_width_bins(ranked))
    by_mass = expected_calibration_error(equal_mass_bins(ranked))
    return {
        **loss_metrics(forecasts),
        **brier_decomposition(forecasts),
        **isotonic_parts(forecasts),
        f"ece_top_label_{DEFAULT_BINS}": MetricValue(by_width),
        f"ece_top_label_equal_mass_{DEFAULT_BINS}": MetricValue(by_mass),
    }


def top_k_keys(n_classes: int) -> dict[str, int]:
    """The k of each top-k accuracy that is reported for this number of classes, by key."""
    largest = max(1, min(LARGEST_K, n_classes - 1))
    return {f"top_{k}_accuracy": k for k in range(1, largest + 1)}


def _top_k(forecasts: Forecasts) -> dict[str, MetricValue]:
    keys = top_k_keys(forecasts.n_classes)
    if not (forecasts.has_all_columns or forecasts.are_probabilities):
        return _no_probabilities(keys)
    counts = rank_counts(forecasts)
    return {key: top_k_accuracy(counts, k=k) for key, k in keys.items()}


def _no_probabilities(keys: Iterable[str]) -> dict[str, MetricValue]:
    return {key: MetricValue(None, Reason.SCORES_NOT_PROBABILITIES.value) for key in keys}


SPECS: tuple[MetricSpec, ...] = (
    *discrimination.SPECS,
    *losses.SPECS,
    *isotonic.SPECS,
    *calibration.SPECS,
    *forecasts.SPECS,
    *score_specs(),
)
