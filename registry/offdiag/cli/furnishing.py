"""What every command has without saying so: its manual, completion of its values, --no-color."""

from __future__ import annotations

import click

from offdiag.cli.completed_values import add_completion
from offdiag.cli.manual.pages import add_manual


def furnish(command: click.Command, path: str) -> None:
    """Furnish a command, and those below it; `path` is its words after `offdiag`.

    A command is furnished whenever it is looked up, so twice must be the same as once.
    """
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            furnish(below, f"{path} {name}")
        return
    add_manual(command, path)
    for parameter in command.params:
        add_completion(parameter)
    if not any("--no-color" in parameter.opts for parameter in command.params):
        command.params.append(_no_color(hidden=True))


def show_no_color(command: click.Command) -> None:
    """Tell of --no-color in the help of a command, that of `offdiag` itself."""
    command.params.append(_no_color(hidden=False))


def _no_color(*, hidden: bool) -> click.Option:
    return click.Option(
        ["--no-color"],
        is_flag=True,
        expose_value=False,
        hidden=hidden,
        callback=_switch_off,
        help="Print no colours, before or after any verb. NO_COLOR=1 does the same.",
    )


def _switch_off(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.color = False
