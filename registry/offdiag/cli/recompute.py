"""`offdiag recompute`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import busy, print_json

if TYPE_CHECKING:
    from offdiag.services.recompute import Asked


@click.command()
@click.argument("run_ids", metavar="[RUN]...", nargs=-1)
@click.option("--stale", is_flag=True, help="What is missing or out of date. The default.")
@click.option("--all", "everything", is_flag=True, help="Drop all results and compute them anew.")
@url_option
@json_option
def recompute(
    run_ids: tuple[str, ...], *, stale: bool, everything: bool, url: str | None, as_json: bool
) -> None:
    """Ask for the evaluation of runs again; the worker does it.

    Results are a cache of the predictions: those of named runs, or of all of them, can be
    dropped at any time and come back the same.
    """
    from offdiag.cli.registry import opened
    from offdiag.services.recompute import recompute_all, recompute_runs, recompute_stale

    if sum((bool(run_ids), stale, everything)) > 1:
        raise click.UsageError("Name runs, or give --stale or --all.")
    with opened(settings_for(url)) as database, busy("Asking for evaluations"):
        if run_ids:
            asked = recompute_runs(database, run_ids)
        else:
            asked = recompute_all(database) if everything else recompute_stale(database)
    if as_json:
        print_json(_asked_dict(asked))
    else:
        click.echo(_sentence(asked))


def _asked_dict(asked: Asked) -> dict[str, object]:
    return {
        "n_submitted": asked.n_submitted,
        "runs": [
            {"id": run.run_id, "reasons": [reason.value for reason in run.reasons]}
            for run in asked.runs
        ],
    }


def _sentence(asked: Asked) -> str:
    from offdiag.services.recompute import reason_in_words

    if not asked.runs:
        return "Nothing is stale."
    counted = Counter(reason for run in asked.runs for reason in run.reasons)
    why = ", ".join(f"{reason_in_words(reason)}: {n}" for reason, n in counted.items())
    waiting = len(asked.runs) - asked.n_submitted
    already = f" {waiting} of them waited for it already." if waiting else ""
    runs = "1 run is" if len(asked.runs) == 1 else f"{len(asked.runs)} runs are"
    return f"{runs} to be evaluated ({why}).{already}"
