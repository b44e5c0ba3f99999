"""`offdiag gate`: check a run or a file against conditions, for pipelines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, tostring

import click
from rich.table import Table
from rich.text import Text

from offdiag.cli.call import Call, registry_options, settings_for
from offdiag.cli.documents import Server, connected, ids_of_runs
from offdiag.cli.file_input import (
    FileInput,
    ScoreInput,
    file_options,
    no_pred_option,
    score_options,
)
from offdiag.cli.options import help_text, timeout_option
from offdiag.cli.output import busy
from offdiag.cli.tables import filled_table
from offdiag.domain.number_text import beside
from offdiag.domain.sentences import markdown_escaped, visible
from offdiag.domain.values import Reason, reason_text
from offdiag.errors import InvalidInput, NotFound
from offdiag.filters.conditions import Side
from offdiag.gate.conditions import MetricCondition, parse_condition
from offdiag.inputs.files.costs import read_weights
from offdiag.records.cost import plain_weights
from offdiag.records.gate import CheckedCondition, Gate, GateRequest, asked_gate, gate_document
from offdiag.sdk.remote.connection import once_evaluated

if TYPE_CHECKING:
    from offdiag.gate.evaluate_conditions import Finding


@help_text(
    "gate r_4bcd6fgh8jkm --min 'recall[ill]>=0.8' --min 'low(mcc)>=0.5'",
    "gate --file predictions.csv --min 'balanced_accuracy>=0.7' --json",
    see=("evaluate", "compare"),
    arguments={"run_id": "Id or name of the run; omit it with --file."},
    no="a condition failed",
    note=(
        "Conditions: recall[df]>=0.8, low(mcc)>=0.5, high(error_rate)<=0.1, "
        "diff(f1[df])>=-0.02, low(diff(mcc))>=-0.05, recall[df]@site=z>=0.7, "
        "worst(recall[df], by=site)>=0.7, gap(recall[df], by=sex)<=0.1, mean_cost<=2.5, "
        "no-flag F4, no-warning."
    ),
)
@click.command()
@click.argument("run_id", metavar="[RUN]", callback=ids_of_runs, required=False)
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
    callback=ids_of_runs,
    help="Run that diff(…) and F14 compare with, or champion.  [default: the baseline of the "
    "dataset]",
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
@timeout_option("How long to wait for the evaluation of a run.")
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="Check the predictions or the matrix in this file; no registry is used.",
)
@click.option(
    "--markdown", is_flag=True, help="Print the result as Markdown, for a comment or a summary."
)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write the result as JUnit XML, with one test per condition.",
)
@file_options
@no_pred_option
@score_options
@registry_options
def gate(
    *,
    run_id: str | None,
    conditions: tuple[str, ...],
    baseline: str | None,
    cost_matrix: str | None,
    weights: Path | None,
    timeout: float,
    file: Path | None,
    markdown: bool,
    junit: Path | None,
    no_pred: bool,
    score_columns: tuple[str, ...],
    positive_label: str | None,
    call: Call,
    **stated: Any,
) -> None:
    """Check RUN, or a file, against conditions.

    A condition compares a metric, one end of its interval, or its difference from the baseline
    with a number, or requires that a rule raised no flag. A condition on an undefined value fails.
    """
    if (run_id is None) == (file is None):
        raise click.UsageError("Name a run, or a file with --file.")
    if file is not None and baseline is not None:
        raise click.UsageError(
            "A file has no examples in common with a run; leave --baseline out."
        )
    if cost_matrix is not None and (weights is not None or file is not None):
        raise click.UsageError("Give --cost-matrix for a stored run, or --weights.")
    if markdown and call.as_json:
        raise click.UsageError("Give --markdown or --json.")
    given = None if file is None else FileInput(file=file, **stated)
    scores = _scores(given, score_columns, positive_label, no_pred=no_pred)
    if given is not None:
        with busy(f"Checking {given.file.name}"):
            found = _check_file(given, conditions, weights, scores)
    else:
        with busy(f"Checking {run_id}"):
            asked = _asked(conditions, baseline, cost_matrix, weights)
            found = _check_run(call.url, str(run_id), asked, timeout_s=timeout)
    if junit is not None:
        _write(junit, junit_xml(found))
    if markdown:
        click.echo(gate_markdown(found), nl=False)
    else:
        call.print(found, gate_table(found))
    if not found.passed:
        click.get_current_context().exit(1)


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise InvalidInput(
            f"{str(file)!r} cannot be written: {error.strerror or error}.",
            field="junit",
            hint="Name a file in a folder that exists.",
        ) from None


def _asked(
    conditions: tuple[str, ...],
    baseline: str | None,
    cost_matrix: str | None,
    weights: Path | None,
) -> GateRequest:
    for text in conditions:
        parse_condition(text)
    stated = None if weights is None else read_weights(weights)
    return GateRequest.model_construct(
        conditions=list(conditions),
        baseline=baseline,
        cost_matrix=cost_matrix,
        weights=None if stated is None else plain_weights(stated.weights),
        currency=None if stated is None else stated.currency,
    )


def _scores(
    given: FileInput | None,
    columns: tuple[str, ...],
    positive_label: str | None,
    *,
    no_pred: bool,
) -> ScoreInput | None:
    if not columns and no_pred:
        raise InvalidInput(
            "scores decide the predictions.", field="--no-pred", hint="Name them with --score."
        )
    if not columns:
        if positive_label is None:
            return None
        raise InvalidInput(
            "it is for scores.", field="--positive", hint="Add --score, or leave out --positive."
        )
    if given is None:
        raise click.UsageError("--score is for --file; a stored run has its scores.")
    if given.has_matrix:
        raise InvalidInput(
            "a matrix has no scores.", field="--score", hint="Give a file of predictions."
        )
    return ScoreInput(
        file=given.file,
        true_column=given.true_column,
        score_columns=columns,
        labels=given.labels,
        positive_label=positive_label,
        decides=no_pred,
    )


def _check_file(
    given: FileInput,
    conditions: tuple[str, ...],
    weights: Path | None,
    scores: ScoreInput | None,
) -> Gate:
    from offdiag.services.flags.rules import rules_in_force
    from offdiag.services.gates.gate import StatedCosts, gate_matrix
    from offdiag.services.gates.slices import SlicedPredictions, columns_named

    stated = None if weights is None else read_weights(weights)
    parsed = [parse_condition(text) for text in conditions]
    if scores is not None and scores.decides:
        given = replace(given, predicted=scores.predicted())
    matrix, names = given.evaluated().matrix, columns_named(parsed)
    forecasts = None if scores is None else scores.scored(matrix.labels).forecasts
    samples = None
    if names and not given.has_matrix:
        samples = SlicedPredictions(*given.by_columns(sorted(names), matrix.labels), forecasts)
    found = gate_matrix(
        matrix,
        parsed,
        costs=None if stated is None else StatedCosts(stated.weights, stated.currency),
        thresholds=rules_in_force().thresholds,
        samples=samples,
        forecasts=forecasts,
    )
    if scores is None and not given.has_matrix:
        found = replace(found, findings=tuple(map(_with_score_option, found.findings)))
    return gate_document(found)


def _with_score_option(finding: Finding) -> Finding:
    """The finding, with the option that is missing if it is about scores."""
    if finding.reason != Reason.NO_SCORES.value:
        return finding
    return replace(finding, note="name the scores in the file with --score COLUMN")


def _check_run(url: str | None, run_id: str, asked: GateRequest, *, timeout_s: float) -> Gate:
    try:
        with connected(url) as registry:
            if isinstance(registry, Server):
                return once_evaluated(
                    lambda: registry.ask(f"/runs/{run_id}/gate", Gate, asked, method="POST"),
                    run_id,
                    timeout_s=timeout_s,
                )
            return asked_gate(registry, run_id, asked, settings_for(None), timeout_s=timeout_s)
    except NotFound as error:
        if error.field != "run" or not Path(run_id).is_file():
            raise
        raise NotFound(
            f"there is no run {run_id!r}, but a file of this name.",
            field="run",
            hint=f"Check it with --file {run_id}.",
        ) from None


def gate_table(gate: Gate) -> Table:
    """One line for each condition, and the outcome below."""
    return filled_table(
        ("", "condition", "found", "note"),
        (
            (
                Text("passed") if each.passed else Text("FAILED", style="bold"),
                each.condition,
                _found(each),
                each.note,
            )
            for each in gate.conditions
        ),
        caption=f"{_outcome(gate)}{_not_paired(gate)}{_against(gate)}",
    )


def gate_markdown(gate: Gate) -> str:
    """The same as a Markdown heading and table, with the ids of run and baseline below."""
    lines = [
        f"### Gate {_outcome(gate).lower()}",
        "",
        "| | condition | found | note |",
        "| --- | --- | --- | --- |",
    ]
    for each in gate.conditions:
        outcome = "passed" if each.passed else "**FAILED**"
        cells = map(markdown_escaped, (each.condition, _found(each), each.note))
        lines.append(f"| {' | '.join((outcome, *cells))} |")
    ids = {"Run": gate.run, "baseline": gate.baseline, "champion": gate.champion}
    about = ", ".join(f"{name} `{run_id}`" for name, run_id in ids.items() if run_id is not None)
    below = f"{about}.{_not_paired(gate)}" if about else ""
    return "\n".join([*lines, *(["", below] if below else []), ""])


def junit_xml(gate: Gate) -> bytes:
    """One suite with a test for each condition; the failure contains what was found."""
    failed = sum(not each.passed for each in gate.conditions)
    counts = {"tests": str(len(gate.conditions)), "failures": str(failed)}
    suites = Element("testsuites", counts)
    suite = SubElement(suites, "testsuite", {"name": "offdiag gate", **counts})
    for each in gate.conditions:
        name = visible(each.condition)
        test = SubElement(suite, "testcase", {"classname": "offdiag.gate", "name": name})
        if not each.passed:
            found = visible(" ".join(filter(None, (_found(each), each.note))))
            SubElement(test, "failure", {"message": found})
    content: bytes = tostring(suites, encoding="utf-8", xml_declaration=True)
    return content


def _outcome(gate: Gate) -> str:
    n_passed = sum(each.passed for each in gate.conditions)
    outcome = "Passed" if gate.passed else "Failed"
    return f"{outcome}: {n_passed} of {len(gate.conditions)} conditions passed."


def _not_paired(gate: Gate) -> str:
    return "" if gate.not_paired is None else f" Not paired: {gate.not_paired}."


def _against(gate: Gate) -> str:
    if gate.champion is None:
        return ""
    if gate.champion == gate.run:
        return " The run is the champion of its dataset."
    as_baseline = " is the baseline" if gate.champion == gate.baseline else ""
    return f" Champion {gate.champion}{as_baseline}."


def _found(checked: CheckedCondition) -> str:
    """The number that was compared, with its value and interval, or why there is none."""
    value, why = checked.value, checked.reason
    if value is None:
        return "" if why is None else reason_text(why)
    if value["value"] is None:
        return f"undefined ({reason_text(why)})"
    if checked.measured is None:
        return f"{_number(value['value'])}, {reason_text(why)}"
    low, high = value.get("ci_low"), value.get("ci_high")
    interval = f"[{_end(low, '-∞')}, {_end(high, '∞')}]"
    condition, measured = parse_condition(checked.condition), _number(checked.measured)
    if isinstance(condition, MetricCondition):
        measured = beside(checked.measured, condition.threshold)
        if condition.side is not Side.VALUE:
            return f"{measured} of {_number(value['value'])} {interval}"
    has_interval = low is not None or high is not None
    return f"{measured} {interval}" if has_interval else measured


def _end(end: float | None, otherwise: str) -> str:
    return otherwise if end is None else _number(end)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"
