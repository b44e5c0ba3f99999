"""Definitions of metrics."""

from __future__ import annotations

import math
from collections.abc import Iterable

from offdiag.errors import NotFound
from offdiag.metrics.catalogue import SPECS, MetricSpec
from offdiag.records.evaluation import Definition, Definitions, DefinitionsWanted
from offdiag_web.api.operations import operation, resource

blueprint = resource("metrics")


@operation(blueprint, "GET", "/metrics", answers=Definitions)
def list_metrics(query: DefinitionsWanted) -> Definitions:
    """Read what every metric key means."""
    return _definitions(spec for spec in SPECS if query.scope in {None, spec.scope})


@operation(blueprint, "GET", "/metrics/<key>", answers=Definitions)
def get_metric(key: str) -> Definitions:
    """Read what one metric key means, in each scope it exists in."""
    found = [spec for spec in SPECS if spec.key == key]
    if not found:
        raise NotFound(
            f"there is no metric {key!r}.", field="key", hint="GET /api/v1/metrics lists all."
        )
    return _definitions(found)


def _definitions(specs: Iterable[MetricSpec]) -> Definitions:
    return Definitions(metrics=[_definition(spec) for spec in specs])


def _definition(spec: MetricSpec) -> Definition:
    return Definition(
        key=spec.key,
        scope=spec.scope.value,
        version=spec.version,
        title=spec.title,
        symbol=spec.symbol,
        formula=spec.formula,
        low=_end(spec.low),
        high=_end(spec.high),
        direction=spec.direction.value,
        undefined_when={reason.value: text for reason, text in spec.undefined_when.items()},
        ignores=list(spec.ignores),
        other_names=dict(spec.other_names),
        source=spec.source,
        notes=spec.notes,
    )


def _end(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None
