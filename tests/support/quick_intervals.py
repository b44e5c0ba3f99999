"""Intervals of one evaluation, remembered for the next one of the same predictions.

Most tests of services and pages log the same few predictions, and resampling them took a sixth
of their time. What comes out is the same bits every time, as tests of the intervals say.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from sqlalchemy.util import LRUCache

from offdiag.services.evaluation import compute

_KEPT = 500


def remember_intervals() -> None:
    """Let evaluations that are computed in this process share what they resampled."""
    for name in ("suite_intervals", "multilabel_intervals", "score_intervals"):
        setattr(compute, name, _remembered(getattr(compute, name)))


def _remembered(resample: Callable[..., Any]) -> Callable[..., Any]:
    known: LRUCache[bytes, Any] = LRUCache(_KEPT)

    def remembered(*arguments: Any, **named: Any) -> Any:
        asked = pickle.dumps((arguments, named))
        if asked not in known:
            known[asked] = resample(*arguments, **named)
        return known[asked]

    return remembered
