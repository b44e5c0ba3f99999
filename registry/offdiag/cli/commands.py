"""The commands of the command line, each imported when it is called, and what all have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import cast

import click
from click.shell_completion import CompletionItem

_SAFE = re.compile(r"[\w@./+=-]+")
"""A shell inserts what it completes, and names are anybody's text: `$(…)` would be run."""

_KINDS = {
    "run_id": "run",
    "run_ids": "run",
    "runs": "run",
    "baseline": "run",
    "dataset": "dataset",
    "datasets": "dataset",
    "project": "project",
    "projects": "project",
    "cost_matrix": "cost",
    "conditions": "metric",
    "metric": "metric",
    "metrics": "metric",
}
"""What the value of a parameter is, by its name in the code."""


class CompletedText(click.types.StringParamType):
    """Plain text, of which the registry knows likely values."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """At most a hundred values. Raises whatever stands in the way, which nobody will see."""
        del param
        found = _values(self.kind, incomplete, ctx.params.get("url"))
        return [
            CompletionItem(value, help=about) for value, about in found if _SAFE.fullmatch(value)
        ]


def add_completion(parameter: click.Parameter) -> None:
    """Let the shell complete the parameter, if it is text of a kind that is known."""
    kind = _KINDS.get(str(parameter.name))
    if parameter.metavar is not None and "NAME[@VERSION]" in parameter.metavar:
        kind = "cost"
    if kind is not None and type(parameter.type) is click.types.StringParamType:
        parameter.type = CompletedText(kind)


def _values(kind: str, prefix: str, url: str | None) -> Iterator[tuple[str, str | None]]:
    if kind == "metric":
        from offdiag.metrics.catalogue import SPECS

        keys = {spec.key: spec.title for spec in SPECS if spec.key.startswith(prefix)}
        yield from keys.items()
        return
    from offdiag.cli.options import settings_for
    from offdiag.services.search import known_names

    yield from known_names(settings_for(url).database.url, kind, prefix)


def add_shared_options(command: click.Command) -> None:
    """Give a command, and those below it, completion of its values and --no-color.

    A command is furnished whenever it is looked up, so twice must be the same as once.
    """
    if isinstance(command, click.Group):
        for below in command.commands.values():
            add_shared_options(below)
        return
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
}
"""Of verbs that share a module with others."""
_FUNCTIONS = {"import": "importing"}
"""Of verbs that are words of Python."""


class VerbGroup(click.Group):
    """Looks a verb up in the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in VERBS:
            return None
        module = _MODULES.get(name, name)
        function = _FUNCTIONS.get(name, name)
        command = cast(click.Command, getattr(import_module(f"offdiag.cli.{module}"), function))
        add_shared_options(command)
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
