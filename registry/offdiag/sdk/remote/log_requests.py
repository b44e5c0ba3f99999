"""Request bodies for logging runs, matrices and counted samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from offdiag.domain.labels import LabelSet, label_text, refuse_fractions, require_known
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunFacts
from offdiag.inputs.counted_scores import GivenClassScores, GivenEvent
from offdiag.metrics.confusion import whole_counts
from offdiag.records.ingest import (
    CountedClassScores,
    CountedEvent,
    CountedScores,
    NewCountedRun,
    NewCounts,
    NewMatrix,
    NewPairedCounts,
    NewPairedTable,
    NewRun,
)
from offdiag.services.ingest.batch import GivenCounts, GivenMatrix, GivenPairedCounts

_ORIENTATIONS = (SourceOrientation.ACTUAL_ROWS.value, SourceOrientation.ACTUAL_COLUMNS.value)


def new_run(
    facts: RunFacts,
    dataset: str,
    labels: LabelSet | None,
    positive_label: str | None,
    hierarchy: object | None,
) -> NewRun:
    """The request that opens a run."""
    return NewRun.asked(
        **_said(facts, dataset),
        labels=None if labels is None else list(labels.names),
        ordinal=labels is not None and labels.ordinal,
        labels_inferred=labels is not None and labels.inferred,
        positive_label=positive_label,
        hierarchy=_plain(hierarchy),
    )


def new_matrix(facts: RunFacts, dataset: str, given: GivenMatrix) -> NewMatrix:
    """The request that logs a matrix. Raises `InvalidInput` for values that cannot be sent."""
    require_known(given.orientation, _ORIENTATIONS, field_name="orientation")
    return NewMatrix.asked(
        **_said(facts, dataset),
        matrix=whole_counts(given.matrix).tolist(),
        orientation=given.orientation,
        labels=None if given.labels is None else _labels(given.labels, "labels"),
        ordinal=given.ordinal,
        hierarchy=_plain(given.hierarchy),
        reported=_plain(given.reported),
    )


def new_counts(facts: RunFacts, dataset: str, given: GivenCounts) -> NewCounts:
    """The request that logs counted samples."""
    return NewCounts.asked(
        **_said(facts, dataset),
        actual=_labels(given.actual, "actual"),
        predicted=_labels(given.predicted, "predicted"),
        sizes=[int(size) for size in given.sizes],
        slices={name: _values(values) for name, values in given.slices.items()},
        **_of_counts(given),
        scores=None if given.scores is None else CountedScores.asked(**_plain(given.scores)),
        class_scores=_class_scores(given.class_scores),
    )


def _class_scores(given: GivenClassScores | None) -> CountedClassScores | None:
    if given is None:
        return None
    return CountedClassScores.asked(
        labels=list(given.of_classes),
        of_classes=[_event(event) for event in given.of_classes.values()],
        top=_event(given.top),
    )


def _event(given: GivenEvent) -> CountedEvent:
    return CountedEvent.asked(
        happened=list(given.happened),
        sizes=[int(size) for size in given.sizes],
        scores=CountedScores.asked(**_plain(given.scores)),
    )


def new_paired_counts(
    runs: Sequence[RunFacts], dataset: str, given: GivenPairedCounts
) -> NewPairedCounts:
    """The request that logs runs that were counted together."""
    said = [facts.to_dict() for facts in runs]
    project = said[0]["project"]
    return NewPairedCounts.asked(
        runs=[
            NewCountedRun.asked(**{key: value for key, value in each.items() if key != "project"})
            for each in said
        ],
        project=project,
        dataset=dataset,
        tables=[
            NewPairedTable.asked(
                actual=_labels(table.actual, "actual"),
                predicted={
                    run: _labels(values, f"predicted[{run!r}]")
                    for run, values in table.predicted.items()
                },
                sizes=[int(size) for size in table.sizes],
                slices={name: _values(values) for name, values in table.slices.items()},
            )
            for table in given.tables
        ],
        **_of_counts(given),
    )


def _of_counts(given: GivenCounts | GivenPairedCounts) -> dict[str, Any]:
    """The library that counted, and the arguments about the classes of the dataset."""
    positive = given.positive_label
    return {
        "counted_on": given.counted_on,
        "labels": None if given.labels is None else _labels(given.labels, "labels"),
        "ordinal": given.ordinal,
        "positive_label": None
        if positive is None
        else label_text(positive, field_name="positive_label"),
        "hierarchy": _plain(given.hierarchy),
    }


def _labels(values: Iterable[object], field: str) -> list[str | int | bool]:
    given = list(values)
    refuse_fractions(given, field=field)
    return [label_text(value, field_name=field) for value in given]


def _values(values: Sequence[object]) -> list[Any]:
    """Values of a slice column, or lists of tags."""
    if any(isinstance(value, list | tuple) for value in values):
        return [_plain(value) for value in values]
    return _labels(values, "slices")


def _said(facts: RunFacts, dataset: str) -> dict[str, Any]:
    return facts.to_dict() | {"dataset": dataset}


def _plain(value: Any) -> Any:
    """Lists and text in place of arrays, tuples and labels."""
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
