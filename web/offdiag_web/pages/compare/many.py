"""Comparison of three or more runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from offdiag.comparison import texts
from offdiag.comparison.differences import class_values
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.many_verdict import classes_tested, leading
from offdiag.comparison.rank_status import Rank, RankStatus
from offdiag.comparison.texts import run_label
from offdiag.domain.number_text import p_in_column, p_value
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag_web.charts.marks import MOST_MARKED, class_strip, strip_axis
from offdiag_web.charts.matrix_picture import matrix_picture
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, class_order
from offdiag_web.components.matrix_colours import ColourScale
from offdiag_web.components.metric_values import Notes, ShownValue, extent_of, shown
from offdiag_web.pages.compare.metric_differences import MOST_CLASSES, MOST_LISTED, metric_segments
from offdiag_web.pages.compare.pair import shared_scale
from offdiag_web.pages.compare.runs import RunIdentity
from offdiag_web.urls.compare import CompareAddress

LARGEST_PICTURE = 60
"""Most classes for which matrices are drawn side by side."""

_TESTED = frozenset({RankStatus.NOT_SEPARABLE, RankStatus.BEHIND})
_SYMBOLS = {RankStatus.BEST: "◆", RankStatus.NOT_SEPARABLE: "≈"}


@dataclass(frozen=True, slots=True)
class RankCell:
    """A run by one metric: value, rank status with its symbol, and difference from the highest.

    `said` describes the symbol for those who do not see it.
    """

    value: ShownValue
    symbol: str
    said: str
    standing: str
    gap: str | None
    is_first: bool


class MetricHead(NamedTuple):
    """A metric, and in brackets the runs that may be the best by it; None if not tested.

    `corrected` is the expected value of the highest run, None if that is unknown.
    """

    title: str
    best: str | None
    corrected: ShownValue | None


@dataclass(frozen=True, slots=True)
class StripRow:
    """A class: its size, all runs as a strip, and their values in the order of the runs.

    `is_worse` says for each run whether its recall is significantly worse than the best.
    """

    head: ClassHead
    support: str
    strip: Markup
    values: tuple[ShownValue, ...]
    is_worse: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two runs and the numbers of examples that only one of them predicts correctly."""

    letters: str
    url: str
    only_first: str
    only_second: str
    p: str
    p_adjusted: str


@dataclass(frozen=True, slots=True)
class ManyView:
    """Everything below the verdict of several runs; for more than eight, only the table."""

    heads: tuple[MetricHead, ...]
    rows: tuple[tuple[RunIdentity, str, tuple[RankCell, ...]], ...]
    together: str
    level: str
    strips: dict[str, object] | None
    noun: str
    pictures: tuple[tuple[RunIdentity, Markup], ...]
    correct_end: str
    error_end: str | None
    pairs: tuple[PairRow, ...]
    notes: tuple[str, ...]
    is_table_only: bool
    most_drawn: int


def many_view(
    many: ManyComparison, runs: tuple[RunIdentity, ...], address: CompareAddress
) -> ManyView:
    """Present several runs according to their address."""
    notes = Notes()
    is_table_only = len(runs) > MOST_MARKED
    is_drawn = not is_table_only and len(many.labels) <= LARGEST_PICTURE
    matrices = [each for each in many.matrices if isinstance(each, ConfusionMatrix)]
    scales = shared_scale(matrices) if matrices else []
    return ManyView(
        heads=tuple(
            MetricHead(texts.title(key), _best(places), _corrected(many, key, notes))
            for key, places in many.places.items()
        ),
        rows=tuple(_rank_row(many, at, runs[at], notes) for at in _best_first(many)),
        together=f"all {numbers.count(len(many.compared))} runs and "
        f"{numbers.plural(len(many.places), 'metric')}",
        level=texts.level_text(many.confidence),
        strips=None if is_table_only else _strips(many, runs, address, notes),
        noun="label" if many.of_sets else "class",
        pictures=_pictures(many, matrices, scales, runs) if is_drawn and matrices else (),
        correct_end=scales[0].correct_end if scales else "",
        error_end=scales[0].error_end if scales else None,
        pairs=() if is_table_only else _pairs(many, address),
        notes=tuple(notes.texts),
        is_table_only=is_table_only,
        most_drawn=MOST_MARKED,
    )


def _rank_row(
    many: ManyComparison, at: int, run: RunIdentity, notes: Notes
) -> tuple[RunIdentity, str, tuple[RankCell, ...]]:
    return (
        run,
        numbers.count(many.matrices[at].total),
        tuple(_rank_cell(key, places, at, notes) for key, places in many.places.items()),
    )


def _best(places: Sequence[Rank]) -> str | None:
    """ "[A C]", the runs that are not significantly worse than the best."""
    if all(place.rank_status not in _TESTED for place in places):
        return None
    tested = (run_label(at) for at, each in enumerate(places) if each.rank_status in _SYMBOLS)
    return f"[{' '.join(tested)}]"


def _corrected(many: ManyComparison, key: str, notes: Notes) -> ShownValue | None:
    best = many.best_of_many.get(key)
    return None if best is None else shown(best.corrected, notes)


