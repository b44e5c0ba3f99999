"""Progress of evaluations in the process of the caller, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def evaluation_progress() -> Iterator[Callable[[int, int], None]]:
    """Yield a function of how many runs are done, and of how many; it draws a bar on stderr.

    Where stderr is no terminal, nothing is written. The bar appears with the first call.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("Evaluating runs"), BarColumn(), MofNCompleteColumn())
    progress = Progress(*columns, console=Console(stderr=True))
    task = progress.add_task("", total=None)

    def on_step(done: int, total: int) -> None:
        progress.start()
        progress.update(task, completed=done, total=total)

    try:
        yield on_step
    finally:
        progress.stop()
