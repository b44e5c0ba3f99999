"""The commands by name, each imported when it is called, and the names of earlier versions."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import cast

import click

from offdiag.cli.options import add_shared_options, show_no_color

COMMANDS = (
    "demo",
    "serve",
    "worker",
    "db",
    "log",
    "watch",
    "import",
    "export",
    "sync",
    "sql",
    "evaluate",
    "audit",
    "gate",
    "flags",
    "problems",
    "cost",
    "runs",
    "compare",
    "leaders",
    "propose",
    "approve",
    "truth",
    "hierarchy",
    "recompute",
    "verify",
    "gc",
    "schedule",
    "report",
    "jobs",
    "user",
    "token",
    "doctor",
    "completion",
)
_MODULES = {
    "worker": "serve",
    "watch": "log",
    "sync": "log",
    "import": "transfer",
    "export": "transfer",
    "recompute": "jobs",
    "verify": "maintenance",
    "gc": "maintenance",
    "completion": "process",
    "leaders": "promote",
    "propose": "promote",
    "approve": "promote",
}
"""Of commands that share a module with others."""
_FUNCTIONS = {"import": "importing"}
"""Of commands whose names are keywords of Python."""

OLD_NAMES = {
    "flags list --badge": "flags list --hides-minority",
    "recompute --stale": "recompute --outdated",
    "report now": "report create",
}
"""Commands and options of the version before, with their new names; neither is in the help."""


def current_names(words: Iterable[str]) -> list[str]:
    """The words of a command line with names of the version before replaced by new ones."""
    words = list(words)
    start = next((at for at, word in enumerate(words) if word != "--no-color"), len(words))
    for old, new in OLD_NAMES.items():
        *path, name = old.split()
        if words[start : start + len(path)] != path:
            continue
        is_option = name.startswith("--")
        for at in range(start + len(path), len(words)):
            if words[at] == name:
                words[at] = new.split()[-1]
            if not is_option or words[at] == "--":
                break
    return words


class CommandGroup(click.Group):
    """Looks a command up in the module of its name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, current_names(args))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in COMMANDS:
            return None
        module = _MODULES.get(name, name)
        function = _FUNCTIONS.get(name, name)
        command = cast(click.Command, getattr(import_module(f"offdiag.cli.{module}"), function))
        add_shared_options(command)
        return command


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 99},
    epilog="Exit codes: 0 done, 1 failed check, 2 error, 130 interrupted.\n\n"
    "`offdiag COMMAND --help` has examples; `offdiag completion --help` sets up shell completion.",
)
@click.version_option(package_name="offdiag", message="%(prog)s %(version)s")
def offdiag() -> None:
    """Evaluation registry for classifiers."""


show_no_color(offdiag)
