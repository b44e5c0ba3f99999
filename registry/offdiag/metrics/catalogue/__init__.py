"""The catalogue: what each metric key means, what it ignores and how it can be misread."""

from offdiag.metrics.catalogue.spec import (
    Direction,
    MetricSpec,
    Scope,
    Symmetry,
    Transformation,
)

__all__ = ["Direction", "MetricSpec", "Scope", "Symmetry", "Transformation"]
