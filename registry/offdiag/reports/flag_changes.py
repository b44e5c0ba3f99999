"""Which flags were raised and which were closed since the report before."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.flags.lifecycle import FlagState
from offdiag.reports.snapshot import FlagFigures, Snapshot


@dataclass(frozen=True, slots=True)
class FlagChanges:
    """Flags that are open and were not, and flags whose rule no longer fires, gravest first.

    `closed` holds what was said when they still fired.
    """

    opened: tuple[FlagFigures, ...]
    closed: tuple[FlagFigures, ...]


def find_flag_changes(before: Snapshot, now: Snapshot) -> FlagChanges | None:
    """Compare the flags of two issues about the same samples.

    None where one of them does not hold all its flags. A flag of a run without figures in the
    present issue is not closed: nobody knows.
    """
    if not (_holds_all(before) and _holds_all(now)):
        return None
    then = {flag.key: flag for flag in before.flags or ()}
    present = {flag.key: flag for flag in now.flags or ()}
    scored = {run.id for run in now.runs}
    return FlagChanges(
        opened=tuple(flag for flag in present.values() if _is_news(flag, then.get(flag.key))),
        closed=tuple(
            flag for key, flag in then.items() if key not in present and flag.run_id in scored
        ),
    )


def _holds_all(snapshot: Snapshot) -> bool:
    return snapshot.flags is not None and len(snapshot.flags) == snapshot.n_flags


def _is_news(flag: FlagFigures, before: FlagFigures | None) -> bool:
    """Open, and not seen before or settled then."""
    was_open = before is not None and before.state is FlagState.OPEN
    return flag.state is FlagState.OPEN and not was_open
