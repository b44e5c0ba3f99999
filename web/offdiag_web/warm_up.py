"""Loading the pages that nobody has opened yet, once the first answer is out.

A server starts with what its first page needs. Whoever opens another one a moment later is not
to wait for its modules.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask

from offdiag_web.app.late_views import late_views
from offdiag_web.wsgi import settle

PAGES = "offdiag_web.pages"
WAITS_S = 3.0
"""Seconds in which somebody opens the dashboard that they have just started, or does not."""
_PAUSE_S = 0.01
"""Between two modules, in which requests go first."""


@contextmanager
def warming_up(app: Flask, *, waits_s: float = WAITS_S) -> Iterator[None]:
    """Load all pages in a thread while the block runs, beginning after the first answer.

    Programs that call the interface wait for its modules once instead, as they are many and
    most dashboards never need them. At last the process settles, and collects garbage again if
    its start did without.
    """
    answered, stopped = threading.Event(), threading.Event()

    @app.teardown_request
    def tell(_error: BaseException | None) -> None:
        answered.set()

    def warm_up() -> None:
        answered.wait(waits_s)
        loaded = late_views(app).load_each(PAGES)
        try:
            while not stopped.wait(_PAUSE_S):
                if next(loaded, None) is None:
                    settle()
                    return
        finally:
            gc.enable()

    thread = threading.Thread(target=warm_up, name="warm-up", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        answered.set()
        thread.join()
