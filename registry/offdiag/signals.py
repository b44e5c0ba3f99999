"""Signals that ask a program to stop, acted on where nothing can hang over them.

A handler runs in the main thread between any two steps of what that thread is doing, and so
perhaps while it holds the very lock that the handler needs: a `threading.Event` that is set by a
handler while the same thread waits for it is a deadlock. Here the interpreter itself writes the
number of the signal into a pipe, and a thread of its own reads it there and acts on it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPS = (signal.SIGINT, signal.SIGTERM)
"""What Ctrl-C and supervisors send."""


@contextmanager
def acting_on_signals(act: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call `act` with each SIGINT and SIGTERM, in a thread of its own, while the block runs.

    Only the main thread may enter it. The handlers of before are in force again afterwards.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # The interpreter must not wait while it handles a signal.
    thread = threading.Thread(
        target=_act_on_each, args=(reading, act), name="signals", daemon=True
    )
    thread.start()
    woken_before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    handled_before = {number: signal.signal(number, _leave_to_the_pipe) for number in STOPS}
    try:
        yield
    finally:
        for number, handler in handled_before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(woken_before)
        os.close(writing)
        thread.join()
        os.close(reading)


def _leave_to_the_pipe(_number: int, _frame: FrameType | None) -> None:
    """What keeps the interpreter from ending the program; the pipe has the number already."""


def _act_on_each(reading: int, act: Callable[[signal.Signals], None]) -> None:
    while numbers := os.read(reading, 64):
        for number in numbers:
            # Handlers of others make the interpreter write as well.
            if number in STOPS:
                act(signal.Signals(number))
