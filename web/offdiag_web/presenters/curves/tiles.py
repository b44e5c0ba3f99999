"""The numbers above the curves: areas, proper scores and calibration, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import CountedSets
from offdiag.store.run_page import RunResults
from offdiag_web.charts.scale import UNIT
from offdiag_web.presenters.headline import Tile, metric_tile
from offdiag_web.presenters.values import Notes

NO_SKILL = "no skill"
_BINS = 15
_RANKINGS = (
    ("label_ranking_average_precision", "Ranking average precision", ", of the labels of a case"),
    ("label_ranking_loss", "Ranking loss", ", less is better"),
    ("coverage_error", "Coverage error", ", labels down to the last true one"),
)


def class_tiles(results: RunResults, code: int, notes: Notes, *, is_whole: bool) -> list[Tile]:
    """Areas of a class; with `is_whole` also what is said of the probabilities as a whole."""
    share = int(results.counted.actual[code]) / max(results.counted.total, 1)
    tiles = [
        _area("ROC AUC", _of_class(results, "roc_auc", code), notes, no_skill=0.5),
        _area(
            "Average precision",
            _of_class(results, "average_precision", code),
            notes,
            no_skill=share,
        ),
    ]
    if is_whole:
        tiles += _probability_tiles(
            results.aggregate, notes, brier="brier_half", ece=f"ece_positive_{_BINS}"
        )
    return tiles


def overview_tiles(results: RunResults, notes: Notes) -> list[Tile]:
    """What is said of all classes together; of sets, how well scores rank their labels."""
    values = results.aggregate
    if isinstance(results.counted, CountedSets):
        return [
            _unbounded(metric_tile(title, values.get(key), notes, detail=detail))
            for key, title, detail in _RANKINGS
        ]
    tiles = [
        _area(
            "ROC AUC",
            values.get("roc_auc_ovr_macro"),
            notes,
            no_skill=0.5,
            detail=", one vs rest, macro",
        ),
        _area(
            "ROC AUC",
            values.get("roc_auc_ovo_macro"),
            notes,
            no_skill=0.5,
            detail=", pairs of classes",
        ),
    ]
    return tiles + _probability_tiles(
        values, notes, brier="brier_sum", ece=f"ece_top_label_{_BINS}"
    )


def _of_class(results: RunResults, key: str, code: int) -> MetricValue | None:
    values = results.per_class.get(key)
    return None if values is None else values[code]


def _probability_tiles(
    values: Mapping[str, MetricValue], notes: Notes, *, brier: str, ece: str
) -> list[Tile]:
    kind = ", sum over classes" if brier == "brier_sum" else ""
    flavour = "top label" if "top_label" in ece else "positive class"
    return [
        _unbounded(metric_tile("Brier score", values.get(brier), notes, detail=kind or None)),
        _unbounded(metric_tile("Log loss", values.get("log_loss"), notes)),
        _plain(
            metric_tile(
                "Calibration error",
                values.get(ece),
                notes,
                scale=UNIT,
                detail=f", {flavour}, {_BINS} bins",
            )
        ),
    ]


def _area(
    title: str,
    value: MetricValue | None,
    notes: Notes,
    *,
    no_skill: float,
    detail: str | None = None,
) -> Tile:
    """An area beside what scores without any skill would give."""
    tile = metric_tile(title, value, notes, baseline=no_skill, detail=detail)
    return replace(tile, baseline_name=NO_SKILL)


def _plain(tile: Tile) -> Tile:
    return replace(tile, baseline=None)


def _unbounded(tile: Tile) -> Tile:
    """A loss has no upper end to be drawn against."""
    return replace(tile, baseline=None, mark=None)
