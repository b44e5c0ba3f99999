"""What an evaluation yields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offdiag.domain.values import MetricValue

INTERVAL_SEED = 1
"""One seed for all runs: the same matrix gives the same intervals, bit for bit, everywhere."""


@dataclass(frozen=True)
class EvaluatedValues:
    """All aggregates by key, and K values in label order for each per-class key."""

    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, Sequence[MetricValue]]
