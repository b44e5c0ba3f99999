"""`offdiag verify` and `gc`: stored values that are checked, and deleted runs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.help_text import help_text
from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import busy, print_json, print_tables

if TYPE_CHECKING:
    from offdiag.services.verification.checks import Verification


_MOST_SHOWN = 50


@help_text(
    "verify",
    "verify --sample --json",
    see=("recompute", "db restore"),
    no="what is stored is not what the predictions give",
)
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
    from offdiag.services.verification.verify import read_ledger
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


@help_text("gc", "gc --older-than 90 --keep 3", see=("runs delete", "runs restore"))
@click.command()
@click.option(
    "--older-than",
    metavar="DAYS",
    type=click.FloatRange(min=0),
    help="Remove runs that were deleted longer ago.  [default: gc.older_than_days]",
)
@click.option(
    "--keep",
    metavar="N",
    type=click.IntRange(min=0),
    help="Superseded evaluations to keep of each run and slice.  [default: gc.keep]",
)
@click.option(
    "--open-older-than",
    metavar="DAYS",
    type=click.FloatRange(min=0),
    help="Remove also runs that were opened longer ago and never finished.",
)
@url_option
@json_option
def gc(
    *,
    older_than: float | None,
    keep: int | None,
    open_older_than: float | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Remove for good what nobody will look at any more.

    Current results and their predictions are never touched.
    """
    from offdiag.cli.registry import opened
    from offdiag.services.retention.deletion import collect

    settings = settings_for(url)
    days = settings.gc.older_than_days if older_than is None else older_than
    with opened(settings) as database, busy("Removing what is not needed"):
        found = collect(
            database,
            older_than=timedelta(days=days),
            keep=settings.gc.keep if keep is None else keep,
            open_older_than=None if open_older_than is None else timedelta(days=open_older_than),
        )
    if as_json:
        print_json(
            {
                "deleted_runs": found.deleted_runs,
                "open_runs": found.open_runs,
                "evaluations": found.evaluations,
            }
        )
    else:
        click.echo(
            f"Removed {found.deleted_runs} deleted runs, {found.open_runs} runs that were never "
            f"finished, and {found.evaluations} superseded evaluations."
        )
