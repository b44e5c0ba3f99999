"""`offdiag hierarchy …`: groups of the classes of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.options import help_text, json_option
from offdiag.cli.output import print_json
from offdiag.cli.registry import database_option, opened, settings_for

if TYPE_CHECKING:
    from offdiag.domain.hierarchy import Group, Hierarchy

_project = click.option("--project", help="Project of the dataset.  [default: the configured one]")


@click.group()
def hierarchy() -> None:
    """Show and set the class hierarchy of a dataset.

    Groups can be collapsed to one class each on the pages of runs. No result changes.
    """


@help_text("hierarchy show animals", see=("hierarchy set",))
@hierarchy.command()
@click.argument("dataset")
@_project
@database_option
@json_option
def show(dataset: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Show the groups of classes of DATASET."""
    from offdiag.services.datasets import hierarchy_of

    settings = settings_for(url)
    with opened(settings) as database:
        found = hierarchy_of(database, project=project or settings.project, dataset=dataset)
    _print(found, as_json=as_json)


@help_text(
    "hierarchy set animals groups.json",
    see=("hierarchy show", "hierarchy clear"),
    arguments={"file": "Groups of classes as JSON or TOML."},
)
@hierarchy.command(name="set")
@click.argument("dataset")
@click.argument("file", type=click.Path(path_type=Path))
@_project
@database_option
@json_option
def set_groups(
    dataset: str, file: Path, project: str | None, url: str | None, as_json: bool
) -> None:
    """Set the class hierarchy of DATASET to that in FILE.

    FILE is JSON or TOML: names of groups with lists of classes or with further groups, such as
    {"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}.
    """
    from offdiag.inputs.files.json_files import read_hierarchy
    from offdiag.services.datasets import set_hierarchy

    settings, given = settings_for(url), read_hierarchy(file)
    with opened(settings) as database:
        place = project or settings.project
        found = set_hierarchy(database, project=place, dataset=dataset, given=given)
    _print(found, as_json=as_json)


@help_text("hierarchy clear animals", see=("hierarchy set", "hierarchy show"))
@hierarchy.command()
@click.argument("dataset")
@_project
@database_option
@json_option
def clear(dataset: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Remove the class hierarchy of DATASET."""
    from offdiag.services.datasets import set_hierarchy

    settings = settings_for(url)
    with opened(settings) as database:
        set_hierarchy(database, project=project or settings.project, dataset=dataset, given=None)
    _print(None, as_json=as_json)


def _print(found: Hierarchy | None, *, as_json: bool) -> None:
    if as_json:
        print_json({"hierarchy": None if found is None else found.to_dict()})
    elif found is None:
        click.echo("The classes are in no groups.")
    else:
        for group in found.groups:
            _print_group(group, depth=0)


def _print_group(group: Group, *, depth: int) -> None:
    from offdiag.cli.output import printable

    indent = "  " * depth
    classes = [member for member in group.members if isinstance(member, str)]
    inside = f": {', '.join(printable(name) for name in classes)}" if classes else ""
    click.echo(f"{indent}{printable(group.name)}{inside}")
    for member in group.members:
        if not isinstance(member, str):
            _print_group(member, depth=depth + 1)
