"""`offdiag import mlflow`: the folder of a run, or the runs of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from offdiag.cli.options import (
    help_text,
    json_option,
    option_of,
    parse_entries,
    parse_labels,
    url_option,
)
from offdiag.cli.output import busy, print_json, print_tables, printable
from offdiag.cli.tables import open_table
from offdiag.errors import InvalidInput

if TYPE_CHECKING:
    from offdiag.sdk.integrations.mlflow import MlflowImport


@help_text(
    "import mlflow --tracking-uri http://localhost:5000 --experiment lesions --all",
    "import mlflow --experiment lesions --all --dataset holdout --true diagnosis",
    "import mlflow mlruns/0/17 --name xgb-17 --dataset holdout",
    see=("log", "import wandb", "runs show"),
    arguments={"file": "Folder of one run, instead of --experiment."},
    no="a run could not be imported",
    note="Columns with usual names are recognised, such as label and prediction, and named in "
    "the output; --true and --pred name others.",
)
@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--tracking-uri",
    metavar="URI",
    help="Folder, sqlite:///FILE or http:// address.  [default: MLflow's own]",
)
@click.option("--experiment", metavar="NAME", help="Name or id of the experiment.")
@click.option("--all", "every", is_flag=True, help="Import all runs of the experiment.")
@click.option("--name", help="Name of the run; needed with FILE.")
@click.option(
    "--dataset",
    help="Dataset that the models were evaluated on; needed with FILE.  [default: the experiment]",
)
@click.option("--project", help="Project of the runs.  [default: the configured one]")
@click.option("--model", help="Model that made the predictions.")
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="May be repeated.")
@click.option("--labels", metavar="A,B,…", help="Class names in their order.")
@click.option("--true", "true_column", metavar="COLUMN", help="Column of the actual class.")
@click.option("--pred", "pred_column", metavar="COLUMN", help="Column of the predicted class.")
@click.option("--artifact", metavar="PATH", help="Artifact of the runs.")
@click.option(
    "--orientation",
    type=click.Choice(["actual_rows", "actual_columns"]),
    help="What the rows of the matrix are, where the file does not say it.",
)
@click.option(
    "--key",
    "client_key",
    help="Idempotency key of the run in FILE; runs of an experiment have one.",
)
@url_option
@json_option
def mlflow(
    *,
    file: Path | None,
    tracking_uri: str | None,
    experiment: str | None,
    every: bool,
    name: str | None,
    client_key: str | None,
    labels: str | None,
    tags: tuple[str, ...],
    as_json: bool,
    **given: Any,
) -> None:
    """Import the runs of an MLflow experiment, or the run in the folder FILE.

    Each run becomes a run here with its predictions or confusion matrix, parameters, last
    metrics and tags. Importing again adds only what is new. Runs that cannot be imported are
    listed with the reason.

    The evaluation table has the actual class of a sample in one column, the predicted one in
    another; a logged matrix must name its axes.
    """
    given |= {"labels": parse_labels(labels), "tags": parse_entries(tags, "tag")}
    if file is not None:
        _require(file, tracking_uri, experiment, name, given["dataset"])
        from offdiag.cli.log.import_file import import_file

        import_file("mlflow", file, name=name, client_key=client_key, as_json=as_json, **given)
        return
    if experiment is None or not every:
        raise InvalidInput(
            "nothing says which runs to import.",
            field="experiment",
            hint="Give --experiment NAME and --all, or the folder of a run.",
        )
    if name is not None or client_key is not None:
        raise InvalidInput(
            "the runs of an experiment keep their names.",
            field="name" if name is not None else "key",
            hint="Leave it out.",
        )
    if _import_all(experiment, tracking_uri, given, as_json=as_json):
        click.get_current_context().exit(1)


def _require(
    file: Path, tracking_uri: str | None, experiment: str | None, *needed: str | None
) -> None:
    if tracking_uri is not None or experiment is not None:
        raise InvalidInput(
            f"{str(file)!r} and an experiment are two things to import.",
            field="file",
            hint="Give one of them.",
        )
    for field, value in zip(("name", "dataset"), needed, strict=True):
        if value is None:
            raise InvalidInput(f"--{field} is missing.", field=field, hint="FILE needs it.")


def _import_all(
    experiment: str, tracking_uri: str | None, given: dict[str, Any], *, as_json: bool
) -> int:
    """Import, report, and count the runs that could not be imported."""
    from offdiag.sdk.integrations.mlflow import import_experiment

    with busy(f"Importing {experiment}"):
        outcomes = list(import_experiment(experiment, tracking_uri=tracking_uri, **given))
    refused = [outcome for outcome in outcomes if outcome.run is None]
    if as_json:
        print_json({"experiment": experiment, "runs": [_document(found) for found in outcomes]})
        return len(refused)
    table = open_table()
    for header in ("MLflow run", "run", "result"):
        table.add_column(header)
    for outcome in outcomes:
        run_id = "" if outcome.run is None else outcome.run.id
        table.add_row(Text(printable(outcome.name)), run_id, Text(printable(_said(outcome))))
    print_tables(table)
    n_known = sum(outcome.already_imported for outcome in outcomes)
    click.echo(
        f"{len(outcomes) - n_known - len(refused)} imported, {n_known} imported before, "
        f"{len(refused)} not imported"
    )
    return len(refused)


def _said(outcome: MlflowImport) -> str:
    if outcome.problem is not None:
        return f"not imported: {_problem(outcome.problem)}"
    if outcome.already_imported:
        return "imported before"
    if outcome.columns is None:
        return f"confusion matrix {outcome.artifact}"
    true, pred = outcome.columns
    return f"{outcome.artifact}: y_true = {true}, y_pred = {pred}"


def _problem(text: str) -> str:
    """The problem of a run, which may begin with the argument that is amiss, by its option."""
    field, colon, rest = text.partition(": ")
    return f"{option_of(field)}{colon}{rest}"


def _document(outcome: MlflowImport) -> dict[str, Any]:
    true, pred = outcome.columns or (None, None)
    return {
        "mlflow_run_id": outcome.mlflow_run_id,
        "name": outcome.name,
        "id": None if outcome.run is None else outcome.run.id,
        "already_existed": outcome.already_imported,
        "artifact": outcome.artifact,
        "true_column": true,
        "pred_column": pred,
        "problem": None if outcome.problem is None else _problem(outcome.problem),
    }
