"""Questions about several things at once: comparisons, stored costs, corrected labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from offdiag.comparison.differences import DIFFERENCE_THAT_MATTERS
from offdiag.domain.labels import LabelSet, TruthRevision
from offdiag.domain.texts import name_segment
from offdiag.errors import Conflict, NotFound
from offdiag.inputs.label_changes import read_label_changes
from offdiag.inputs.labels import Codes
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.counted import are_sets
from offdiag.metrics.multilabel.sets import is_known, unpack_sets
from offdiag.sdk.registry import CompareQuestion, RevisionQuestion
from offdiag.sdk.remote.patience import patiently
from offdiag.sdk.remote.reading import Reader, dataset_classes, label_set
from offdiag.wire.costs import Costs
from offdiag.wire.runs import Run
from offdiag.wire.truths import Correction


def compare(reader: Reader, question: CompareQuestion) -> Mapping[str, Any]:
    """The record of a comparison, also where it is refused."""
    asked: dict[str, Any] = {
        "runs": ",".join(question.run_ids),
        "confidence": question.confidence,
        "on_shared": str(question.on_shared).lower(),
    }
    if question.slice_text is not None:
        asked["slice"] = question.slice_text
    if question.difference != DIFFERENCE_THAT_MATTERS:
        asked["difference"] = question.difference  # Older servers refuse it.
    body = patiently(
        lambda: reader.connection.ask("GET", "/compare", params=asked),
        patience_s=reader.patience_s,
    )
    record: dict[str, Any] = json.loads(body)
    return record


def costs(reader: Reader, name: str, project: str) -> CostMatrix:
    """Stored costs by name, or by name and version as `name@2`."""
    plain, separator, number = name.rpartition("@")
    is_versioned = bool(separator) and number.isdecimal()
    found = reader.get(
        f"/cost-matrices/{name_segment(plain if is_versioned else name)}",
        Costs,
        project=project,
        version=number if is_versioned else None,
    )
    labels = LabelSet(tuple(found.labels))
    weights = [[found.weights[row][column] for column in labels.names] for row in labels.names]
    return CostMatrix(np.array(weights, dtype=np.float64), labels, found.currency)


def costs_for_run(reader: Reader, run_id: str, name: str) -> CostMatrix:
    """Stored costs of the project of a run, which must be about its classes."""
    run = reader.get(f"/runs/{run_id}", Run)
    found, labels = costs(reader, name, run.project), label_set(run.labels)
    if found.labels.names != labels.names:
        raise Conflict(
            f"cost matrix {name} is about the classes {found.labels.preview()}, run {run_id} "
            f"tells {labels.preview()} apart.",
            field="weights",
            hint="Name costs for the classes of the run.",
        )
    return CostMatrix(found.weights, labels, found.currency)


def revise_truth(reader: Reader, question: RevisionQuestion) -> TruthRevision:
    """Correct labels on the server."""
    known = dataset_classes(reader, question.dataset, question.project)
    if known is None:
        raise NotFound(
            f"project {question.project!r} has no dataset {question.dataset!r}.",
            field="dataset",
            hint="Check both names.",
        )
    changes = read_label_changes(question.labels, known.labels, question.names)
    body = Correction(
        project=question.project,
        samples=changes.ids.to_list(),
        labels=_named(changes.codes, known.labels),
        reason=question.reason,
        version=question.version,
        author=question.author,
    )
    path = f"/datasets/{name_segment(question.dataset)}/truth"
    answer = reader.send("POST", path, body)
    return TypeAdapter(TruthRevision).validate_json(answer)


def _named(codes: Codes, labels: LabelSet) -> list[str | None] | list[list[str] | None]:
    """Classes or sets by name, None where a sample is to have none any more."""
    size = len(labels)
    if not are_sets(codes):
        names = [*labels.names, None]
        return [names[code] for code in codes.tolist()]
    members, known = unpack_sets(codes, size), is_known(codes, size)
    return [
        [labels.names[code] for code in np.flatnonzero(row)] if is_there else None
        for row, is_there in zip(members, known, strict=True)
    ]
