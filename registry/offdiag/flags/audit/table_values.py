"""Metrics of many 2 x 2 tables, computed by the suite."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.flags.audit.feasible import Counts, Sizes
from offdiag.flags.audit.interval import ROUNDING, Interval
from offdiag.metrics.suite import PER_CLASS_KEYS, evaluate_stack

Floats = NDArray[np.float64]
_CLASS_KEYS = frozenset(PER_CLASS_KEYS)


def table_values(key: str, code: int | None, hits: Counts, alarms: Counts, sizes: Sizes) -> Floats:
    """A metric of tables given by hits and false alarms of the first class, shape (R,).

    Undefined values are NaN, positive numbers over zero +inf. Weighted kappas take the two
    classes as ordered, which for two classes changes nothing.
    """
    first, second = sizes
    cells = np.stack([hits, first - hits, alarms, second - alarms], axis=-1)
    suite = evaluate_stack(cells.astype(np.int64).reshape(-1, 2, 2), ordinal=True)
    quantity = suite.per_class[key] if key in _CLASS_KEYS else suite.aggregate[key]
    values = np.where(quantity.to_infinity, np.inf, quantity.value)
    return values if code is None else values[:, code]


def is_met(values: Floats, allowed: Interval | None) -> NDArray[np.bool_]:
    """Where values lie in the allowed interval; with None, where there is no finite value."""
    if allowed is None:
        return ~np.isfinite(values)
    with np.errstate(invalid="ignore"):
        met = (values >= allowed.low - ROUNDING) & (values <= allowed.high + ROUNDING)
    return np.asarray(met | np.isnan(values)) if allowed.or_undefined else np.asarray(met)
