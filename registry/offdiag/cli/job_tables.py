"""The job queue as tables."""

from __future__ import annotations

import json
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import facts_table
from offdiag.cli.text import printable
from offdiag.services.jobs.page import Heartbeat, JobEntry, JobsPage


def jobs_tables(page: JobsPage) -> Iterable[Table]:
    """The queue for people."""
    counts = ", ".join(f"{number} {state.value}" for state, number in page.jobs.counts.items())
    facts = {
        "queue": counts,
        "worker": _alive(page.workers, is_alive=page.has_worker),
        "scheduler": _alive(page.schedulers, is_alive=page.has_scheduler),
    }
    yield facts_table("Job queue", facts)
    if page.jobs.entries:
        yield _table(page.jobs.entries)


def _table(entries: Iterable[JobEntry]) -> Table:
    table = Table()
    for name in ("job", "state", "task", "about", "attempts", "last error"):
        table.add_column(name, no_wrap=name == "job")
    for entry in entries:
        table.add_row(
            str(entry.id),
            entry.state.value,
            entry.task,
            Text(printable(json.dumps(dict(entry.args), ensure_ascii=False))),
            str(entry.attempts),
            Text(printable(entry.error or "")),
        )
    return table


def _alive(beats: tuple[Heartbeat, ...], *, is_alive: bool) -> str:
    if not beats:
        return "NONE is running. Start offdiag worker or offdiag serve."
    newest = beats[0]
    place = f"{newest.pid}@{newest.host}, heartbeat {newest.age_s:.0f} s ago"
    return f"alive: {place}" if is_alive else f"SILENT: {place}. Start offdiag worker."
