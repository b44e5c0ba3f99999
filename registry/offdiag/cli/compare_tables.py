"""Comparisons as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import MOST_CLASSES, open_table
from offdiag.cli.text import label, printable
from offdiag.comparison import texts
from offdiag.comparison.differences import MetricDifference
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import Churn, PairComparison
from offdiag.comparison.rank_status import Rank, RankStatus
from offdiag.comparison.texts import run_label
from offdiag.domain.number_text import p_value
from offdiag.domain.values import MetricValue
from offdiag.services.compare import RunComparison
from offdiag.services.shared_samples import Refusal


def refusal_text(refusal: Refusal) -> str:
    """Why there is no comparison, and the way out."""
    hint = refusal.hint
    if refusal.n_shared is not None:
        hint = "--shared compares them on the shared ones."
    return f"{printable(refusal.why)} {printable(hint)}"


def comparison_tables(found: RunComparison) -> Iterator[Table | Text]:
    """The runs, the verdict, and the numbers behind it."""
    yield _runs_table(found)
    if found.verdict is not None:
        yield Text(printable(found.verdict.headline), style="bold")
        for sentence in found.verdict.details:
            yield Text(printable(sentence))
    match found.result:
        case PairComparison():
            yield from _pair_tables(found.result)
        case ManyComparison():
            yield _ranks_table(found.result)
            if found.result.pairs:
                yield _pairs_table(found.result)
        case None:
            return


def _runs_table(found: RunComparison) -> Table:
    first = found.runs[0]
    where = f" in {found.part}" if found.part is not None else ""
    on = ""
    if found.samples is not None:
        on = f", {found.samples.n_compared:,} examples{where}"
    table = open_table(title=f"{printable(first.dataset)}{printable(on)}")
    for name in ("", "run", "id", "model"):
        table.add_column(name)
    for position, run in enumerate(found.runs):
        table.add_row(
            run_label(position), Text(label(run.name)), run.id, Text(printable(run.model or ""))
        )
    return table


def _pair_tables(pair: PairComparison) -> Iterator[Table]:
    level = texts.level_text(pair.confidence)
    table = open_table()
    for name in ("metric", "A", "B", "B − A", f"{level} CI alone", "together", "", "p"):
        table.add_column(name, justify="left" if name in {"metric", ""} else "right")
    for each in pair.metrics:
        table.add_row(texts.title(each.key), *_difference_cells(each), _p(each.p))
    yield table
    if pair.paired is not None:
        yield _churn_table(pair.paired.churn)
    yield _class_table(pair, level)


def _churn_table(churn: Churn) -> Table:
    table = open_table()
    for name in ("both correct", "only A correct", "only B correct", "both wrong"):
        table.add_column(name, justify="right")
    table.add_row(*(f"{count:,}" for count in churn.to_dict().values()))
    return table


def _class_table(pair: PairComparison, level: str) -> Table:
    sizes = pair.first.actual.tolist()
    largest = sorted(range(len(sizes)), key=lambda code: -sizes[code])[:MOST_CLASSES]
    cut = "" if len(largest) == len(sizes) else f", the {MOST_CLASSES} largest of {len(sizes)}"
    table = open_table(title=f"Recall of each class{cut}")
    for name in ("class", "n", "A", "B", "B − A", f"{level} CI alone", "together", ""):
        table.add_column(name, justify="left" if name in {"class", ""} else "right")
    for code in largest:
        table.add_row(
            Text(label(pair.labels[code])),
            f"{sizes[code]:,}",
            *_difference_cells(pair.classes["recall"][code]),
        )
    return table


def _difference_cells(found: MetricDifference) -> tuple[str, str, str, str, str, str]:
    of_class = found.class_label is not None
    return (
        _number(found.first),
        _number(found.second),
        texts.difference_text(found.key, found.difference, of_class=of_class),
        texts.difference_interval(found.key, found.difference, of_class=of_class) or "none",
        texts.simultaneous_interval(found) or "none",
        texts.outcome_text(found),
    )


def _ranks_table(many: ManyComparison) -> Table:
    table = open_table(
        caption="p values are adjusted for all runs and metrics. Brackets: "
        f"{texts.level_text(many.confidence)} CI of the difference to the highest "
        "run, or to the one that is named."
    )
    table.add_column("metric")
    for position in range(len(many.matrices)):
        table.add_column(run_label(position))
    if many.best_of_many:
        table.add_column("highest, on new examples", justify="right")
    for key, places in many.places.items():
        best = many.best_of_many.get(key)
        table.add_row(
            texts.title(key),
            *(_rank_text(key, places, at) for at in range(len(places))),
            *([] if best is None else [_number(best.corrected)]),
        )
    return table


def _rank_text(key: str, places: Sequence[Rank], position: int) -> Text:
    place = places[position]
    said = texts.RANK_STATUS_TEXTS[place.rank_status]
    if place.rank_status is RankStatus.BEHIND and place.p_adjusted is not None:
        said = f"{said}, {p_value(place.p_adjusted)}"
    gap = texts.rank_difference(key, places, position)
    is_first = place.rank_status in {RankStatus.BEST, RankStatus.NOT_SEPARABLE}
    lines = (f"{_number(place.value)} {said}".strip(), *([gap] if gap else []))
    return Text("\n".join(lines), style="bold" if is_first else "")


def _pairs_table(many: ManyComparison) -> Table:
    table = open_table(title="Examples that only one of two runs predicts correctly")
    for name in ("runs", "only first", "only second", "p", "p, adjusted"):
        table.add_column(name, justify="left" if name == "runs" else "right")
    for pair in many.pairs:
        table.add_row(
            f"{run_label(pair.first)}, {run_label(pair.second)}",
            f"{pair.only_first:,}",
            f"{pair.only_second:,}",
            _p(pair.p),
            _p(pair.p_adjusted),
        )
    return table


def _p(p: float | None) -> str:
    return "" if p is None else p_value(p).removeprefix("p ").removeprefix("= ")


def _number(value: MetricValue) -> str:
    return f"undefined ({value.reason})" if value.value is None else f"{value.value:.3f}"
