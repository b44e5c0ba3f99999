"""`offdiag import` and `export`: results of other tools, and projects of other registries."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.call import Call, database_options
from offdiag.cli.options import (
    LoadingGroup,
    add_shared_options,
    help_text,
    json_option,
    labels_option,
    option_of,
    orientation_option,
    parse_labels,
    parse_tags,
    run_name_option,
    tag_option,
    url_option,
    with_options,
)
from offdiag.cli.output import busy, measured, note, print_json, print_tables
from offdiag.cli.tables import filled_table
from offdiag.domain.sentences import visible
from offdiag.errors import InvalidInput, OffdiagError

if TYPE_CHECKING:
    from offdiag.importers import Dialect, Imported
    from offdiag.sdk.integrations.mlflow import MlflowImport
    from offdiag.sdk.run import Run


@help_text(
    "export fraud --to fraud.zip",
    "export fraud --to fraud.zip --delete",
    see=("import archive", "db backup"),
    arguments={"project": "Name of the project."},
)
@click.command()
@click.argument("project")
@click.option(
    "--to",
    "file",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="File to write; it must not exist yet.",
)
@click.option(
    "--delete",
    is_flag=True,
    help="Then delete the project permanently, with all its runs and datasets.",
)
@database_options
def export(*, project: str, file: Path, delete: bool, call: Call) -> None:
    """Export PROJECT to a file for `offdiag import archive`, on SQLite or PostgreSQL.

    It contains all complete runs with predictions, ground truth and results, and their flags,
    costs, baselines, schedules and reports. Others can keep working meanwhile.

    With --delete, the project is then deleted, unless it has changed meanwhile; `offdiag import
    archive` restores it. Runs that were deleted before are not in the file.
    """
    from offdiag.cli.log.archive_text import archive_dict, exported_sentence
    from offdiag.services.retention.project_archives import delete_exported, export_project

    with call.opened() as database:
        with measured(f"Exporting {project}") as progress:
            manifest = export_project(database, project, file, progress=progress)
        if delete:
            with busy(f"Deleting {project}"):
                delete_exported(database, project, manifest)
    shown = [exported_sentence(file, manifest)]
    if delete:
        undo = f"offdiag import archive {shlex.quote(str(file))}"
        shown.append(f"Project {project} is deleted. Undo: {undo}")
    call.print({**archive_dict(file, manifest), "deleted": delete}, shown)


_FILE = click.Path(path_type=Path)
_OPTIONS = {
    "labels": labels_option,
    "orientation": orientation_option,
    "report": click.option(
        "--report",
        type=_FILE,
        metavar="FILE",
        help="The dict of classification_report as JSON, to compare its support.",
    ),
    "artifact": click.option(
        "--artifact",
        metavar="PATH",
        help="Which table of the run, or filter of the samples, if there are several.",
    ),
    "true_column": click.option(
        "--true", "true_column", metavar="COLUMN", help="Column of the actual classes."
    ),
    "pred_column": click.option(
        "--pred", "pred_column", metavar="COLUMN", help="Column of the predicted classes."
    ),
}
_OF_RUN = (
    run_name_option,
    click.option("--dataset", required=True, help="Dataset that the model was evaluated on."),
    click.option("--project", help="Project of the run.  [default: the configured one]"),
    click.option("--model", help="Model that made the predictions."),
    tag_option,
    click.option(
        "--key",
        "client_key",
        help="Idempotency key: repeating the call returns the run that the first call stored.",
    ),
    url_option,
    json_option,
)


class DialectGroup(LoadingGroup):
    """Has a command for each dialect, in addition to the commands that are added to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from offdiag.importers import DIALECTS

        return [*super().list_commands(ctx), *DIALECTS]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        from offdiag.importers import DIALECTS

        dialect = DIALECTS.get(name)
        if dialect is None:
            return super().get_command(ctx, name)
        command = mlflow if name == "mlflow" else _command(dialect)
        add_shared_options(command)
        return command


@click.group(name="import", cls=DialectGroup)
def importing() -> None:
    """Import results of another tool, or a project of another registry.

    Results of another tool become a run, which records the convention used to read them.
    """


@help_text(
    "import archive fraud.zip --as fraud-2025",
    see=("export", "db restore"),
    arguments={"file": "File that `offdiag export` wrote."},
)
@importing.command()
@click.argument("file", type=_FILE)
@click.option("--as", "name", metavar="NAME", help="New name of the project.")
@database_options
def archive(*, file: Path, name: str | None, call: Call) -> None:
    """Import a project that `offdiag export` wrote: all of it, or nothing.

    Anything that the registry already has is skipped, so importing twice has the same effect as
    importing once. The file is checked first, and its results are recomputed.
    """
    from offdiag.cli.log.archive_text import imported_sentence, taken_over_dict
    from offdiag.services.retention.project_archives import import_project

    with (
        call.opened() as database,
        measured(f"Importing {file.name}") as progress,
    ):
        taken = import_project(database, file, name=name, progress=progress)
    call.print(taken_over_dict(taken), imported_sentence(taken))


