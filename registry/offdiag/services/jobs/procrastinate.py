"""Procrastinate as the engine that announces and runs jobs, for teams with many hosts.

Each notification is a procrastinate job, in the same PostgreSQL database and the same transaction,
so it exists exactly when the work does. It only says which work to look at: leases, attempts and
results remain in the work table. Procrastinate's retries are off, because a retry beside a newer
job with the same lock leaves its worker stuck; reconciliation notifies again.
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
from offdiag.store.database import Database, Session, driver_savepoint

if TYPE_CHECKING:
    from procrastinate import App

TASK = "offdiag.perform"
QUEUE = "offdiag"
_RECONNECT_S = 1.0
_POLL_S = 1.0
_log = logging.getLogger(__name__)


class ProcrastinateNotifier:
    """Notifies by deferring procrastinate jobs, and serves by running the work they name."""

    def notify(self, session: Session, work_ids: Sequence[int]) -> None:
        """Defer a procrastinate job for each piece of work, unless one is already waiting.

        If that fails, for example before the tables are created, reconciliation notifies later;
        the work itself is stored all the same. Raises `InvalidInput` for an SQLite registry.
        """
        _require_postgres(session.get_bind().dialect.name)
        from procrastinate.exceptions import AlreadyEnqueued, ConnectorException

        for work_id in work_ids:
            try:
                with driver_savepoint(session) as connection:
                    self._deferring.configure_task(
                        TASK,
                        queue=QUEUE,
                        queueing_lock=f"work:{work_id}",
                        connection=connection,
                    ).defer(work_id=work_id)
            except AlreadyEnqueued:
                continue
            except ConnectorException as error:
                _log.warning("procrastinate was not notified: %s", error.__cause__ or error)
                return

    def prepare(self, database: Database) -> None:
        """Create the tables of procrastinate if they are missing.

        Raises `InvalidInput` for an SQLite registry and `DatabaseUnavailable` if they cannot be
        created.
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
        self, database: Database, run_job: Callable[[int], None], stop: threading.Event
    ) -> None:
        """Run the work that is named until `stop` is set; work that has begun is finished first.

        Waits for an unavailable database.
        """
        asyncio.run(_serve(libpq_url(database.url), run_job, stop))

    @cached_property
    def _deferring(self) -> App:
        # A worker's own App is open for asyncio; this one only borrows connections.
        from procrastinate import App, SyncPsycopgConnector

        return App(connector=SyncPsycopgConnector())


PROCRASTINATE_NOTIFIER = ProcrastinateNotifier()
"""The entry point `procrastinate`."""
PROCRASTINATE_BELL = PROCRASTINATE_NOTIFIER
"""Its former name, in the metadata of installations that have not been updated."""


def _require_postgres(dialect: str) -> None:
    if dialect != "postgresql":
        raise InvalidInput(
            "'procrastinate' keeps its queue in PostgreSQL, and this registry is SQLite.",
            field="jobs.engine",
            hint='Use "local" here.',
        )


async def _serve(conninfo: str, run_job: Callable[[int], None], stop: threading.Event) -> None:
    from procrastinate.exceptions import ConnectorException

    stopped = asyncio.create_task(asyncio.to_thread(stop.wait))
    while not stop.is_set():
        app = _serving(conninfo, run_job)
        try:
            async with app.open_async():
                running = asyncio.create_task(
                    app.run_worker_async(
                        queues=[QUEUE],
                        concurrency=load_settings().jobs.concurrency,
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


def _serving(conninfo: str, run_job: Callable[[int], None]) -> App:
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=conninfo))

    @app.task(name=TASK, queue=QUEUE)
    def run_work(work_id: int) -> None:
        run_job(work_id)

    return app
