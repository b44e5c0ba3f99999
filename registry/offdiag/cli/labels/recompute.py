"""`offdiag recompute`: evaluate runs again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, database_options
from offdiag.cli.documents import ids_of_runs
from offdiag.cli.options import help_text
from offdiag.cli.output import busy

if TYPE_CHECKING:
    from offdiag.services.evaluation.recompute import RecomputeRequest


@help_text(
    "recompute",
    "recompute --all",
    "recompute r_4bcd6fgh8jkm",
    see=("verify", "jobs list"),
    arguments={"run_ids": "Ids or names of runs.  [default: all that are outdated]"},
)
@click.command()
@click.argument("run_ids", metavar="[RUN]...", callback=ids_of_runs, nargs=-1)
@click.option(
    "--outdated", is_flag=True, help="Runs without results or with outdated ones. The default."
)
@click.option(
    "--all", "everything", is_flag=True, help="Delete all results and compute them again."
)
@database_options
def recompute(run_ids: tuple[str, ...], *, outdated: bool, everything: bool, call: Call) -> None:
    """Queue runs for re-evaluation by the worker.

    Results are computed from the stored predictions, so they can be deleted and recomputed at
    any time with the same values.
    """
    from offdiag.services.evaluation.recompute import (
        recompute_all,
        recompute_runs,
        recompute_stale,
    )

    if sum((bool(run_ids), outdated, everything)) > 1:
        raise click.UsageError("Name runs, or give --outdated or --all.")
    with call.opened() as database, busy("Queueing evaluations"):
        if run_ids:
            asked = recompute_runs(database, run_ids)
        else:
            asked = recompute_all(database) if everything else recompute_stale(database)
    call.print(_recompute_dict(asked), _sentence(asked))


def _recompute_dict(asked: RecomputeRequest) -> dict[str, object]:
    return {
        "n_submitted": asked.n_submitted,
        "runs": [
            {"id": run.run_id, "reasons": [reason.value for reason in run.reasons]}
            for run in asked.runs
        ],
    }


def _sentence(asked: RecomputeRequest) -> str:
    from offdiag.services.evaluation.recompute import reason_in_words

    if not asked.runs:
        return "No run is outdated."
    counted = Counter(reason for run in asked.runs for reason in run.reasons)
    why = ", ".join(f"{reason_in_words(reason)}: {n}" for reason, n in counted.items())
    waiting = len(asked.runs) - asked.n_submitted
    already = f" {waiting} of them were queued already." if waiting else ""
    runs = "1 run is" if len(asked.runs) == 1 else f"{len(asked.runs)} runs are"
    return f"{runs} queued ({why}).{already}"
