"""Two transactions that insert the same thing at once: one does, the other finds it done.

SQLite has one writer at a time. On PostgreSQL both may look, find nothing and insert; then the
unique constraint stops the second one, which has to look again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import IntegrityError

Result = TypeVar("Result")

_TURNS = 5
"""Each turn finds one more thing that another transaction has inserted: a project, a dataset…"""


def after_races(transaction: Callable[[], Result]) -> Result:
    """What a whole transaction returns, begun anew where another one was faster."""
    for _ in range(_TURNS):
        try:
            return transaction()
        except IntegrityError:
            continue
    return transaction()
