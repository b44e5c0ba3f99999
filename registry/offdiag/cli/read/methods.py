"""`offdiag methods`: compare groups of runs that differ by seed, fold or training size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, project_option, registry_options
from offdiag.cli.documents import ask
from offdiag.cli.options import help_text
from offdiag.cli.output import number, three_decimals
from offdiag.cli.tables import filled_table
from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.number_text import count, p_in_column
from offdiag.records.runs.method import CurvePoint, Method, Methods, methods_request, run_rows
from offdiag.records.runs.run_list import LeadersQuery

if TYPE_CHECKING:
    from rich.table import Table


@help_text(
    "methods derm-7",
    "methods derm-7 --metric mcc --runs",
    see=("leaders", "compare"),
    arguments={"dataset": "Name of the dataset."},
)
@click.command()
@click.argument("dataset")
@project_option("Project of the dataset.")
@click.option("--metric", help="Metric to compare by.  [default: the primary one]")
@click.option("--runs", is_flag=True, help="List the runs of each method, such as its folds.")
@registry_options
def methods(*, dataset: str, project: str, metric: str | None, runs: bool, call: Call) -> None:
    """Compare the methods of DATASET: runs that differ by seed or fold.

    The tag group assigns a run to a method, and the tags seed and fold distinguish its runs. With
    the tag train_size, methods have learning curves. Intervals cover both the variation between
    training runs and the sampling of examples.
    """
    wanted = LeadersQuery(project=project, metric=metric)
    found = ask(call, methods_request(dataset, wanted), of_results=True)
    call.print(found, _shown(found, with_runs=runs))


def _shown(found: Methods, *, with_runs: bool) -> Iterator[Table | str]:
    if not found.methods:
        without = " without sample weights" if found.n_weighted else ""
        yield f"No run{without} has the tag group. Log runs of a method with --tag group=NAME."
        return
    yield _methods_table(found)
    if found.learning_curves:
        yield _curves_table(found)
    if with_runs:
        yield _runs_table(found)


def _methods_table(found: Methods) -> Table:
    with_pooled = any(method.pooled is not None for method in found.methods)
    pooled = ("pooled",) if with_pooled else ()
    columns = ("method", "runs", found.metric, "spread", *pooled, "to the best", "p adjusted", "")
    lines = (_line(found.metric, method, with_pooled=with_pooled) for method in found.methods)
    caption = "Brackets: 95 % CI; of differences, simultaneous over all pairs."
    if found.n_weighted:
        caption += f" Left out, with sample weights: {count(found.n_weighted, 'run')}."
    if found.is_cut:
        caption += " Only the newest 500 runs count; remove the tag group from others to count "
        caption += "older ones."
    return filled_table(columns, lines, right=("runs",), caption=caption)


_STANDINGS = {
    RankStatus.NOT_SEPARABLE.value: "no significant difference",
    RankStatus.BEHIND.value: "significantly worse",
}


def _line(metric: str, method: Method, *, with_pooled: bool) -> tuple[str, ...]:
    p = method.p_adjusted
    return (
        method.name,
        _n_runs(method),
        number(metric, method.mean.measured()),
        _spread(method),
        *([_pooled(metric, method)] if with_pooled else []),
        "" if method.difference is None else number(metric, method.difference.measured()),
        "" if p is None else p_in_column(p),
        method.why_not_compared or _STANDINGS.get(method.rank_status, method.rank_status),
    )


def _curves_table(found: Methods) -> Table:
    with_pooled = any(point.pooled is not None for point in found.learning_curves)
    pooled = ("pooled",) if with_pooled else ()
    columns = ("method", "train_size", "runs", found.metric, "spread", *pooled, "")
    lines = (
        (
            point.method,
            f"{point.train_size:,g}",
            _n_runs(point),
            number(found.metric, point.mean.measured()),
            _spread(point),
            *([_pooled(found.metric, point)] if with_pooled else []),
            "" if point.why_no_interval is None else f"no interval: {point.why_no_interval}",
        )
        for point in found.learning_curves
    )
    left_out = found.n_without_size
    caption = "Brackets: 95 % CI of each point alone."
    if len({point.train_size <= 1 for point in found.learning_curves}) > 1:
        caption += " Sizes up to 1 are shares, others numbers of examples."
    if left_out:
        caption += f" Left out, without a training size: {count(left_out, 'run')}."
    return filled_table(
        columns, lines, right=("train_size", "runs"), title="Learning curves", caption=caption
    )


def _runs_table(found: Methods) -> Table:
    columns = ("method", "train_size", "seed", "fold", "run", "name", found.metric)
    lines = (
        (
            *(f"{cell:,g}" if isinstance(cell, float) else str(cell or "") for cell in row[:-1]),
            three_decimals(row[-1]) if isinstance(row[-1], float) else "",
        )
        for row in run_rows(found)
    )
    return filled_table(columns, lines, right=("train_size", found.metric), title="Runs")


def _n_runs(of: Method | CurvePoint) -> str:
    return count(of.n_runs, of.design.removesuffix("s"))


def _spread(of: Method | CurvePoint) -> str:
    return "" if of.spread is None else three_decimals(of.spread)


def _pooled(metric: str, of: Method | CurvePoint) -> str:
    return "" if of.pooled is None else number(metric, of.pooled.measured())
