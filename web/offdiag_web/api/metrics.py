"""API operations that read definitions of metrics."""

from __future__ import annotations

import math
from collections.abc import Iterable

from offdiag.errors import NotFound
from offdiag.metrics.catalogue import SPECS, MetricSpec
from offdiag.metrics.names import meanings, nearest_names
from offdiag.records.runs.evaluation import Definition, Definitions, DefinitionsQuery
from offdiag_web.api.operations import operation, resource

blueprint = resource("metrics")


@operation(blueprint, "GET", "/metrics")
def list_metrics(query: DefinitionsQuery) -> Definitions:
    """Read the definitions of all metric keys."""
    return _definitions(spec for spec in SPECS if query.scope in {None, spec.scope})


@operation(blueprint, "GET", "/metrics/<key>")
def get_metric(key: str) -> Definitions:
    """Read the definitions of one metric key, or of a scikit-learn name, in each of its scopes."""
    known = {spec.key for spec in SPECS}
    keys = {each.key for each in meanings(key, known)}
    if not keys:
        raise NotFound(
            f"there is no metric {key!r}.",
            field="key",
            hint=nearest_names(key, known) or "GET /api/v1/metrics lists all.",
        )
    found = [spec for spec in SPECS if spec.key in keys]
    return _definitions(found)


def _definitions(specs: Iterable[MetricSpec]) -> Definitions:
    return Definitions(
        metrics=[
            Definition.made_of(spec, low=_end(spec.low), high=_end(spec.high)) for spec in specs
        ]
    )


def _end(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None
