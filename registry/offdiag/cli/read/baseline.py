"""`offdiag runs baseline`: the run that all others of a dataset are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, project_option, registry_options
from offdiag.cli.documents import Server, answered, connected, ids_of_runs
from offdiag.cli.options import help_text
from offdiag.domain.texts import name_segment
from offdiag.records.base import InProject, Request
from offdiag.records.datasets.dataset import AskedAgain, Baseline, Pinning, asked_baseline
from offdiag.records.runs.run import Run
from offdiag.sdk.target import current_author

if TYPE_CHECKING:
    from offdiag.store.database import Database


@help_text(
    "runs baseline r_4bcd6fgh8jkm",
    "runs baseline --dataset holdout --clear",
    see=("compare", "gate"),
    arguments={"run_id": "Id or name of the run. Without it, the baseline of --dataset is shown."},
)
@click.command()
@click.argument("run_id", metavar="[RUN]", callback=ids_of_runs, required=False)
@click.option("--dataset", help="Show the baseline of this dataset.")
@click.option("--clear", is_flag=True, help="With --dataset: remove the baseline.")
@project_option("Project of the dataset.")
@registry_options
def baseline(
    *, run_id: str | None, dataset: str | None, clear: bool, project: str, call: Call
) -> None:
    """Set the baseline: compare all runs of its dataset with RUN, class by class.

    A run with significantly lower recall of a class gets a flag of rule F14. All runs of the
    dataset are re-evaluated.
    """
    if (run_id is None) == (dataset is None) or (clear and dataset is None):
        raise click.UsageError("Name a run, or a dataset with --dataset.")
    with connected(call.url) as registry:
        if run_id is None and not clear:
            found, n_runs = _baseline(registry, project, str(dataset)), 0
        elif isinstance(registry, Server):
            found, n_runs = _pinned_on_server(registry, run_id, project, dataset)
        else:
            found, n_runs = _pinned(registry, run_id, project, dataset)
    runs = "1 run is" if n_runs == 1 else f"{n_runs} runs are"
    again = f"; {runs} re-evaluated" if n_runs else ""
    call.print(
        {"baseline": found.run, "runs_asked": n_runs},
        "There is no baseline."
        if found.run is None
        else f"The baseline is {found.run_name} ({found.run}){again}.",
    )


def _baseline(registry: Database | Server, project: str, dataset: str) -> Baseline:
    request = Request(
        f"/datasets/{name_segment(dataset)}/baseline",
        Baseline,
        lambda at: asked_baseline(at, project, dataset),
        InProject(project=project),
    )
    return answered(registry, request)


def _pinned_on_server(
    server: Server, run_id: str | None, project: str, dataset: str | None
) -> tuple[Baseline, int]:
    if run_id is not None:
        run = server.ask(f"/runs/{run_id}", Run)
        project, dataset = run.project, run.dataset
    asked = server.ask(
        f"/datasets/{name_segment(str(dataset))}/baseline",
        AskedAgain,
        Pinning(project=project, run=run_id, author=current_author()),
        method="PUT",
    )
    return _baseline(server, project, str(dataset)), asked.n_runs


def _pinned(
    database: Database, run_id: str | None, project: str, dataset: str | None
) -> tuple[Baseline, int]:
    from offdiag.services.datasets import pin_baseline, unpin_baseline

    if run_id is None:
        now = unpin_baseline(database, project=project, dataset=str(dataset))
        return Baseline(run=None, run_name=None), now.n_runs
    now = pin_baseline(database, run_id, author=current_author())
    pinned = now.baseline
    assert pinned is not None  # noqa: S101  # It was pinned just now.
    return Baseline(run=pinned.run_id, run_name=pinned.run_name), now.n_runs
