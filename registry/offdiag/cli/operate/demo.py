"""`offdiag demo`: a registry with real runs, and its dashboard."""

from __future__ import annotations

import logging
import shlex
import time
from pathlib import Path

import click

from offdiag.cli.call import opened, settings_for
from offdiag.cli.operate.serve import serve_until_stopped
from offdiag.cli.options import help_text
from offdiag.cli.output import counted, fits_intervals, print_tables
from offdiag.cli.read.run_tables import run_table
from offdiag.demo.experiments import (
    DIGITS,
    IN_USE,
    PROJECT,
    approve_run_in_use,
    experiments,
    judge_runs,
    log_content,
    log_trial,
    plan_report,
)
from offdiag.domain.runs import RunState
from offdiag.errors import EvaluationFailed, EvaluationPending
from offdiag.logs import log_to_stderr
from offdiag.records.runs.run_list import run_summary
from offdiag.services.reports.edition import wait_for_edition
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.run_filter import FilterField, FilterTerm
from offdiag.store.run_list import run_overview
from offdiag.store.run_rows import RunEntry

FOLDER = Path("demo-registry")


@help_text(
    "demo",
    "demo --no-serve --folder /tmp/demo",
    see=("serve", "runs list"),
    no_json="it serves until Ctrl-C",
)
@click.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    help="Folder of the registry.",
)
@click.option("--url", metavar="URL", help="Use this registry instead of a folder.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=42,
    show_default=True,
    help="Seed of the models and of the split of the data.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), help="0 takes any free port.  [default: 8642]"
)
@click.option("--no-serve", is_flag=True, help="Exit after the table of runs.")
def demo(folder: Path, url: str | None, seed: int, port: int | None, no_serve: bool) -> None:
    """Train models on real data, log and evaluate them, and serve the dashboard.

    A second call uses the runs of the first.
    """
    from offdiag_workers.process import working_in_background

    log_to_stderr(logging.WARNING)
    if url is None:
        folder.mkdir(parents=True, exist_ok=True)
        url = f"sqlite:///{folder.absolute() / 'offdiag.db'}"
    settings = _with_port(settings_for(url), port)
    with opened(settings) as database:
        log_missing_trials(database, url=url, seed=seed)
        in_use = next(
            run.id for run in demo_runs(database) if (run.dataset, run.name) == (DIGITS, IN_USE)
        )
        judge_runs(database, in_use=in_use)
        evaluated = {
            entry.id for entry in demo_runs(database) if entry.state is RunState.EVALUATED
        }
        with working_in_background(database, settings):
            entries = evaluated_entries(database, evaluated)
            approve_run_in_use(database, in_use=in_use)
            _create_report(database, settings, in_use)
            print_tables(run_table(map(run_summary, entries), with_intervals=fits_intervals()))
            if no_serve:
                click.echo(f"`offdiag serve --url {shlex.quote(database.url)}` shows these runs.")
            else:
                serve_until_stopped(
                    database,
                    settings,
                    with_worker=False,
                    announce=lambda address: click.echo(
                        f"The dashboard is at {address} (Ctrl-C stops it)"
                    ),
                    any_port_if_taken=port is None,
                )


def _with_port(settings: Settings, port: int | None) -> Settings:
    if port is None:
        return settings
    server = settings.server.model_copy(update={"port": port})
    return settings.model_copy(update={"server": server})


_LOOK_EVERY_S = 0.25
_WAIT_S = 120.0
_OF_DEMO = (FilterTerm(FilterField.PROJECT, PROJECT),)


def log_missing_trials(database: Database, *, url: str, seed: int) -> None:
    """Train and log every trial that an earlier call has not logged."""
    logged = {(run.dataset, run.name, run.tags.get("seed")) for run in demo_runs(database)}
    missing = [
        (experiment, trial)
        for experiment in experiments(seed)
        for trial in experiment.trials
        if (experiment.dataset, trial.name, experiment.seed) not in logged
    ]
    with counted("Training and logging", len(missing)) as step:
        for experiment, trial in missing:
            log_trial(experiment, trial, url=url)
            step(f"{experiment.dataset}: {trial.name}")
    for experiment in {each.dataset: each for each, _ in missing}.values():
        log_content(experiment, url=url, project=PROJECT)


def _create_report(database: Database, settings: Settings, in_use: str) -> None:
    """Schedule the weekly report and wait for its first edition, unless an earlier call has."""
    asked = plan_report(database, in_use=in_use)
    if asked is not None:
        wait_for_edition(
            database,
            asked.edition_id,
            timeout_s=_WAIT_S,
            settings=settings.jobs,
        )


def evaluated_entries(database: Database, seen: set[str]) -> list[RunEntry]:
    """All runs of the demo, once a worker has evaluated those not `seen` to be evaluated.

    Raises `EvaluationFailed`, and `EvaluationPending` after the timeout.
    """
    give_up_at = time.monotonic() + _WAIT_S
    with counted("Evaluating", len(demo_runs(database)) - len(seen)) as step:
        while True:
            entries = demo_runs(database)
            for entry in entries:
                if entry.state is RunState.FAILED:
                    raise EvaluationFailed(
                        f"run {entry.id} could not be evaluated.",
                        field="run",
                        hint=f"See: offdiag runs show {entry.id} --url {database.url}",
                    )
                if entry.state is RunState.EVALUATED and entry.id not in seen:
                    seen.add(entry.id)
                    step(f"{entry.dataset}: {entry.name}")
            if len(seen) == len(entries):
                return entries
            if time.monotonic() > give_up_at:
                raise EvaluationPending(
                    f"{len(entries) - len(seen)} runs were not evaluated in {_WAIT_S:.0f} s.",
                    hint="Run it again; nothing is lost.",
                )
            time.sleep(_LOOK_EVERY_S)


def demo_runs(database: Database) -> list[RunEntry]:
    """All runs of the demo, in the order in which they were logged."""
    with database.read() as session:
        page = run_overview(session, terms=_OF_DEMO).page
    entries = list(page.entries)
    while page.following is not None:
        with database.read() as session:
            page = run_overview(session, terms=_OF_DEMO, cursor=page.following).page
        entries.extend(page.entries)
    return entries[::-1]