def _command(dialect: Dialect) -> click.Command:
    def store(*, file: Path, as_json: bool, tags: tuple[str, ...], **given: Any) -> None:
        given |= {"labels": parse_labels(given["labels"]), "tags": parse_tags(tags)}
        import_file(dialect.name, file, as_json=as_json, **given)

    taken = [_OPTIONS[name] for name in dialect.takes]
    command = with_options(click.argument("file", type=_FILE), *taken, *_OF_RUN)(store)
    summary = f"Import {dialect.title}."
    made = click.command(dialect.name, help=f"{summary}\n\n{dialect.convention}")(command)
    return help_text(
        f"import {dialect.name} {dialect.example} --name xgb-17 --dataset holdout",
        see=("log", "runs show"),
        arguments={"file": dialect.about},
    )(made)


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
@run_name_option
@click.option(
    "--dataset",
    help="Dataset that the models were evaluated on; needed with FILE.  [default: the experiment]",
)
@click.option("--project", help="Project of the runs.  [default: the configured one]")
@click.option("--model", help="Model that made the predictions.")
@tag_option
@labels_option
@click.option("--true", "true_column", metavar="COLUMN", help="Column of the actual class.")
@click.option("--pred", "pred_column", metavar="COLUMN", help="Column of the predicted class.")
@click.option(
    "--artifact", metavar="PATH", help="Which artifact of each run, if there are several."
)
@orientation_option
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
    given |= {"labels": parse_labels(labels), "tags": parse_tags(tags)}
    if file is not None:
        _require(file, tracking_uri, experiment, given["dataset"])
        import_file("mlflow", file, name=name, client_key=client_key, as_json=as_json, **given)
        return
    if experiment is None or not every:
        raise InvalidInput(
            "no runs to import are named.",
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
    file: Path, tracking_uri: str | None, experiment: str | None, dataset: str | None
) -> None:
    if tracking_uri is not None or experiment is not None:
        raise InvalidInput(
            f"import {str(file)!r} or an experiment, not both.",
            field="file",
            hint="Give one of them.",
        )
    if dataset is None:
        raise InvalidInput("--dataset is missing.", field="dataset", hint="FILE needs it.")


def _import_all(
    experiment: str, tracking_uri: str | None, given: dict[str, Any], *, as_json: bool
) -> int:
    """Import, report, and count the runs that could not be imported."""
    from offdiag.sdk.integrations.mlflow import import_experiment

    with busy(f"Importing {experiment}"):
        outcomes = import_experiment(experiment, tracking_uri=tracking_uri, **given)
    refused = [outcome for outcome in outcomes if outcome.run is None]
    if as_json:
        print_json({"experiment": experiment, "runs": [_document(found) for found in outcomes]})
        return len(refused)
    print_tables(
        filled_table(
            ("MLflow run", "run", "result"),
            (
                (each.name, "" if each.run is None else each.run.id, _said(each))
                for each in outcomes
            ),
        )
    )
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
    """The problem of a run; a wrong argument at its beginning is given as its option."""
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


def import_file(dialect: str, file: Path, *, as_json: bool, **given: Any) -> None:
    """Log the content of a file of another tool, and report how it was read.

    `given` are the arguments of the dialect and of `log_imported`.
    """
    from offdiag.importers import DIALECTS, read
    from offdiag.sdk.logging import log_imported

    stated = {name: given.pop(name) for name in DIALECTS[dialect].takes}
    try:
        with busy(f"Importing {file.name}"):
            found = read(dialect, file, **stated)
            run = log_imported(found, **given)
    except OffdiagError as error:
        error.field = option_of(error.field)
        raise
    _report(found, run, as_json=as_json)


def _report(found: Imported, run: Run, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "id": run.id,
                "url": run.url,
                "dialect": found.dialect,
                "convention": found.convention,
                "source": str(found.source),
            }
        )
        return
    note(f"Read as {found.dialect}: {found.convention}")
    columns = getattr(found.content, "columns", None)
    if columns is not None:
        note(f"y_true = {visible(columns[0])}, y_pred = {visible(columns[1])}")
    click.echo(f"{run.id} is logged; its page is {run.url}")
