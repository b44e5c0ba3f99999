"""A process that logs runs of one name, beside others that do the same."""

from __future__ import annotations

import time
from pathlib import Path

import offdiag


def log_namesakes(url: str, note: str, start_at: float, number: int) -> None:
    """Log so many runs from a moment of the monotonic clock on, and note their ids in a file."""
    time.sleep(max(0.0, start_at - time.monotonic()))
    with Path(note).open("a", encoding="utf-8") as file:
        for _ in range(number):
            run = offdiag.log_run(
                y_true=["a", "b", "b"], y_pred=["a", "a", "b"], name="same", dataset="new", url=url
            )
            file.write(f"{run.id}\n")
