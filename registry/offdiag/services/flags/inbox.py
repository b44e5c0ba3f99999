"""What the pages about flags read: the inbox, and one flag with all about it."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.errors import NotFound
from offdiag.flags.catalogue import RULES, RuleDescription
from offdiag.flags.lifecycle import FlagState
from offdiag.services.flags.better import BetterOnClass, better_on_class
from offdiag.services.flags.steps import end_of_rest
from offdiag.store import flags
from offdiag.store.database import Database
from offdiag.store.flags import FlagEvent, FlagRecord
from offdiag.store.queries.flag_filter import FlagFilter
from offdiag.store.queries.flag_inbox import (
    FlagEntry,
    FlagPage,
    FlagPlace,
    flag_entry,
    flag_inbox,
)

FLAGS_PER_PAGE = 50


@dataclass(frozen=True)
class FlagDetail:
    """One flag with its rule, its history, and runs that do better on its class.

    `rule` is None for a flag of a rule that this version no longer has.
    """

    entry: FlagEntry
    rule: RuleDescription | None
    history: tuple[FlagEvent, ...]
    better: tuple[BetterOnClass, ...]


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


def flags_that_fire(database: Database, run_id: str) -> list[FlagRecord]:
    """The flags of a run that have not been closed, settled or not, the gravest first."""
    with database.read() as session:
        found = flags.flags_of_run(session, run_id)
    firing = [flag for flag in found if flag.standing.state is not FlagState.CLOSED]
    return sorted(firing, key=lambda flag: (-flag.standing.severity.rank, flag.id))


def browse_flag(database: Database, flag_id: int) -> FlagDetail:
    """One flag. Raises `NotFound`."""
    with database.read() as session:
        entry = flag_entry(session, flag_id)
        if entry is None:
            raise NotFound(
                f"there is no flag {flag_id}.",
                field="flag",
                hint="`offdiag flags list` shows the flags.",
            )
        label = entry.flag.content.class_label
        return FlagDetail(
            entry,
            RULES.get(entry.flag.content.rule),
            (
                *flags.events_of(session, flag_id),
                *end_of_rest(entry.flag, database.clock()),
            ),
            () if label is None else better_on_class(session, entry.flag.run_id, label),
        )
