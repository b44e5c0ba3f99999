"""Advice for people who read a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from offdiag.advice.recommendation import Advice, Counsel
from offdiag.cli.tables import open_table
from offdiag.cli.text import printable


def advice_tables(advice: Advice) -> Iterable[Table]:
    """What to report and what to leave out, each with its reasons."""
    yield _table("Report these", advice.report, with_question=True)
    if advice.avoid:
        yield _table("Leave these out", advice.avoid, with_question=False)
    if advice.cautions:
        cautions = open_table(title="Keep in mind")
        cautions.add_column("")
        for caution in advice.cautions:
            cautions.add_row(Text(printable(caution)))
        yield cautions


def _table(title: str, counsels: Sequence[Counsel], *, with_question: bool) -> Table:
    table = open_table(title=title)
    table.add_column("metric")
    if with_question:
        table.add_column("question")
    table.add_column("why")
    for counsel in counsels:
        question = [Text(printable(counsel.question))] if with_question else []
        table.add_row(
            Text(printable(counsel.name)), *question, Text(printable(" ".join(counsel.why)))
        )
    return table
