"""`offdiag export`: a project as one file."""

from __future__ import annotations

from pathlib import Path

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import measured, print_json


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
@url_option
@json_option
def export(*, project: str, file: Path, url: str | None, as_json: bool) -> None:
    """Write PROJECT into one file that `offdiag import archive` reads, on either database.

    In it are all complete runs with predictions, truth and results, and what people made of
    them: flags, costs, baselines, schedules and reports. Others go on working meanwhile.
    """
    from offdiag.cli.archive_text import archive_dict, exported_sentence
    from offdiag.cli.registry import opened
    from offdiag.services.retention.project_archives import export_project

    with (
        opened(settings_for(url)) as database,
        measured(f"Exporting {project}") as progress,
    ):
        manifest = export_project(database, project, file, progress=progress)
    if as_json:
        print_json(archive_dict(file, manifest))
    else:
        click.echo(exported_sentence(file, manifest))
