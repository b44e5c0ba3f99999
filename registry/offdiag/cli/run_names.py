"""Runs as a command line names them: by id or by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from offdiag.cli.documents import Server, connected
from offdiag.errors import Conflict
from offdiag.records.run import RunPage, RunsQuery, RunSummary, run_summary
from offdiag.sdk.registry import quoted

_ID = re.compile(r"r_[0-9a-z]{12}")
_MOST_SHOWN = 5


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
    if _ID.fullmatch(named):
        return named
    found = _runs_named(url, named)
    if len(found) > 1:
        ids = ", ".join(f"{run.id} ({run.dataset})" for run in found[:_MOST_SHOWN])
        more = ", ..." if len(found) > _MOST_SHOWN else ""
        raise Conflict(
            f"several runs are named {named!r}: {ids}{more}, newest first.",
            field="run",
            hint="Give one of the ids.",
        )
    return found[0].id if found else named


def _runs_named(url: str | None, name: str) -> Sequence[RunSummary]:
    """The newest runs of a name, one more than is shown at most."""
    query = RunsQuery(filter=f"attributes.name = {quoted(name)}", limit=_MOST_SHOWN + 1)
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
