"""`offdiag runs baseline`: the run that all others of a dataset are compared with."""

from __future__ import annotations

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import print_json


@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--dataset", help="Show the baseline of this dataset.")
@click.option("--clear", is_flag=True, help="With --dataset: let it have none.")
@click.option("--project", help="Project of the dataset.  [default: the configured one]")
@url_option
@json_option
def baseline(
    *,
    run_id: str | None,
    dataset: str | None,
    clear: bool,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Compare all runs of its dataset with RUN from now on, class by class.

    A run that finds a class significantly less often gets a flag of rule F14. All runs of the
    dataset are evaluated again.
    """
    if (run_id is None) == (dataset is None) or (clear and dataset is None):
        raise click.UsageError("Name a run, or a dataset with --dataset.")
    from offdiag.cli.registry import opened
    from offdiag.sdk import provenance
    from offdiag.services.baselines import Repinned, baseline_of, pin_baseline, unpin_baseline

    settings = settings_for(url)
    place = {"project": project or settings.project, "dataset": str(dataset)}
    with opened(settings) as database:
        if run_id is not None:
            now = pin_baseline(database, run_id, author=provenance.author())
        elif clear:
            now = unpin_baseline(database, **place)
        else:
            now = Repinned(baseline_of(database, **place), 0)
    if as_json:
        pinned = None if now.baseline is None else now.baseline.run_id
        print_json({"baseline": pinned, "runs_asked": now.n_runs})
    elif now.baseline is None:
        click.echo("There is no baseline.")
    else:
        again = f"; {now.n_runs} runs are evaluated again" if now.n_runs else ""
        click.echo(f"The baseline is {now.baseline.run_name} ({now.baseline.run_id}){again}.")
