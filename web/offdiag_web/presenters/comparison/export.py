"""Comparisons for machines: full precision, every metric and every class."""

from __future__ import annotations

from collections.abc import Iterator

from offdiag.comparison.differences import OF_CLASSES, MetricDifference, class_values
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.standings import Place
from offdiag.comparison.wording import letter
from offdiag.services.comparison.comparing import RunComparison
from offdiag_web.app.exports import Cell

PAIR_COLUMNS = (
    *("metric", "class", "n_a", "n_b", "a", "b", "difference", "ci_low", "ci_high"),
    *("ci_method", "p", "outcome", "reason", "simultaneous_low", "simultaneous_high"),
    "p_adjusted",
)
MANY_COLUMNS = (
    *("metric", "class", "letter", "run", "n", "value", "ci_low", "ci_high", "reason"),
    *("standing", "behind", "behind_ci_low", "behind_ci_high", "p", "p_adjusted"),
    "compared_with",
)


def comparison_columns(found: RunComparison) -> tuple[str, ...]:
    """The head of the table."""
    return MANY_COLUMNS if len(found.runs) > 2 else PAIR_COLUMNS


def comparison_rows(found: RunComparison) -> Iterator[tuple[Cell, ...]]:
    """One line for each metric, and for each class; none where nothing is compared."""
    match found.result:
        case PairComparison():
            yield from _pair_rows(found.result)
        case ManyComparison():
            yield from _many_rows(found.result, found)
        case None:
            return


def _pair_rows(pair: PairComparison) -> Iterator[tuple[Cell, ...]]:
    for found in pair.metrics:
        yield _pair_row(found, pair.first.total, pair.second.total)
    for key in OF_CLASSES:
        for code, found in enumerate(pair.classes[key]):
            yield _pair_row(found, int(pair.first.actual[code]), int(pair.second.actual[code]))


def _pair_row(found: MetricDifference, n_first: int, n_second: int) -> tuple[Cell, ...]:
    gap, together = found.difference, found.simultaneous
    return (
        *(found.key, found.class_label, n_first, n_second, found.first.value, found.second.value),
        *(gap.value, gap.ci_low, gap.ci_high, gap.ci_method, found.p, found.outcome.value),
        gap.reason,
        *((None, None) if together is None else (together.low, together.high)),
        found.p_adjusted,
    )


def _many_rows(many: ManyComparison, found: RunComparison) -> Iterator[tuple[Cell, ...]]:
    nothing: tuple[Cell, ...] = (None,) * 7
    for key, places in many.places.items():
        for at, place in enumerate(places):
            yield (
                *(key, None, letter(at), found.runs[at].id, many.matrices[at].total),
                *(place.value.value, None, None, place.value.reason),
                *_place_cells(place),
            )
    for at, matrix in enumerate(many.matrices):
        for key, values in class_values(matrix, confidence=many.confidence).items():
            for code, value in enumerate(values):
                yield (
                    *(key, many.labels[code], letter(at), found.runs[at].id),
                    *(int(matrix.actual[code]), value.value, value.ci_low, value.ci_high),
                    value.reason,
                    *(_place_cells(many.recall[code][at]) if key == "recall" else nothing),
                )


def _place_cells(place: Place) -> tuple[Cell, ...]:
    behind, rival = place.behind, place.compared_with
    return (
        place.standing.value,
        *((None,) * 3 if behind is None else (behind.value, behind.ci_low, behind.ci_high)),
        *(place.p, place.p_adjusted, None if rival is None else letter(rival)),
    )
