"""Values that the shell completes: runs, datasets, projects, costs and metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    from offdiag.services.completing import known_names

    yield from known_names(settings_for(url).database.url, kind, prefix)
