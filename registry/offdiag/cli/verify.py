"""`offdiag verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import busy, print_json, print_tables

if TYPE_CHECKING:
    from offdiag.services.verification.findings import Verification

_MOST_SHOWN = 50


@click.command()
@click.option("--sample", is_flag=True, help="Compute 1 run in 20 again, if there are 2,000.")
@click.option(
    "--ledger",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Lines of client key and content digest that must all be there.",
)
@url_option
@json_option
@click.pass_context
def verify(
    context: click.Context, *, sample: bool, ledger: Path | None, url: str | None, as_json: bool
) -> None:
    """Compute results again from the predictions, and check that everything is whole.

    Nothing is changed.
    """
    from random import SystemRandom

    from offdiag.cli.registry import opened
    from offdiag.services.verification.ledger import read_ledger
    from offdiag.services.verification.verify import verify as verify_registry

    entries = [] if ledger is None else read_ledger(ledger)
    with opened(settings_for(url)) as database, busy("Verifying"):
        found = verify_registry(
            database, sample=SystemRandom() if sample else None, ledger=entries
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found)
    if not found.is_clean:
        context.exit(1)


def _show(found: Verification) -> None:
    from rich.text import Text

    from offdiag.cli.tables import open_table
    from offdiag.cli.text import printable

    waiting = f", {found.n_waiting} wait for their evaluation" if found.n_waiting else ""
    verdict = "nothing is wrong" if found.is_clean else f"{len(found.findings)} things are wrong"
    click.echo(f"{found.n_runs} runs, {found.n_recomputed} computed again{waiting}: {verdict}.")
    if found.is_clean:
        return
    left_out = len(found.findings) - _MOST_SHOWN
    table = open_table(caption=f"{left_out} more; --json shows all." if left_out > 0 else None)
    for name in ("kind", "what", "finding"):
        table.add_column(name, overflow="fold")
    for finding in found.findings[:_MOST_SHOWN]:
        table.add_row(
            finding.kind.value, Text(printable(finding.subject)), Text(printable(finding.sentence))
        )
    print_tables(table)
