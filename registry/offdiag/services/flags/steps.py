"""Steps that flags take, with what their histories tell of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from offdiag.flags.lifecycle import Standing, Step, rested
from offdiag.store.flags import FlagEvent, FlagRecord


@dataclass(frozen=True, slots=True)
class TakenStep:
    """What time did to a flag unnoticed, and then somebody or an evaluation."""

    flag: FlagRecord
    rest: Step
    step: Step

    @property
    def after(self) -> Standing:
        return self.step.after

    @property
    def is_told(self) -> bool:
        """Whether the history says anything of it."""
        return self.rest.kind is not None or self.step.kind is not None


def take(flag: FlagRecord, step: Callable[[Standing], Step], now: datetime) -> TakenStep:
    """Let a flag take a step from where it stands by now."""
    rest = rested(flag.standing, now)
    return TakenStep(flag, rest, step(rest.after))


def events_of(steps: Iterable[TakenStep], *, author: str | None, now: datetime) -> list[FlagEvent]:
    """The entries of the histories, those of ended rests at the moment they ended."""
    events = []
    for taken in steps:
        events += end_of_rest(taken.flag, now)
        events += events_of_step(taken.flag.id, taken.step, author=author, now=now)
    return events


def events_of_step(
    flag_id: int, step: Step, *, author: str | None, now: datetime
) -> list[FlagEvent]:
    """What is to be told of one step, if anything."""
    return [] if step.kind is None else [FlagEvent(flag_id, now, author, step.kind, step.text)]


def end_of_rest(flag: FlagRecord, now: datetime) -> list[FlagEvent]:
    """The entry for a rest that is over by now and of which nobody has told yet."""
    until = flag.standing.snoozed_until
    if until is None:
        return []
    return events_of_step(flag.id, rested(flag.standing, now), author=None, now=until)
