"""A comparison as JSON and CSV, and as Markdown for a review."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from offdiag.comparison import texts
from offdiag.comparison.differences import OF_CLASSES, MetricDifference, class_values
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.rank_status import Rank
from offdiag.comparison.texts import run_label
from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import numbers_of
from offdiag.reports.texts import visible
from offdiag.services.compare import RunComparison
from offdiag_web.app.exports import Cell
from offdiag_web.pages.compare.runs import samples_text, truth_text

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
            sizes = (int(numbers_of(side).actual[code]) for side in (pair.first, pair.second))
            yield _pair_row(found, *sizes)


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
                *(key, None, run_label(at), found.runs[at].id, many.matrices[at].total),
                *(place.value.value, None, None, place.value.reason),
                *_rank_cells(place),
            )
    for at, matrix in enumerate(many.matrices):
        for key, values in class_values(matrix, confidence=many.confidence).items():
            for code, value in enumerate(values):
                yield (
                    *(key, many.labels[code], run_label(at), found.runs[at].id),
                    *(int(matrix.actual[code]), value.value, value.ci_low, value.ci_high),
                    value.reason,
                    *(_rank_cells(many.recall[code][at]) if key == "recall" else nothing),
                )


def _rank_cells(place: Rank) -> tuple[Cell, ...]:
    behind, rival = place.behind, place.compared_with
    return (
        place.rank_status.value,
        *((None,) * 3 if behind is None else (behind.value, behind.ci_low, behind.ci_high)),
        *(place.p, place.p_adjusted, None if rival is None else run_label(rival)),
    )


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&#])")


def comparison_markdown(found: RunComparison, *, link: str) -> str:
    """The runs, the verdict, the metrics and the address of the page."""
    return "\n".join(_lines(found, link)) + "\n"


def _lines(found: RunComparison, link: str) -> Iterator[str]:
    for position, run in enumerate(found.runs):
        yield f"* **{run_label(position)}** {_escaped(run.name)} ({run.id})"
    yield ""
    if found.refusal is not None:
        yield _escaped(found.refusal.why)
    if found.verdict is not None:
        yield f"**{_escaped(found.verdict.headline)}** {_escaped(' '.join(found.verdict.details))}"
        yield ""
        yield from _table(found.result)
    yield ""
    about = f"{truth_text(found)} · {samples_text(found)}" if not found.refusal else ""
    yield " · ".join(part for part in (_escaped(about), f"<{link}>") if part)


def _table(result: PairComparison | ManyComparison | None) -> Iterator[str]:
    match result:
        case PairComparison():
            level = texts.level_text(result.confidence)
            yield from _rows(
                ("Metric", "A", "B", "B − A", f"{level} CI alone", "Together", "Verdict"),
                [
                    (
                        texts.title(each.key),
                        _number(each.first),
                        _number(each.second),
                        texts.difference_text(each.key, each.difference),
                        texts.difference_interval(each.key, each.difference) or "none",
                        texts.simultaneous_interval(each) or "none",
                        texts.outcome_text(each),
                    )
                    for each in result.metrics
                ],
            )
        case ManyComparison():
            yield from _rows(
                (
                    "Metric",
                    *(run_label(at) for at in range(len(result.matrices))),
                    *(["Best, on new examples"] if result.best_of_many else []),
                ),
                [
                    (
                        texts.title(key),
                        *(_rank_text(key, each) for each in places),
                        *_corrected(result, key),
                    )
                    for key, places in result.places.items()
                ],
            )
        case None:
            return


def _corrected(many: ManyComparison, key: str) -> list[str]:
    if not many.best_of_many:
        return []
    best = many.best_of_many.get(key)
    return ["" if best is None else _number(best.corrected)]


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _line(head)
    yield _line(["---", *["--:"] * (len(head) - 1)])
    yield from map(_line, rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: MetricValue) -> str:
    return "undefined" if value.value is None else f"{value.value:.3f}"


def _escaped(text: str) -> str:
    """Names are anybody's input: nothing in them may become a heading, a link or a tag."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def _rank_text(key: str, rank: Rank) -> str:
    return f"{_number(rank.value)} {texts.rank_text(key, rank.rank_status)}".strip()
