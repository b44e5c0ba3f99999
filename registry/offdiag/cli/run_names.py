"""Runs as a command line names them: by id or by name."""

from __future__ import annotations

from collections.abc import Sequence

import click

from offdiag.cli.documents import Server, connected
from offdiag.records.runs.run import RunPage, RunsQuery, RunSummary, run_summary
from offdiag.sdk.registry import MOST_NAMED, RUN_ID, only_id, quoted


def ids_of_runs(
    context: click.Context, _parameter: click.Parameter, named: str | tuple[str, ...] | None
) -> str | tuple[str, ...] | None:
    """The callback of arguments and options that name runs: their ids.

    A text that is neither an id nor a name stays as it is: the command says that there is no
    such run. Raises `Conflict` for a name of several runs.
    """
    if named is None or context.resilient_parsing:
        return named
    url = context.params.get("url")
    at = url if isinstance(url, str) else None  # One that is not given is no text yet.
    if isinstance(named, str):
        return _run_id(at, named)
    return tuple(_run_id(at, each) for each in named)


def _run_id(url: str | None, named: str) -> str:
    if RUN_ID.fullmatch(named):
        return named
    return only_id(named, _runs_named(url, named), hint="Give one of the ids.") or named


def _runs_named(url: str | None, name: str) -> Sequence[RunSummary]:
    """The newest runs of a name, one more than is shown at most."""
    query = RunsQuery(filter=f"attributes.name = {quoted(name)}", limit=MOST_NAMED + 1)
    with connected(url) as registry:
        if isinstance(registry, Server):
            return registry.ask("/runs", RunPage, query=query).runs
        from offdiag.services.search import search_page

        found = search_page(
            registry,
            filter_text=query.filter,
            order_by=query.order_by,
            project=None,
            after=None,
            limit=query.limit,
        )
        return [run_summary(run) for run in found.runs]
