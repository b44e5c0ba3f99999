"""The verbs of the command line, each imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import cast

import click

from offdiag.cli.furnishing import furnish, show_no_color

VERBS = (
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
    "cost",
    "runs",
    "compare",
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
_MODULES = {"import": "importing"}
"""Of verbs that cannot name a module."""


class VerbGroup(click.Group):
    """Looks a verb up in the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in VERBS:
            return None
        module = _MODULES.get(name, name)
        command = cast(click.Command, getattr(import_module(f"offdiag.cli.{module}"), module))
        furnish(command, name)
        return command


@click.group(
    cls=VerbGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 99},
    epilog="Exit codes: 0 done, 1 the answer is no, 2 error, 130 interrupted.\n\n"
    "`offdiag VERB --help` has examples; `offdiag completion --help` lets the shell complete.",
)
@click.version_option(package_name="offdiag", message="%(prog)s %(version)s")
def offdiag() -> None:
    """Evaluation registry for classifiers."""


show_no_color(offdiag)
