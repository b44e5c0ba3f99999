"""Intervals and verdicts of one evaluation, remembered for the next one of the same predictions.

Most tests of services and pages log the same few predictions, and resampling and judging them
took a fifth of their time. What comes out is the same every time, as tests of both say.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy.util import LRUCache

from offdiag.services.evaluation import compute
from offdiag.services.flags import verdicts

_KEPT = 500
_SLOW = (
    *((compute, name) for name in ("suite_intervals", "multilabel_intervals", "score_intervals")),
    (verdicts, "assess"),
)
"""Functions of their arguments alone, and from where evaluations call them."""


class Intervals:
    """What evaluations that are computed in this process have resampled and judged.

    Once it has a `folder`, it shares them with the other processes that have the same.
    """

    folder: Path | None = None

    def remember(self) -> None:
        """Let evaluations look here first."""
        for caller, name in _SLOW:
            setattr(caller, name, self._remembered(name, getattr(caller, name)))

    def _remembered(self, name: str, compute_anew: Callable[..., Any]) -> Callable[..., Any]:
        known: LRUCache[bytes, Any] = LRUCache(_KEPT)

        def remembered(*arguments: Any, **named: Any) -> Any:
            asked = pickle.dumps((name, arguments, named))
            if asked not in known:
                known[asked] = self._shared(asked, lambda: compute_anew(*arguments, **named))
            return known[asked]

        return remembered

    def _shared(self, asked: bytes, compute_anew: Callable[[], Any]) -> Any:
        if self.folder is None:
            return compute_anew()
        file = self.folder / sha256(asked).hexdigest()
        if file.exists():
            return pickle.loads(file.read_bytes())
        found = compute_anew()
        # Another process finds the whole file or none.
        unfinished = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        unfinished.write_bytes(pickle.dumps(found))
        unfinished.rename(file)
        return found
