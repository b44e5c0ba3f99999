"""A soak from beginning to end: capacity, hours of load with faults, quiet, and what is there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random

from load.ledger_balance import Books, balance
from load.page_list import page_list
from load.page_reads import READ
from load.plan import TINY
from load.programs import environment_of, offdiag_command
from load.seed import seed
from load.subjects import subjects_of
from load.tokens import tokens_for
from offdiag.services.verification.verify import LedgerEntry, read_ledger, verify
from offdiag.store.database import Database
from soak.capacity import Rates, measure_capacity
from soak.clients import PROJECT, Asking, spool_of
from soak.crowd import Crowd, Visitors
from soak.databases import Place
from soak.faults import Scene
from soak.fleet import fleet
from soak.plan import Soak
from soak.responses import Answered, answered
from soak.watch import Watch, watched

_QUIET_WITHIN_S = 600.0
_READY_WITHIN_S = 300.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The capacity, what was seen while the load lasted, and what the registry holds."""

    capacity: Rates
    watch: Watch
    answered: Answered
    books: Books
    n_kept: int
    findings: Sequence[str]


def go_through(plan: Soak, place: Place, folder: Path, say: Say) -> Aftermath:
    """Run a soak over a new registry; its files lie in `folder`."""
    database = place.database
    seed(database, TINY, say)
    paths = {name: page.path for name, page in page_list(subjects_of(database)).items()}
    tokens = tokens_for(
        database,
        plan.clients + plan.readers,
        lifetime=timedelta(days=1, seconds=plan.seconds),
    )
    with fleet(
        database.url, folder, lease_s=plan.lease_s, short_lease_s=plan.short_lease_s
    ) as programs:
        if not programs.wait_until_ready(_READY_WITHIN_S):
            raise RuntimeError("the servers did not start")
        visitors = Visitors(
            programs.urls,
            tokens,
            {name: paths[name] for name in READ},
            plan.clients,
            plan.seed,
            folder,
        )
        capacity = measure_capacity(visitors, database, seconds=plan.capacity_s)
        say(f"capacity: {capacity}")
        crowd = Crowd(
            visitors,
            "soak",
            runs_pause_s=plan.clients / (plan.share * capacity.runs_per_s),
            pages_pause_s=plan.readers / (plan.share * capacity.pages_per_s),
        )
        try:
            watch = watched(plan, Scene(place, programs, crowd, plan.lease_s, Random(plan.seed)))
            crowd.end()
        finally:
            crowd.kill_all()
        watch.troubles += crowd.failures
        n_kept = sum(len(read_ledger(path)) for path in folder.glob("*.kept"))
        for client in crowd.clients:
            watch.troubles += _sent(client)
        books = balance(database, folder, PROJECT, within_s=_QUIET_WITHIN_S)
    return Aftermath(
        capacity, watch, answered(folder), books, n_kept, _verified(database, folder, say)
    )


def _sent(client: Asking) -> list[str]:
    """Send what a client has kept, as its user would; what went wrong."""
    if not spool_of(client).exists():
        return []
    done = subprocess.run(
        offdiag_command("sync", "--spool", str(spool_of(client))),
        env=environment_of(client.url, OFFDIAG_TOKEN=client.token),
        capture_output=True,
        text=True,
        check=False,
    )
    return [] if done.returncode == 0 else [f"offdiag sync: {done.stdout}{done.stderr}"]


def _verified(database: Database, folder: Path, say: Say) -> list[str]:
    entries = {entry.client_key: entry for entry in _everything_begun(folder)}
    say(f"verifying {len(entries)} runs")
    found = verify(database, ledger=list(entries.values()))
    return [f"{finding.subject}: {finding.sentence}" for finding in found.findings]


def _everything_begun(folder: Path) -> list[LedgerEntry]:
    """What was acknowledged, and what was kept and sent later."""
    books = [*folder.glob("*.ledger"), *folder.glob("*.kept")]
    return [entry for path in sorted(books) for entry in read_ledger(path)]
