"""A stored run with all that is known of it as a whole, as a search finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import RunState, Scalar
from offdiag.domain.values import MetricValue


@dataclass(frozen=True, slots=True)
class FoundRun:
    """One run. `metrics` holds aggregates by key and is empty until it has been evaluated.

    `truth_version` is the one its metrics are of. `hides_minority` is None where nothing can
    be said about it; `may_hide_minority` is True where a gap is in sight and none is proved.
    """

    id: str
    name: str
    model: str | None
    project: str
    dataset: str
    truth_version: int | None
    state: RunState
    author: str | None
    git_sha: str | None
    created_at: datetime
    n_predictions: int
    hides_minority: bool | None
    may_hide_minority: bool | None
    params: Mapping[str, Scalar]
    tags: Mapping[str, Scalar]
    metrics: Mapping[str, MetricValue]
