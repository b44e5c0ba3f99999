"""Loading what nobody has asked for yet, once the first answer is out.

A server starts with what its first page needs. Whoever opens another one a moment later is not
to wait for its modules, nor to get those of another version that was installed meanwhile.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

from flask import Flask

from offdiag_web.app.lazy_views import lazy_views
from offdiag_web.wsgi import settle

_PAGES = "offdiag_web.pages"
WAITS_S = 3.0
"""Seconds in which somebody opens the dashboard that they have just started, or does not."""
_PAUSE_S = 0.01
"""Between two modules, in which requests go first."""


@contextmanager
def warming_up(app: Flask, *, waits_s: float = WAITS_S) -> Iterator[None]:
    """Load all views in a thread while the block runs, pages first, after the first answer.

    At last the process settles, and collects garbage again if its start did without.
    """
    answered, stopped = threading.Event(), threading.Event()

    @app.teardown_request
    def tell(_error: BaseException | None) -> None:
        answered.set()

    def warm_up() -> None:
        answered.wait(waits_s)
        late = lazy_views(app)
        loaded = chain(late.load_each(_PAGES), late.load_each())
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
