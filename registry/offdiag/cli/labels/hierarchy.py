"""`offdiag hierarchy …`: groups of the classes of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, database_options, project_option
from offdiag.cli.options import help_text
from offdiag.domain.sentences import visible

if TYPE_CHECKING:
    from offdiag.domain.hierarchy import Group, Hierarchy

_project = project_option("Project of the dataset.")


@click.group()
def hierarchy() -> None:
    """Show and set the class hierarchy of a dataset.

    Groups can be collapsed to one class each on the pages of runs. No result changes.
    """


@help_text("hierarchy show animals", see=("hierarchy set",))
@hierarchy.command()
@click.argument("dataset")
@_project
@database_options
def show(dataset: str, project: str, call: Call) -> None:
    """Show the groups of classes of DATASET."""
    from offdiag.services.datasets import hierarchy_of

    with call.opened() as database:
        found = hierarchy_of(database, project=project, dataset=dataset)
    call.print({"hierarchy": None if found is None else found.to_dict()}, _lines(found))


@help_text(
    "hierarchy set animals groups.json",
    see=("hierarchy show", "hierarchy clear"),
    arguments={"file": "Groups of classes as JSON or TOML."},
)
@hierarchy.command(name="set")
@click.argument("dataset")
@click.argument("file", type=click.Path(path_type=Path))
@_project
@database_options
def set_groups(dataset: str, file: Path, project: str, call: Call) -> None:
    """Set the class hierarchy of DATASET to that in FILE.

    FILE is JSON or TOML: names of groups with lists of classes or with further groups, such as
    {"animal": ["cat", "dog"], "vehicle": {"road": ["car"], "air": ["plane"]}}.
    """
    from offdiag.inputs.files.json_files import read_hierarchy
    from offdiag.services.datasets import set_hierarchy

    given = read_hierarchy(file)
    with call.opened() as database:
        found = set_hierarchy(database, project=project, dataset=dataset, given=given)
    call.print({"hierarchy": None if found is None else found.to_dict()}, _lines(found))


@help_text("hierarchy clear animals", see=("hierarchy set", "hierarchy show"))
@hierarchy.command()
@click.argument("dataset")
@_project
@database_options
def clear(dataset: str, project: str, call: Call) -> None:
    """Remove the class hierarchy of DATASET."""
    from offdiag.services.datasets import set_hierarchy

    with call.opened() as database:
        set_hierarchy(database, project=project, dataset=dataset, given=None)
    call.print({"hierarchy": None}, _lines(None))


def _lines(found: Hierarchy | None) -> Iterator[str]:
    if found is None:
        yield "The classes are in no groups."
        return
    for group in found.groups:
        yield from _group_lines(group, depth=0)


def _group_lines(group: Group, *, depth: int) -> Iterator[str]:
    indent = "  " * depth
    classes = [member for member in group.members if isinstance(member, str)]
    inside = f": {', '.join(visible(name) for name in classes)}" if classes else ""
    yield f"{indent}{visible(group.name)}{inside}"
    for member in group.members:
        if not isinstance(member, str):
            yield from _group_lines(member, depth=depth + 1)
