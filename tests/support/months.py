"""A registry after months of training, as the benchmark of its pages fills it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.services.evaluation import compute
from offdiag.store.database import Database

DATASETS = ("payments", "skin", "objects", "photo tags")
"""Two classes, seven, a hundred, and sets of labels."""


@dataclass(frozen=True)
class Months:
    """Runs of two models on each of `DATASETS`, to be read only."""

    database: Database


def fill_months(database: Database) -> Months:
    """Log runs of two models on each dataset."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
    from registry_336 import PLANS, fill

    plans = [plan for plan in PLANS if plan.name in DATASETS]
    assert len(plans) == len(DATASETS)
    # Nobody reads the intervals, which take half of the time with all of their draws.
    rough = partial(suite_intervals, replicates=400)
    with patch.object(compute, "suite_intervals", rough):
        fill(database, plans=plans, steps=2, share=0.4)
    return Months(database)
