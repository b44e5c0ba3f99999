"""Procrastinate as the bell and the runner of work, for teams with many hosts.

Each ring is one of its jobs, in the same PostgreSQL database and the same transaction, so it is
there exactly when the work is. The job says only which work to look at: leases, attempts and
results stay with the work table. Its own retries are off, because a retry beside a newer job
with the same lock leaves its worker stuck; the sweep rings again instead.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from offdiag.errors import DatabaseUnavailable, InvalidInput
from offdiag.settings import load_settings
from offdiag.store.address import libpq_url
from offdiag.store.database import Database, driver_savepoint
from offdiag.store.session import Session

if TYPE_CHECKING:
    from procrastinate import App

TASK = "offdiag.perform"
QUEUE = "offdiag"
_RECONNECT_S = 1.0
_POLL_S = 1.0
_log = logging.getLogger(__name__)


class ProcrastinateBell:
    """Rings by deferring jobs, and serves by performing what they name."""

    def ring(self, session: Session, work_ids: Sequence[int]) -> None:
        """Defer a job for each piece of work, unless one waits already.

        Where that fails, as before its tables are made, the sweep rings later; the work itself
        is stored all the same. Raises `InvalidInput` for an SQLite registry.
        """
        _require_postgres(session.get_bind().dialect.name)
        from procrastinate.exceptions import AlreadyEnqueued, ConnectorException

        for work_id in work_ids:
            try:
                with driver_savepoint(session) as connection:
                    self._ringing.configure_task(
                        TASK,
                        queue=QUEUE,
                        queueing_lock=f"work:{work_id}",
                        connection=connection,
                    ).defer(work_id=work_id)
            except AlreadyEnqueued:
                continue
            except ConnectorException as error:
                _log.warning("procrastinate was not rung: %s", error.__cause__ or error)
                return

    def prepare(self, database: Database) -> None:
        """Make the tables of procrastinate where there are none.

        Raises `InvalidInput` for an SQLite registry and `DatabaseUnavailable` where they cannot
        be made.
        """
        _require_postgres(database.dialect)
        from procrastinate import App, SyncPsycopgConnector
        from procrastinate.exceptions import ConnectorException

        app = App(connector=SyncPsycopgConnector(conninfo=libpq_url(database.url)))
        with app.open():
            if app.check_connection():
                return
            try:
                app.schema_manager.apply_schema()
            except ConnectorException as error:
                # Another worker that starts at the same moment may have been faster.
                if not app.check_connection():
                    raise DatabaseUnavailable(
                        f"the tables of procrastinate cannot be made: {error.__cause__}.",
                        hint="`procrastinate schema --apply` makes them as the database's owner.",
                    ) from error

    def serve(
        self, database: Database, perform: Callable[[int], None], stop: threading.Event
    ) -> None:
        """Perform what jobs name until `stop` is set; what was begun is ended first.

        A database that is away is waited for.
        """
        asyncio.run(_serve(libpq_url(database.url), perform, stop))

    @cached_property
    def _ringing(self) -> App:
        # A worker's own App is open for asyncio; this one only ever borrows connections.
        from procrastinate import App, SyncPsycopgConnector

        return App(connector=SyncPsycopgConnector())


PROCRASTINATE_BELL = ProcrastinateBell()
"""The entry point `procrastinate`."""


def _require_postgres(dialect: str) -> None:
    if dialect != "postgresql":
        raise InvalidInput(
            "'procrastinate' keeps its queue in PostgreSQL, and this registry is SQLite.",
            field="jobs.engine",
            hint='Use "local" here.',
        )


async def _serve(conninfo: str, perform: Callable[[int], None], stop: threading.Event) -> None:
    from procrastinate.exceptions import ConnectorException

    stopped = asyncio.create_task(asyncio.to_thread(stop.wait))
    while not stop.is_set():
        app = _serving(conninfo, perform)
        try:
            async with app.open_async():
                running = asyncio.create_task(
                    app.run_worker_async(
                        queues=[QUEUE],
                        concurrency=load_settings().jobs.slots,
                        delete_jobs="always",
                        fetch_job_polling_interval=_POLL_S,
                        install_signal_handlers=False,
                    )
                )
                await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
                running.cancel()  # It ends the job it has begun before it ends.
                with suppress(asyncio.CancelledError):
                    await running
        except (ConnectorException, OSError) as error:
            _log.warning("procrastinate lost the database: %s", error.__cause__ or error)
            await asyncio.wait({stopped}, timeout=_RECONNECT_S)


def _serving(conninfo: str, perform: Callable[[int], None]) -> App:
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=conninfo))

    @app.task(name=TASK, queue=QUEUE)
    def perform_work(work_id: int) -> None:
        perform(work_id)

    return app
