"""Submitting jobs in the transaction that stores their subject, and notifying workers.

The setting `jobs.engine` names a notifier, an object that tells workers about new jobs. A
notification is a hint. Jobs are rows of the work table, workers check it anyway, and
reconciliation notifies again, so a lost notification costs a moment and nothing else.
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
from offdiag.settings.model import LOCAL_ENGINE
from offdiag.store import jobs
from offdiag.store.database import Database, Session
from offdiag.store.jobs import JobRequest, project_of_delivery, project_of_edition, works_of_runs
from offdiag.store.models.jobs import DELIVERY_KEY, EVALUATION_KEY, REPORT_KEY

CHANNEL = "offdiag_work"
"""The PostgreSQL notification channel."""


@runtime_checkable
class Notifier(Protocol):
    """Called inside the transaction that submits jobs; takes effect after its commit.

    A notifier must not raise for errors of its own, and may notify more often than needed:
    `run_job` runs each job once, however often it is called.
    """

    def notify(self, session: Session, work_ids: Sequence[int]) -> None:
        """Announce that these jobs are queued."""


@runtime_checkable
class ServingNotifier(Notifier, Protocol):
    """A notifier whose engine also runs the jobs, instead of the loop over the work table."""

    def prepare(self, database: Database) -> None:
        """Create what the engine needs if it is missing; called when a worker starts.

        Raises `InvalidInput` for a registry that the engine cannot work with.
        """

    def serve(
        self, database: Database, run_job: Callable[[int], None], stop: threading.Event
    ) -> None:
        """Call `run_job` with the id of each notification until `stop` is set.

        `run_job` never raises for errors of the job and may be called twice for one id.
        """


class LocalNotifier:
    """Wakes workers in this process at once, and on PostgreSQL those of all processes."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._n_notified = 0

    def notify(self, session: Session, work_ids: Sequence[int]) -> None:
        """Wake the listening workers once the transaction of the session is committed."""
        if work_ids:
            jobs.notify(session, CHANNEL)
            jobs.after_commit(session, self.wake)

    def wake(self) -> None:
        """Wake all threads that wait in this process."""
        with self._condition:
            self._n_notified += 1
            self._condition.notify_all()

    def wait(self, heard: int, timeout_s: float) -> int:
        """Wait until there were more than `heard` notifications; returns how many there were."""
        with self._condition:
            self._condition.wait_for(lambda: self._n_notified > heard, timeout_s)
            return self._n_notified


LOCAL_NOTIFIER = LocalNotifier()
"""One per process: it must reach the worker loop that shares the process with the web app."""


GROUP = "offdiag.notifiers"
"""Entry points of distributions that provide a notifier, an object with `notify`."""
OLD_GROUP = "offdiag.bells"
"""The former name of the group, for objects with `ring`; read until the next minor version."""

_FIELD = "jobs.engine"


def current_notifier() -> Notifier:
    """The notifier named in the current settings. Raises `InvalidInput` if it does not exist."""
    return notifier_named(load_settings().jobs.engine)


@lru_cache(maxsize=8)
def notifier_named(engine: str) -> Notifier:
    """The notifier of this name: "local", an entry point, or "package.module:object".

    Raises `InvalidInput` for an unknown name and for an object that is not a notifier.
    """
    if engine == LOCAL_ENGINE:
        return LOCAL_NOTIFIER
    found = _object_at(engine) if ":" in engine else _entry_point(engine)
    if callable(getattr(found, "ring", None)) and not callable(getattr(found, "notify", None)):
        # Until the next minor version `notify` may also have its former name.
        found.notify = found.ring  # type: ignore[attr-defined]
    if not isinstance(found, Notifier):
        raise InvalidInput(
            f"{engine!r} is {type(found).__name__}, which is not a notifier.",
            field=_FIELD,
            hint="A notifier has the method notify(session, work_ids).",
        )
    return found


def _entry_point(name: str) -> object:
    known = {each.name: each for group in (OLD_GROUP, GROUP) for each in entry_points(group=group)}
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


EVALUATE = "evaluate"
REPORT = "report"
DELIVER = "deliver"


def evaluation_key(run_id: str) -> str:
    """The key that keeps the evaluation of a run from waiting twice."""
    return f"{EVALUATION_KEY}{run_id}"


def report_key(edition_id: int) -> str:
    """The key that keeps the figures of an edition from waiting twice."""
    return f"{REPORT_KEY}{edition_id}"


def delivery_key(delivery_id: int) -> str:
    """The key that keeps a delivery from waiting twice."""
    return f"{DELIVERY_KEY}{delivery_id}"


def submit_evaluation(session: Session, run_id: str) -> None:
    """Submit the evaluation of a run, unless it is already waiting."""
    submit_evaluations(session, [run_id])


def submit_evaluations(session: Session, run_ids: Sequence[str]) -> int:
    """Submit the evaluations of several runs; returns how many were not already waiting."""
    works = works_of_runs(session, run_ids)
    asked = jobs.insert_many_pending(
        session,
        EVALUATE,
        [
            JobRequest(evaluation_key(run_id), {"run": run_id}, *works.get(run_id, (None, None)))
            for run_id in run_ids
        ],
    )
    if asked:
        current_notifier().notify(session, asked)
    return len(asked)


def submit_report(session: Session, edition_id: int) -> None:
    """Submit the figures and files of an edition, unless they are already waiting."""
    project_id = project_of_edition(session, edition_id)
    args = {"issue": edition_id}  # The name in jobs that wait in databases of any version.
    _submit(session, REPORT, JobRequest(report_key(edition_id), args, project_id, 0))


def submit_delivery(session: Session, delivery_id: int) -> None:
    """Submit a delivery, unless it is already waiting."""
    project_id = project_of_delivery(session, delivery_id)
    key = delivery_key(delivery_id)
    _submit(session, DELIVER, JobRequest(key, {"delivery": delivery_id}, project_id, 0))


def _submit(session: Session, task: str, wanted: JobRequest) -> None:
    """Insert a job and notify; the caller commits both with the data, or neither."""
    work_id = jobs.insert_pending(session, task, wanted)
    if work_id is not None:
        current_notifier().notify(session, [work_id])
