"""What is logged, as the bodies of requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from offdiag.domain.labels import LabelSet, label_text, refuse_fractions, require_known
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunFacts
from offdiag.metrics.confusion import whole_counts
from offdiag.services.ingest.given import GivenCounts, GivenMatrix
from offdiag.wire.ingest import NewCounts, NewMatrix, NewRun

_ORIENTATIONS = (SourceOrientation.ACTUAL_ROWS.value, SourceOrientation.ACTUAL_COLUMNS.value)


def new_run(
    facts: RunFacts,
    dataset: str,
    labels: LabelSet | None,
    positive_label: str | None,
    hierarchy: object | None,
) -> NewRun:
    """The request that opens a run."""
    return NewRun(
        **_said(facts, dataset),
        labels=None if labels is None else list(labels.names),
        ordinal=labels is not None and labels.ordinal,
        labels_inferred=labels is not None and labels.inferred,
        positive_label=positive_label,
        hierarchy=_plain(hierarchy),
    )


def new_matrix(facts: RunFacts, dataset: str, given: GivenMatrix) -> NewMatrix:
    """The request that logs a matrix. Raises `InvalidInput` for what no request can say."""
    require_known(given.orientation, _ORIENTATIONS, field_name="orientation")
    return NewMatrix(
        **_said(facts, dataset),
        matrix=whole_counts(given.matrix).tolist(),
        orientation=given.orientation,
        labels=None if given.labels is None else _labels(given.labels, "labels"),
        ordinal=given.ordinal,
        hierarchy=_plain(given.hierarchy),
    )


def new_counts(facts: RunFacts, dataset: str, given: GivenCounts) -> NewCounts:
    """The request that logs counted cases."""
    return NewCounts(
        **_said(facts, dataset),
        actual=_labels(given.actual, "actual"),
        predicted=_labels(given.predicted, "predicted"),
        sizes=[int(size) for size in given.sizes],
        counted_on=given.counted_on,
        slices={name: _labels(values, "slices") for name, values in given.slices.items()},
        labels=None if given.labels is None else _labels(given.labels, "labels"),
        ordinal=given.ordinal,
        positive_label=None
        if given.positive_label is None
        else label_text(given.positive_label, field_name="positive_label"),
        hierarchy=_plain(given.hierarchy),
    )


def _labels(values: Iterable[object], field: str) -> list[str | int | bool]:
    given = list(values)
    refuse_fractions(given, field=field)
    return [label_text(value, field_name=field) for value in given]


def _said(facts: RunFacts, dataset: str) -> dict[str, Any]:
    return {
        "name": facts.name,
        "project": facts.project,
        "dataset": dataset,
        "model": facts.model,
        "client_key": facts.client_key,
        "params": dict(facts.params),
        "tags": dict(facts.tags),
        "author": facts.author,
        "git_sha": facts.git_sha,
    }


def _plain(value: Any) -> Any:
    """Lists and texts in place of arrays, tuples and labels."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if hasattr(value, "items"):
        return {
            label_text(key, field_name="hierarchy"): _plain(item) for key, item in value.items()
        }
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    return label_text(value, field_name="hierarchy")
