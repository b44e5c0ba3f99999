"""The metrics of one class against the rest, each a function of its four counts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offdiag.metrics.per_class import rates, ratios, scores
from offdiag.metrics.per_class.one_vs_rest import ClassMetric

SPECS: tuple[ClassMetric, ...] = (*rates.SPECS, *scores.SPECS, *ratios.SPECS)
PER_CLASS: Mapping[str, ClassMetric] = MappingProxyType({spec.key: spec for spec in SPECS})
