"""The inbox of flags, and the flags of one run."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.flags.lifecycle import FlagState
from offdiag.store import flags, runs
from offdiag.store.database import Database
from offdiag.store.flag_inbox import (
    FlagEntry,
    FlagPage,
    FlagPlace,
    count_open_flags,
    flag_counts,
    flag_inbox,
)
from offdiag.store.flags import FlagFilter, FlagRecord

FLAGS_PER_PAGE = 50
MOST_OF_A_RUN = 10_000


def browse_flags(
    database: Database,
    wanted: FlagFilter,
    *,
    after: FlagPlace | None = None,
    limit: int = FLAGS_PER_PAGE,
) -> FlagPage:
    """One page of the inbox, with how many flags there are in each state."""
    with database.read() as session:
        return flag_inbox(session, wanted=wanted, now=database.clock(), after=after, limit=limit)


def flags_of_run(database: Database, run_id: str) -> tuple[FlagEntry, ...]:
    """All flags of a run, closed ones too, the gravest first. Raises `NotFound`."""
    wanted = FlagFilter(run_id=run_id)
    with database.read() as session:
        runs.get_run(session, run_id)
        return flag_inbox(
            session, wanted=wanted, now=database.clock(), limit=MOST_OF_A_RUN
        ).entries


def count_flags(database: Database, wanted: Sequence[FlagFilter]) -> tuple[int, ...]:
    """How many flags each of several filters leaves, at most `MOST_COUNTED`, in one statement."""
    with database.read() as session:
        return flag_counts(session, wanted, now=database.clock())


def count_open(database: Database) -> int:
    """How many flags are open, at most `MOST_COUNTED`."""
    with database.read() as session:
        return count_open_flags(session, database.clock())


def flags_that_fire(database: Database, run_id: str) -> list[FlagRecord]:
    """The flags of a run that have not been closed, settled or not, the gravest first."""
    with database.read() as session:
        found = flags.flags_of_run(session, run_id)
    firing = [flag for flag in found if flag.standing.state is not FlagState.CLOSED]
    return sorted(firing, key=lambda flag: (-flag.standing.severity.rank, flag.id))