def _rank_cell(key: str, places: Sequence[Rank], at: int, notes: Notes) -> RankCell:
    place = places[at]
    said, standing = "", texts.rank_text(key, place.rank_status)
    if place.p_adjusted is not None:
        p = p_value(place.p_adjusted)
        if place.rank_status is RankStatus.NOT_SEPARABLE:
            said, standing = standing, p
        else:
            standing += f", {p}"
    return RankCell(
        value=shown(place.value, notes),
        symbol=_SYMBOLS.get(place.rank_status, ""),
        said=said,
        standing=standing,
        gap=texts.rank_difference(key, places, at),
        is_first=place.rank_status in _SYMBOLS,
    )


def _strips(
    many: ManyComparison, runs: tuple[RunIdentity, ...], address: CompareAddress, notes: Notes
) -> dict[str, object]:
    key = address.class_metric
    values = [class_values(each, confidence=many.confidence)[key] for each in many.matrices]
    sizes = np.max([matrix.actual for matrix in many.matrices], axis=RUN_AXIS)
    codes = class_order(many.matrices[0], None)
    n_classes = len(codes)
    counted = texts.class_noun(n_classes, of_sets=many.of_sets)
    tested = texts.class_noun(classes_tested(many), of_sets=many.of_sets)
    if n_classes > MOST_CLASSES:
        codes = sorted(codes, key=lambda code: -_spread(values, code))[:MOST_LISTED]
    title = texts.title(key)
    return {
        "title": f"{title} of each {'label' if many.of_sets else 'class'}",
        "metrics": metric_segments(address),
        "axis": strip_axis(name="All runs, drawn from 0 to 1"),
        "rows": tuple(
            _strip_row(
                many.labels[code],
                int(sizes[code]),
                [of_run[code] for of_run in values],
                title=title,
                runs=runs,
                notes=notes,
                places=many.recall[code] if key == "recall" else (),
            )
            for code in codes
        ),
        "note": (
            f"Significantly worse: than the best run on that "
            f"{'label' if many.of_sets else 'class'}, all runs and {tested} compared together "
            f"({texts.level_text(many.confidence)})."
            if key == "recall"
            else ""
        ),
        "is_long": n_classes > MOST_CLASSES,
        "cut": (
            None
            if n_classes <= MOST_LISTED
            else f"The {MOST_LISTED} of {counted} on which the runs differ "
            "most. The JSON has all of them."
        ),
    }


RUN_AXIS = 0
"""The axis over runs of stacked class sizes (runs, K)."""


def _strip_row(
    name: str,
    size: int,
    of_runs: Sequence[MetricValue],
    *,
    title: str,
    runs: tuple[RunIdentity, ...],
    notes: Notes,
    places: Sequence[Rank],
) -> StripRow:
    said = ", ".join(
        f"{run.run_label} {'undefined' if value.value is None else numbers.metric(value.value)}"
        for run, value in zip(runs, of_runs, strict=True)
    )
    return StripRow(
        class_head(name),
        numbers.count(size),
        class_strip([extent_of(value) for value in of_runs], name=f"{title} from 0 to 1: {said}"),
        tuple(shown(value, notes) for value in of_runs),
        tuple(place.rank_status is RankStatus.BEHIND for place in places) or (False,) * len(runs),
    )


def _spread(values: Sequence[tuple[MetricValue, ...]], code: int) -> float:
    defined = [each[code].value for each in values if each[code].value is not None]
    found = [value for value in defined if value is not None]
    return max(found) - min(found) if found else 0.0


def _pictures(
    many: ManyComparison,
    matrices: Sequence[ConfusionMatrix],
    scales: Sequence[ColourScale],
    runs: tuple[RunIdentity, ...],
) -> tuple[tuple[RunIdentity, Markup], ...]:
    """The matrices, starting with the run with the highest balanced accuracy."""
    codes = class_order(matrices[0], None)
    return tuple(
        (
            runs[at],
            matrix_picture(
                [[_step(matrices[at], scales[at], i, j) for j in codes] for i in codes],
                name=f"Confusion matrix of {runs[at].run_label}, actual classes down, "
                "predicted across",
            ),
        )
        for at in _best_first(many)
    )


def _best_first(many: ManyComparison) -> list[int]:
    """Indices of the runs by the leading metric; those without it or on other labels are last."""
    values = [rank.value.value for rank in many.places[leading(many)[0]]]
    return sorted(
        range(len(values)),
        key=lambda at: (at in many.left_out, inf if (v := values[at]) is None else -v),
    )


def _step(matrix: ConfusionMatrix, scale: ColourScale, actual: int, predicted: int) -> str:
    count = int(matrix.counts[actual, predicted])
    if count == 0:
        return ""
    share = count / max(int(matrix.actual[actual]), 1)
    return scale.ramp_class(share, is_correct=actual == predicted)


def _pairs(many: ManyComparison, address: CompareAddress) -> tuple[PairRow, ...]:
    return tuple(
        PairRow(
            letters=f"{run_label(pair.first)} and {run_label(pair.second)}",
            url=CompareAddress(
                (address.run_ids[pair.first], address.run_ids[pair.second]),
                address.part,
                address.on_shared,
            ).url(),
            only_first=f"{run_label(pair.first)} {numbers.count(pair.only_first)}",
            only_second=f"{run_label(pair.second)} {numbers.count(pair.only_second)}",
            p=p_in_column(pair.p),
            p_adjusted=p_in_column(pair.p_adjusted),
        )
        for pair in many.pairs
    )
