"""One number for a whole matrix: the aggregate metrics by key."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offdiag.metrics.aggregates import (
    accuracy,
    agreement,
    custom,
    information,
    macro_averages,
    weighted_averages,
)
from offdiag.metrics.aggregates.classified import AggregateMetric

SPECS: tuple[AggregateMetric, ...] = (
    *accuracy.SPECS,
    *agreement.SPECS,
    *information.SPECS,
    *weighted_averages.SPECS,
    *macro_averages.SPECS,
    *custom.SPECS,
)
AGGREGATES: Mapping[str, AggregateMetric] = MappingProxyType({spec.key: spec for spec in SPECS})
