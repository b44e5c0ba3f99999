"""`offdiag verify` and `offdiag gc`: check stored results, and delete old data permanently."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, Shown, database_options, opened
from offdiag.cli.options import help_text
from offdiag.cli.output import busy

if TYPE_CHECKING:
    from offdiag.services.verification.checks import Verification


_MOST_SHOWN = 50


@help_text(
    "verify",
    "verify --sample --json",
    see=("recompute", "db restore"),
    no="a problem was found",
)
@click.command()
@click.option(
    "--sample", is_flag=True, help="Recompute only 1 run in 20, if there are 2,000 or more."
)
@click.option(
    "--ledger",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Lines with a client key and a content digest, all of which must be stored.",
)
@database_options
@click.pass_context
def verify(context: click.Context, *, sample: bool, ledger: Path | None, call: Call) -> None:
    """Recompute results from the predictions and compare them with the stored ones.

    Nothing is changed. Stored predictions, labels and files are compared with their digests, flags
    and lists of reports with the results. What people enter, such as names, notes and texts of
    samples, has nothing to be compared with. Results of another version of the metrics are listed
    as outdated, which is no problem.
    """
    from random import SystemRandom

    from offdiag.services.verification.verify import read_ledger
    from offdiag.services.verification.verify import verify as verify_registry

    entries = [] if ledger is None else read_ledger(ledger)
    with call.opened() as database, busy("Verifying"):
        found = verify_registry(
            database, sample=SystemRandom() if sample else None, ledger=entries
        )
    call.print(found.to_dict(), _shown(found))
    if not found.is_clean:
        context.exit(1)


_WAYS_OUT = (
    (
        ("lost", "incomplete", "damaged"),
        "Lost, incomplete or damaged: restore a backup, or delete the runs and log them again.",
    ),
    (("drift",), "Drift: `offdiag recompute RUN` computes the results again."),
    (
        ("stuck",),
        "Stuck: `offdiag recompute` and `offdiag jobs retry --all` queue these jobs again.",
    ),
)
"""What to do about findings of some kinds."""


def _shown(found: Verification) -> Iterator[Shown]:
    from offdiag.cli.tables import filled_table
    from offdiag.domain.number_text import count

    waiting = f", {found.n_waiting} not evaluated yet" if found.n_waiting else ""
    waiting += f", {found.n_outdated} outdated" if found.n_outdated else ""
    verdict = "no problems" if found.is_clean else count(found.n_problems, "problem")
    yield f"{count(found.n_runs, 'run')}, {found.n_recomputed} recomputed{waiting}: {verdict}."
    if found.n_outdated:
        yield (
            "Outdated results are of another version of the metrics or flag rules and were not "
            "compared. A worker of this version, with the same metric modules, evaluates these "
            "runs again; `offdiag recompute` queues them now."
        )
    if not found.findings:
        return
    left_out = len(found.findings) - _MOST_SHOWN
    table = filled_table(
        ("kind", "what", "finding"),
        (
            (finding.kind.value, finding.subject, finding.sentence)
            for finding in found.findings[:_MOST_SHOWN]
        ),
        caption=f"{left_out} more; --json shows all." if left_out > 0 else None,
    )
    for column in table.columns:
        column.overflow = "fold"
    yield table
    kinds = {finding.kind.value for finding in found.findings}
    yield from (text for of, text in _WAYS_OUT if not kinds.isdisjoint(of))


@help_text("gc", "gc --older-than 90 --keep 3", see=("runs delete", "runs restore"))
@click.command()
@click.option(
    "--older-than",
    metavar="DAYS",
    type=click.FloatRange(min=0),
    help="Remove runs deleted longer ago than this.  [default: gc.older_than_days]",
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
    help="Also remove runs opened longer ago than this and never finished.",
)
@database_options
def gc(
    *, older_than: float | None, keep: int | None, open_older_than: float | None, call: Call
) -> None:
    """Delete old data permanently: deleted runs and superseded evaluations.

    Current results and their predictions are never deleted.
    """
    from offdiag.services.retention.deletion import collect

    settings = call.settings
    days = settings.gc.older_than_days if older_than is None else older_than
    with opened(settings) as database, busy("Deleting old data"):
        found = collect(
            database,
            older_than=timedelta(days=days),
            keep=settings.gc.keep if keep is None else keep,
            open_older_than=None if open_older_than is None else timedelta(days=open_older_than),
        )
    call.print(
        {
            "deleted_runs": found.deleted_runs,
            "open_runs": found.open_runs,
            "evaluations": found.evaluations,
        },
        f"Removed {found.deleted_runs} deleted runs, {found.open_runs} unfinished runs "
        f"and {found.evaluations} superseded evaluations.",
    )
