"""A comparison as CSV, as Markdown for a review, and as a card for slides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from offdiag.comparison import texts
from offdiag.comparison.differences import OF_CLASSES, MetricDifference, class_values
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.many_verdict import leading
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.rank_status import Rank
from offdiag.comparison.texts import run_label
from offdiag.domain.sentences import visible
from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import numbers_of
from offdiag.services.comparisons.compare import RunComparison
from offdiag_web.app.exports import Cell
from offdiag_web.charts.card import Card, CardTable, card_svg
from offdiag_web.charts.matrix_picture import DrawnCell, DrawnMatrix, Picture, drawn_matrix
from offdiag_web.components import numbers
from offdiag_web.pages.compare.many import ManyView, many_view
from offdiag_web.pages.compare.pair import PairView, difference_matrix, pair_view
from offdiag_web.pages.compare.runs import RunIdentity, run_identities, samples_text, truth_text
from offdiag_web.urls.compare import CompareAddress

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
    return MANY_COLUMNS if len(found.runs) > 2 else PAIR_COLUMNS


StoredValues = Mapping[tuple[str, str], Mapping[str, MetricValue]]
"""Values of whole runs with their 95 % intervals, by run and digest of the matrix."""


def comparison_rows(found: RunComparison, stored: StoredValues) -> Iterator[tuple[Cell, ...]]:
    """One line for each metric and each class; none if nothing was compared."""
    match found.result:
        case PairComparison():
            yield from _pair_rows(found.result)
        case ManyComparison():
            yield from _many_rows(found.result, found, stored)
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


def _many_rows(
    many: ManyComparison, found: RunComparison, stored: StoredValues
) -> Iterator[tuple[Cell, ...]]:
    """Values of whole runs have intervals where those of the same matrix are `stored`."""
    nothing: tuple[Cell, ...] = (None,) * 7
    known = [
        stored.get((run.id, matrix.digest), {})
        for run, matrix in zip(found.runs, many.matrices, strict=True)
    ]
    for key, places in many.places.items():
        for at, place in enumerate(places):
            value = known[at].get(key, place.value)
            yield (
                *(key, None, run_label(at), found.runs[at].id, many.matrices[at].total),
                *(place.value.value, value.ci_low, value.ci_high, place.value.reason),
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
            heads = ("B − A", f"{level} CI alone", "Together", "Verdict")
            yield from _rows(
                ("Metric", "A", "B", *(heads if result.has_differences else ())),
                [
                    (
                        texts.title(each.key),
                        _number(each.first),
                        _number(each.second),
                        *(_difference_texts(each) if result.has_differences else ()),
                    )
                    for each in result.metrics
                ],
            )
        case ManyComparison():
            yield from _rows(
                (
                    "Metric",
                    *(run_label(at) for at in range(len(result.matrices))),
                    *(["Best, expected on new examples"] if result.best_of_many else []),
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


def _difference_texts(found: MetricDifference) -> tuple[str, ...]:
    return (
        texts.difference_text(found.key, found.difference),
        texts.difference_interval(found.key, found.difference) or "none",
        texts.simultaneous_interval(found) or "none",
        texts.outcome_text(found),
    )


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
    return value.undefined_text if value.value is None else numbers.metric(value.value)


def _escaped(text: str) -> str:
    """Names are user input: nothing in them may become a heading, a link or a tag."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def _rank_text(key: str, rank: Rank) -> str:
    return f"{_number(rank.value)} {texts.rank_text(key, rank.rank_status)}".strip()


_MOST_METRICS = 4
_MOST_RUNS = 9
_LONGEST_NAME = 32
_LARGEST_MATRIX = 12


def comparison_card(found: RunComparison, address: CompareAddress) -> str:
    """The card of a comparison as an SVG document; if it was refused, the card says why."""
    result, runs = found.result, run_identities(found.runs, address)
    picture = None
    if isinstance(result, PairComparison) and result.cells is not None:
        picture = _difference(result)
    return card_svg(
        Card(
            title=_title(runs),
            subtitle=" · ".join(
                filter(None, (truth_text(found), "" if found.refusal else samples_text(found)))
            ),
            statement=_statement(found),
            table=_card_table(found, runs, address),
            picture=picture,
            picture_title="B − A, points of the actual class; blue is better",
            foot=f"{', '.join(each.id for each in runs)} · offdiag",
        )
    )


def _title(runs: Sequence[RunIdentity]) -> str:
    if len(runs) > 2:
        return f"{len(runs)} runs compared"
    return " · ".join(f"{each.run_label} {_name(each)}" for each in runs)


def _statement(found: RunComparison) -> str:
    if found.refusal is not None:
        return found.refusal.why
    return "" if found.verdict is None else found.verdict.headline


def _name(run: RunIdentity) -> str:
    return numbers.shortened(run.name, longest=_LONGEST_NAME)


def _card_table(
    found: RunComparison, runs: tuple[RunIdentity, ...], address: CompareAddress
) -> CardTable:
    result = found.result
    if isinstance(result, PairComparison):
        pair = pair_view(result, found.runs, address)
        is_wider = any(line.together for line in pair.metrics.lines)
        head = "95 % CI, together" if is_wider else "95 % CI"
        heads = ("Metric", "A", "B", *(("B − A", head) if result.has_differences else ()))
        return CardTable(heads, [each[: len(heads)] for each in _metrics(pair)], 3)
    if isinstance(result, ManyComparison):
        heads = ("Run", texts.title(leading(result)[0]), "To the highest, 95 % CI")
        return CardTable(heads, list(_runs(result, many_view(result, runs, address))))
    return CardTable(("Run",), [(_name(each),) for each in runs[:_MOST_RUNS]], 0)


def _metrics(pair: PairView) -> Iterator[tuple[str, ...]]:
    for line in pair.metrics.lines[:_MOST_METRICS]:
        interval = line.together or line.interval or ""
        yield line.title, line.first.text, line.second.text, line.gap.text, interval


def _runs(many: ManyComparison, view: ManyView) -> Iterator[tuple[str, ...]]:
    """The best runs first, as on the page."""
    column = tuple(many.places).index(leading(many)[0])
    for run, _, cells in view.rows[:_MOST_RUNS]:
        cell = cells[column]
        yield f"{run.run_label} {_name(run)}", cell.value.text, cell.gap or ""


def _difference(pair: PairComparison) -> Picture:
    matrix = difference_matrix(pair, largest=_LARGEST_MATRIX)
    names = [head.short for head in matrix.heads]
    return drawn_matrix(
        DrawnMatrix(
            down="Actual",
            across="Predicted",
            down_names=names,
            across_names=names,
            cells=[
                [DrawnCell.coloured(cell.share, None, cell.css) for cell in row.cells]
                for row in matrix.rows
            ],
            down_totals=[row.total for row in matrix.rows],
            across_totals=[],
            down_total_name="n",
            across_total_name="",
            caption=matrix.caption,
        ),
        theme="light",
    )
