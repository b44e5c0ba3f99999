"""Runs on classes that are in groups, few and many of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from offdiag.services.datasets import set_hierarchy
from offdiag.store.database import Database
from support.dashboard import log_counts

THINGS = ("cat", "dog", "car", "plane", "other")
TREE: dict[str, Any] = {"animal": ["dog", "cat"], "vehicle": {"road": ["car"], "air": ["plane"]}}
THING_COUNTS = (
    (40, 6, 1, 0, 1),
    (5, 30, 0, 2, 0),
    (0, 1, 50, 7, 0),
    (2, 0, 4, 20, 0),
    (0, 0, 0, 0, 9),
)
"""Actual classes down, predicted classes across."""
N_WIDE = 36


@dataclass(frozen=True)
class GroupedRegistry:
    """Ids of two runs on five classes, one on 36 classes in nine groups, one without groups."""

    database: Database
    first: str
    second: str
    wide: str
    plain: str


def fill_grouped(database: Database) -> GroupedRegistry:
    """Log the runs and group their classes."""
    other = np.array(THING_COUNTS)
    other[0, :2] = (44, 2)
    wide = tuple(f"class {number:02d}" for number in range(N_WIDE))
    counts = np.random.default_rng(1).integers(0, 2, (N_WIDE, N_WIDE)) + 9 * np.eye(
        N_WIDE, dtype=int
    )
    found = GroupedRegistry(
        database,
        first=log_counts(database, THING_COUNTS, THINGS, name="first", dataset="things"),
        second=log_counts(database, other.tolist(), THINGS, name="second", dataset="things"),
        wide=log_counts(database, counts.tolist(), wide, name="wide", dataset="wide"),
        plain=log_counts(database, ((3, 1), (1, 3)), ("a", "b"), name="plain", dataset="plain"),
    )
    groups = {f"group {g}": list(wide[g::9]) for g in range(9)}
    for dataset, given in (("things", TREE), ("wide", groups)):
        set_hierarchy(database, project="default", dataset=dataset, given=given)
    return found
