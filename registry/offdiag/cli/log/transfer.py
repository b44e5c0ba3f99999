"""`offdiag import` and `export`: results of other tools, and projects of other registries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import (
    add_shared_options,
    help_text,
    json_option,
    parse_entries,
    parse_labels,
    url_option,
)
from offdiag.cli.output import measured, print_json
from offdiag.cli.registry import database_option, opened, settings_for

if TYPE_CHECKING:
    from offdiag.importers import Dialect


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
    help="Then delete the project for good, with all its runs and datasets.",
)
@database_option
@json_option
def export(*, project: str, file: Path, delete: bool, url: str | None, as_json: bool) -> None:
    """Export PROJECT to a file for `offdiag import archive`, on either database.

    It contains all complete runs with predictions, ground truth and results, and their flags,
    costs, baselines, schedules and reports. Others can continue to work meanwhile.

    With --delete the project is then deleted, unless it changed meanwhile; it comes back with
    `offdiag import archive`. Runs that were deleted before are not in the file.
    """
    from offdiag.cli.log.archive_text import archive_dict, exported_sentence
    from offdiag.services.retention.project_archives import delete_exported, export_project

    with opened(settings_for(url)) as database:
        with measured(f"Exporting {project}") as progress:
            manifest = export_project(database, project, file, progress=progress)
        if delete:
            delete_exported(database, project, manifest)
    if as_json:
        print_json({**archive_dict(file, manifest), "deleted": delete})
        return
    click.echo(exported_sentence(file, manifest))
    if delete:
        click.echo(f"Project {project} is deleted. Undo: offdiag import archive {file}")


_FILE = click.Path(path_type=Path)
_OPTIONS = {
    "labels": click.option("--labels", metavar="A,B,…", help="Class names in their order."),
    "orientation": click.option(
        "--orientation",
        type=click.Choice(["actual_rows", "actual_columns"]),
        help="What the rows of the matrix are, where the file does not say it.",
    ),
    "report": click.option(
        "--report",
        type=_FILE,
        metavar="FILE",
        help="The dict of classification_report as JSON, to compare its support.",
    ),
    "artifact": click.option(
        "--artifact", metavar="PATH", help="Table of the run; of lm-eval the filter."
    ),
    "true_column": click.option("--true", "true_column", metavar="COLUMN"),
    "pred_column": click.option("--pred", "pred_column", metavar="COLUMN"),
}
_FILES_OF = {
    "sklearn": ("matrix.json", "The array as JSON, CSV or .npy."),
    "caret": ("printed.txt", "What R printed, or its table as CSV."),
    "dvclive": ("plots.json", "The records as JSON."),
    "wandb": ("wandb/offline-run-17", "The table as JSON, or the folder of the run."),
    "lm-eval": ("samples_sst2.jsonl", "What lm_eval wrote with --log_samples."),
    "hugging-face": ("predictions/", "Folder of the dataset, or the JSON file."),
    "pycm": ("saved.obj", "What `ConfusionMatrix.save_obj` wrote."),
    "csv": ("matrix.csv", "The table, whose corner names an axis."),
}
"""An example of the file of each dialect, and what it contains."""
_OF_RUN = (
    click.option("--name", required=True, help="Name of the run."),
    click.option("--dataset", required=True, help="Dataset that the model was evaluated on."),
    click.option("--project", help="Project of the run.  [default: the configured one]"),
    click.option("--model", help="Model that made the predictions."),
    click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="May be repeated."),
    click.option(
        "--key",
        "client_key",
        help="Idempotency key: a repeated call returns the run of the first one.",
    ),
    url_option,
    json_option,
)


class DialectGroup(click.Group):
    """Has a command for each dialect, in addition to those that are added to it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from offdiag.importers import DIALECTS

        return [*super().list_commands(ctx), *DIALECTS]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        from offdiag.importers import DIALECTS

        dialect = DIALECTS.get(name)
        if dialect is None:
            return super().get_command(ctx, name)
        if name == "mlflow":
            from offdiag.cli.log.import_mlflow import mlflow as command
        else:
            command = _command(dialect)
        add_shared_options(command)
        return command


@click.group(name="import", cls=DialectGroup)
def importing() -> None:
    """Import results of another tool, or a project of another registry.

    Results of another tool become a run that stores the convention by which they were read.
    """


@help_text(
    "import archive fraud.zip --as fraud-2025",
    see=("export", "db restore"),
    arguments={"file": "File that `offdiag export` wrote."},
)
@importing.command()
@click.argument("file", type=_FILE)
@click.option("--as", "name", metavar="NAME", help="New name of the project.")
@database_option
@json_option
def archive(*, file: Path, name: str | None, url: str | None, as_json: bool) -> None:
    """Import a project that `offdiag export` wrote: all of it, or nothing.

    What the registry has already is skipped, so importing twice is the same as once. The file
    is checked first, and its results are recomputed.
    """
    from offdiag.cli.log.archive_text import imported_sentence, taken_over_dict
    from offdiag.services.retention.project_archives import import_project

    with (
        opened(settings_for(url)) as database,
        measured(f"Importing {file.name}") as progress,
    ):
        taken = import_project(database, file, name=name, progress=progress)
    if as_json:
        print_json(taken_over_dict(taken))
    else:
        click.echo(imported_sentence(taken))


def _command(dialect: Dialect) -> click.Command:
    def store(*, file: Path, as_json: bool, tags: tuple[str, ...], **given: Any) -> None:
        from offdiag.cli.log.import_file import import_file

        given |= {"labels": parse_labels(given["labels"]), "tags": parse_entries(tags, "tag")}
        import_file(dialect.name, file, as_json=as_json, **given)

    command: Any = store
    for option in (*reversed(_OF_RUN), *(_OPTIONS[name] for name in reversed(dialect.takes))):
        command = option(command)
    command = click.argument("file", type=_FILE)(command)
    summary = f"Import {dialect.title}."
    made = click.command(dialect.name, help=f"{summary}\n\n{dialect.convention}")(command)
    example, about = _FILES_OF[dialect.name]
    return help_text(
        f"import {dialect.name} {example} --name xgb-17 --dataset holdout",
        see=("log", "runs show"),
        arguments={"file": about},
    )(made)
