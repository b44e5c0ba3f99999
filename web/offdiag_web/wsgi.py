"""The dashboard for WSGI servers such as gunicorn: `offdiag_web.wsgi:application()`."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from http import HTTPStatus

import structlog
from flask import Flask, Response

from offdiag.errors import DatabaseUnavailable, InvalidInput, SchemaMismatch
from offdiag.logs import log_to_stderr
from offdiag.services.access.users import require_admin
from offdiag.settings import load_settings
from offdiag.store.dataset_page import dataset_list
from offdiag.store.schema import open_database
from offdiag_web.app.context import MOST_BEST_SETS, current_registry, kept_best_sets, kept_drops
from offdiag_web.app.dispatch import lazy_views
from offdiag_web.app.requests import admitting
from offdiag_web.application import create_app

log = structlog.get_logger()


_M_ARENA_MAX = -8
_MOST_ARENAS = 2


def share_memory() -> None:
    """Let all threads allocate from two pools; call it before there are threads.

    By default the C library of Linux starts up to eight pools a core, and none uses what is free
    in another. Elsewhere this does nothing.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _MOST_ARENAS)


def settle() -> None:
    """Exclude all current objects from garbage collection; for long-running servers.

    Memory that loading needed for a moment goes back to the system, where that can be asked for.
    """
    gc.collect()
    gc.freeze()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def application() -> Flask:
    """The dashboard for the configured registry, with sign-in.

    The WSGI server decides which address to listen on, so no one is assumed to be the only user of
    a machine. Jobs are run by `offdiag worker`.

    A database server that cannot be reached yet is waited for, with pages that say so.

    Raises `InvalidInput` if there is no admin yet, or no key for signing forms, and
    `SchemaMismatch` for a database that is not up to date.
    """
    share_memory()
    settings = load_settings()
    log_to_stderr(settings.log.level, settings.log.format)
    access = settings.access.model_copy(update={"auth": "required"})
    settings = settings.model_copy(update={"access": access})
    database = open_database(settings.database.url, may_be_away=True)
    try:
        require_admin(database, "sign-in is required")
    except DatabaseUnavailable as error:
        log.warning("database_unavailable", error=str(error))
    except InvalidInput:
        database.close()
        raise
    app = admitting(create_app(settings, database), settings.server)
    # Servers that start several processes let them share what was loaded before.
    lazy_views(app).load_all()
    settle()
    return app


_PAGES = "offdiag_web.pages"
WAITS_S = 3.0
"""Seconds to wait for the first page, which a user may open right after starting the server."""
_PAUSE_S = 0.01
"""A pause between two modules, in which requests are handled."""


@contextmanager
def warming_up(
    app: Flask,
    *,
    beside: Callable[[], AbstractContextManager[None]] = nullcontext,
    waits_s: float = WAITS_S,
) -> Iterator[None]:
    """Run in a thread what can wait until after the first page, and end it with the block.

    `beside` is entered first, such as a worker that takes a while to load; then the views of all
    pages are loaded, and runs are compared for the first page, which otherwise takes seconds if
    there are hundreds of them. Finally, `settle` is called, and the garbage collector is enabled
    again if it was disabled at startup.
    """
    answered, stopped = threading.Event(), threading.Event()

    @app.after_request
    def tell(response: Response) -> Response:
        # The page that a redirect leads to is still to be loaded, and would have to wait.
        if not HTTPStatus.MULTIPLE_CHOICES <= response.status_code < HTTPStatus.BAD_REQUEST:
            answered.set()
        return response

    def warm_up() -> None:
        answered.wait(waits_s)
        with ExitStack() as running:
            _enter(running, beside, stopped)
            try:
                _load_views(app, stopped)
            finally:  # Whatever happens to the views, the worker goes on.
                stopped.wait()

    thread = threading.Thread(target=warm_up, name="warm-up", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        answered.set()
        thread.join()


_AGAIN_AFTER_S = 1.0


def _enter(
    running: ExitStack,
    beside: Callable[[], AbstractContextManager[None]],
    stopped: threading.Event,
) -> None:
    """Enter `beside`, again and again if files, memory or threads are scarce."""
    while not stopped.is_set():
        try:
            running.enter_context(beside())
        except (DatabaseUnavailable, ImportError, MemoryError, OSError, RuntimeError) as error:
            log.warning("worker_not_started", error=str(error))
            stopped.wait(_AGAIN_AFTER_S)
        else:
            return


def _load_views(app: Flask, stopped: threading.Event) -> None:
    # API views are loaded only when a program asks for them: its first call takes a little longer.
    loaded = lazy_views(app).load_each(_PAGES)
    try:
        while not stopped.wait(_PAUSE_S):
            if next(loaded, None) is None:
                _compare_runs(app, stopped.is_set)
                settle()
                return
    finally:
        gc.enable()


def _compare_runs(app: Flask, is_stopped: Callable[[], bool]) -> None:
    # Imported late, like everything that only pages need.
    from offdiag.services.champions.dataset_status import KeptComparisons, compare_ahead

    with (
        app.app_context(),
        suppress(DatabaseUnavailable, SchemaMismatch),
        current_registry().database.read() as session,
    ):
        compare_ahead(
            session,
            dataset_list(session)[:MOST_BEST_SETS],
            kept=KeptComparisons(kept_best_sets(), kept_drops()),
            is_stopped=is_stopped,
        )
