"""`offdiag methods`: runs that differ by seed or fold, taken together and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from offdiag.cli.documents import document
from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import number, print_json, print_tables
from offdiag.cli.registry import settings_for
from offdiag.cli.tables import filled_table
from offdiag.domain.number_text import p_in_column
from offdiag.domain.texts import name_segment
from offdiag.records.method import Method, Methods, methods_document
from offdiag.records.promotion import LeadersQuery

if TYPE_CHECKING:
    from offdiag.store.database import Database


@help_text(
    "methods derm-7",
    "methods derm-7 --metric mcc",
    see=("leaders", "compare"),
    arguments={"dataset": "Name of the dataset."},
)
@click.command()
@click.argument("dataset")
@click.option("--project", help="Project of the dataset.  [default: the configured one]")
@click.option("--metric", help="Metric to compare by.  [default: the primary one]")
@url_option
@json_option
def methods(
    *, dataset: str, project: str | None, metric: str | None, url: str | None, as_json: bool
) -> None:
    """Compare the methods of DATASET: runs that differ by seed or fold.

    Runs belong to a method by the tag group; the tags seed and fold say which run of it they are.
    Intervals count the spread of training and the choice of examples.
    """
    wanted = LeadersQuery(project=project or settings_for(url).project, metric=metric)
    found = document(
        url,
        f"/datasets/{name_segment(dataset)}/methods",
        Methods,
        query=wanted,
        stored=lambda database: _stored(database, dataset, wanted),
    )
    if as_json:
        print_json(found.plain())
    elif not found.methods:
        click.echo("No run has the tag group. Log runs of a method with --tag group=NAME.")
    else:
        columns = ("method", "runs", found.metric, "spread", "to the best", "p adjusted", "")
        lines = (_line(found.metric, method) for method in found.methods)
        caption = "Brackets: 95 % CI; of differences, simultaneous over all pairs."
        print_tables(filled_table(columns, lines, right=("runs",), caption=caption))


def _stored(database: Database, dataset: str, wanted: LeadersQuery) -> Methods:
    from offdiag.services.methods import methods_of

    found = methods_of(database, project=wanted.project, name=dataset, metric=wanted.metric)
    return methods_document(found)


def _line(metric: str, method: Method) -> tuple[str, ...]:
    p, kind = method.p_adjusted, method.design
    return (
        method.name,
        f"{method.n_runs} {kind if method.n_runs > 1 else kind.removesuffix('s')}",
        number(metric, method.mean.measured()),
        "" if method.spread is None else f"{method.spread:.3f}",
        "" if method.difference is None else number(metric, method.difference.measured()),
        "" if p is None else p_in_column(p),
        method.why_not_compared or method.rank_status,
    )
