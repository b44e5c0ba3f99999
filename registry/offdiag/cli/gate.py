"""`offdiag gate`: check a run or a file against conditions, for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.file_input import FileInput, file_options
from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import busy, print_json
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from offdiag.gate.conditions import Condition
    from offdiag.services.cost_matrices import CostName
    from offdiag.services.gate import GateResult, StatedCosts
    from offdiag.settings import Settings


@help_text(
    "gate r_4bcd6fgh8jkm --min 'recall[ill]>=0.8' --min 'low(mcc)>=0.5'",
    "gate --file predictions.csv --min 'balanced_accuracy>=0.7' --json",
    see=("evaluate", "compare"),
    arguments={"run_id": "Id of the run; none with --file."},
    no="a condition failed",
    note=(
        "Conditions: recall[df]>=0.8, low(mcc)>=0.5, high(error_rate)<=0.1, "
        "diff(f1[df])>=-0.02, low(diff(mcc))>=-0.05, mean_cost<=2.5, no-flag F4, "
        "no-warning."
    ),
)
@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option(
    "--min",
    "--require",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help="A condition to check. May be repeated.",
)
@click.option(
    "--baseline",
    metavar="RUN",
    help="Run that diff(…) and F14 compare with.  [default: the baseline of the dataset]",
)
@click.option(
    "--cost-matrix",
    metavar="NAME[@VERSION]",
    help="Stored cost matrix.  [default: that of the dataset]",
)
@click.option(
    "--weights",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Cost matrix as TOML, JSON or CSV.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the evaluation of a run.",
)
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="Check the predictions or the matrix in this file; no registry is used.",
)
@file_options
@url_option
@json_option
def gate(
    *,
    run_id: str | None,
    conditions: tuple[str, ...],
    baseline: str | None,
    cost_matrix: str | None,
    weights: Path | None,
    timeout: float,
    file: Path | None,
    url: str | None,
    as_json: bool,
    **stated: Any,
) -> None:
    """Check RUN, or a file, against conditions.

    A condition compares a metric, one end of its interval, or its difference to the baseline
    with a number, or requires that a rule raised no flag. A condition on an undefined value
    fails.
    """
    if (run_id is None) == (file is None):
        raise click.UsageError("Name a run, or a file with --file.")
    if file is not None and baseline is not None:
        raise click.UsageError(
            "A file has no examples in common with a run; leave --baseline out."
        )
    if cost_matrix is not None and (weights is not None or file is not None):
        raise click.UsageError("Give --cost-matrix for a stored run, or --weights.")
    from offdiag.cli.audit_tables import print_gate
    from offdiag.gate.conditions import parse_condition
    from offdiag.services.cost_matrices import CostName

    asked = [parse_condition(text) for text in conditions]
    weighed = None if weights is None else _stated_costs(weights)
    if file is not None:
        given = FileInput(file=file, **stated)
        with busy(f"Checking {file.name}"):
            result = _check_file(given, asked, weighed, settings_for(None))
    else:
        costs = weighed if cost_matrix is None else CostName.parse(cost_matrix)
        with busy(f"Checking {run_id}"):
            result = _check_run(
                str(run_id), asked, baseline, costs, timeout_s=timeout, settings=settings_for(url)
            )
    if as_json:
        print_json(result.to_dict())
    else:
        print_gate(result)
    if not result.passed:
        click.get_current_context().exit(1)


def _stated_costs(file: Path) -> StatedCosts:
    from offdiag.inputs.files.costs import read_weights
    from offdiag.services.gate import StatedCosts

    found = read_weights(file)
    return StatedCosts(found.weights, found.currency)


def _check_file(
    given: FileInput,
    conditions: Sequence[Condition],
    costs: StatedCosts | None,
    settings: Settings,
) -> GateResult:
    from offdiag.services.flags.rules import thresholds_in
    from offdiag.services.gate import gate_matrix

    matrix = given.evaluated().matrix
    return gate_matrix(matrix, conditions, costs=costs, thresholds=thresholds_in(settings.flags))


def _check_run(
    run_id: str,
    conditions: Sequence[Condition],
    baseline: str | None,
    costs: StatedCosts | CostName | None,
    *,
    timeout_s: float,
    settings: Settings,
) -> GateResult:
    from offdiag.services.flags.rules import thresholds_in
    from offdiag.services.gate import gate_run
    from offdiag.services.jobs.attempts import RetryPolicy

    with opened(settings) as database:
        return gate_run(
            database,
            run_id,
            conditions,
            baseline_id=baseline,
            costs=costs,
            thresholds=thresholds_in(settings.flags),
            timeout_s=timeout_s,
            lease_s=settings.jobs.lease_s,
            policy=RetryPolicy(max_attempts=settings.jobs.max_attempts),
        )
