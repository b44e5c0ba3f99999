"""A run whose recall is low at one of three sites, and groups that are small."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from offdiag.domain.runs import RunFacts
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.logging_runs import log

FOUND: Mapping[str, tuple[int, int, int, int]] = {
    "x": (27, 3, 2, 28),
    "y": (17, 3, 3, 17),
    "z": (8, 12, 1, 19),
    "tiny": (1, 1, 0, 3),
}
"""By site: ill and found, ill and missed, well and taken for ill, well and rejected."""


def log_sites(
    database: Database,
    found: Mapping[str, tuple[int, int, int, int]] = FOUND,
    *,
    name: str = "sites",
    **changes: Any,
) -> RunRecord:
    """Log a run of ill and well examples at sites; device tells apart halves of each site."""
    actual: list[str] = []
    predicted: list[str] = []
    site: list[str] = []
    for where, counts in found.items():
        for n, (true, answer) in zip(counts, OUTCOMES, strict=True):
            actual += [true] * n
            predicted += [answer] * n
            site += [where] * n
    facts: dict[str, Any] = {
        "y_true": actual,
        "y_pred": predicted,
        "slices": {"site": site, "device": ["ab"[at % 2] for at in range(len(site))]},
        "sample_ids": list(range(len(site))),
        "positive_label": "ill",
        "facts": RunFacts(name=name),
    }
    return log(database, **(facts | changes))


OUTCOMES = (("ill", "ill"), ("ill", "well"), ("well", "ill"), ("well", "well"))
