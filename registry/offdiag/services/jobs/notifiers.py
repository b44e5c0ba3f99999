"""Bells: what tells somebody that work waits, and which one the setting `jobs.engine` names.

A bell is a hint. What has to be done is in the work table, workers look at it by themselves
and the sweep rings again, so a bell that is not heard costs a moment and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, runtime_checkable

from offdiag.errors import InvalidInput
from offdiag.settings import load_settings
from offdiag.store import jobs
from offdiag.store.database import Database
from offdiag.store.session import Session

CHANNEL = "offdiag_work"
"""PostgreSQL notification channel."""


@runtime_checkable
class Bell(Protocol):
    """Rung inside the transaction that asks for work, to be heard after its commit.

    A bell must not raise for what is its own fault, and may ring more often than needed:
    `perform` does each piece of work once, whoever calls it however often.
    """

    def ring(self, session: Session, work_ids: Sequence[int]) -> None:
        """Say that these pieces of work wait."""


@runtime_checkable
class ServingBell(Bell, Protocol):
    """A bell whose engine also runs the work, in place of the loop over the work table."""

    def prepare(self, database: Database) -> None:
        """Make what the engine needs, where it is missing; called when a worker starts.

        Raises `InvalidInput` for a registry that the engine cannot work with.
        """

    def serve(
        self, database: Database, perform: Callable[[int], None], stop: threading.Event
    ) -> None:
        """Call `perform` with the id of each ring until `stop` is set.

        `perform` never raises for the work's own errors and may be called twice for one id.
        """


class LocalBell:
    """Wakes workers in this process at once, and on PostgreSQL those of all processes."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._rings = 0

    def ring(self, session: Session, work_ids: Sequence[int]) -> None:
        """Wake whoever listens once the session's transaction has been committed."""
        if work_ids:
            jobs.notify(session, CHANNEL)
            jobs.after_commit(session, self.wake)

    def wake(self) -> None:
        """Wake everybody who waits in this process."""
        with self._condition:
            self._rings += 1
            self._condition.notify_all()

    def wait(self, heard: int, timeout_s: float) -> int:
        """Wait until the bell was rung more than `heard` times; returns how often it was."""
        with self._condition:
            self._condition.wait_for(lambda: self._rings > heard, timeout_s)
            return self._rings


LOCAL_BELL = LocalBell()
"""One for each process: a ring must reach the loop that shares the process with the web."""


GROUP = "offdiag.bells"
"""Entry points of distributions that bring a bell; the value is an object with `ring`."""

_FIELD = "jobs.engine"


def bell_in_force() -> Bell:
    """The bell of the settings, read now. Raises `InvalidInput` where there is none."""
    return bell_of(load_settings().jobs.engine)


@lru_cache(maxsize=8)
def bell_of(engine: str) -> Bell:
    """The bell with a name: "local", an entry point, or an object as "package.module:object".

    Raises `InvalidInput` for a name that nothing is known by, and for what cannot be rung.
    """
    if engine == "local":
        return LOCAL_BELL
    found = _object_at(engine) if ":" in engine else _entry_point(engine)
    if not isinstance(found, Bell):
        raise InvalidInput(
            f"{engine!r} is {type(found).__name__}, which cannot be rung.",
            field=_FIELD,
            hint="A bell has the method ring(session, work_ids).",
        )
    return found


def _entry_point(name: str) -> object:
    known = {each.name: each for each in entry_points(group=GROUP)}
    if name not in known:
        raise InvalidInput(
            f"there is no engine {name!r}.",
            field=_FIELD,
            hint=f"Installed are: {', '.join(sorted({'local', *known}))}.",
        )
    return _loaded(known[name])


def _object_at(path: str) -> object:
    module, _, attribute = path.partition(":")
    try:
        found: object = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise _unusable(path, error) from error
    return found


def _loaded(point: EntryPoint) -> object:
    try:
        found: object = point.load()
    except (ImportError, AttributeError) as error:
        raise _unusable(point.name, error) from error
    return found


def _unusable(engine: str, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"engine {engine!r} cannot be loaded: {error}.",
        field=_FIELD,
        hint='Install the distribution it comes with, or use "local".',
    )
