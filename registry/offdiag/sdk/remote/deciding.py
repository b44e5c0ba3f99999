"""Deciding the cases of a run anew on the server that has their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from offdiag.domain.labels import LabelSet, label_text
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.decisions import finite_threshold
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.prevalence import declared_prevalence
from offdiag.sdk.decision import Decided, DecideQuestion, Threshold
from offdiag.sdk.remote.reading import Reader, label_set
from offdiag.wire.decisions import DecisionAnswer, DecisionAsked
from offdiag.wire.runs import Run


def decide(reader: Reader, run_id: str, question: DecideQuestion) -> Decided:
    """Answer the question about an evaluated run, and keep the answers if that is asked for."""
    asked = DecisionAsked(
        **_pricing(reader, run_id, question),
        threshold=_threshold(question.threshold),
        positive=question.positive,
        save_as=question.save_as,
        author=question.author,
    )
    answer = reader.send("POST", f"/runs/{run_id}/decisions", asked)
    found = DecisionAnswer.model_validate_json(answer)
    labels = label_set(found.labels)
    return Decided(
        recipe=found.recipe,
        mean_cost_before=found.mean_cost_before.measured(),
        mean_cost_after=found.mean_cost_after.measured(),
        difference=found.difference.measured(),
        matrix_before=ConfusionMatrix(np.array(found.matrix_before, dtype=np.int64), labels),
        matrix_after=ConfusionMatrix(np.array(found.matrix_after, dtype=np.int64), labels),
        recall_changes={key: value.measured() for key, value in found.recall_changes.items()},
        saved=found.run,
    )


def _pricing(reader: Reader, run_id: str, question: DecideQuestion) -> dict[str, Any]:
    """Costs and shares as plain values, checked here where arrays and frames are at hand."""
    weights, prevalence = question.weights, question.prevalence
    is_named = weights is None or isinstance(weights, str)
    if is_named and prevalence is None:
        return {"weights": weights}
    labels = label_set(reader.get(f"/runs/{run_id}", Run).labels)
    asked: dict[str, Any] = {"weights": weights}
    if not is_named:
        rows = cost_matrix(weights, labels=labels).weights.tolist()
        asked = {"weights": rows, "labels": list(labels.names)}
    if prevalence is not None:
        asked["prevalence"] = _shares(prevalence, labels)
    return asked


def _shares(given: object, labels: LabelSet) -> dict[str, float]:
    """The shares as they were stated; whoever answers scales rounded ones."""
    stated = given if isinstance(given, Mapping) else cast("Any", given)
    declared_prevalence(stated, labels=labels)
    if isinstance(given, Mapping):
        return {
            label_text(key, field_name="prevalence"): float(share) for key, share in given.items()
        }
    return dict(zip(labels.names, np.asarray(stated, dtype=np.float64).tolist(), strict=True))


def _threshold(given: Threshold) -> Threshold:
    return given if given is None or given == "cheapest" else finite_threshold(given)
