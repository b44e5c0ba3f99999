"""Reading the outputs of models as classes, together with what the caller says about the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Required

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import Scalar
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import readable
from offdiag.inputs.ids import aligned
from offdiag.metrics.scores.forecasts import CLASS_AXIS
from offdiag.sdk.logging import RunArguments, log_run
from offdiag.sdk.run import Run


class StreamKeywords(RunArguments, total=False):
    """The arguments of `start_run`."""

    dataset: Required[str]
    labels: Iterable[object] | None


class RunKeywords(StreamKeywords, total=False):
    """The arguments of `log_run`, except predictions, scores and ground truth."""

    sample_ids: object | None
    slices: object | None
    sample_weight: object | None


OF_SAMPLES = ("sample_ids", "slices", "sample_weight")
"""The arguments with an entry for each sample."""


def in_one_order(X: Any, y: Any, facts: RunKeywords) -> tuple[Any, Any, RunKeywords]:
    """Samples, actual classes and other arguments per sample, paired as by `aligned`."""
    known: Any = facts.copy()
    of_rows = {name: known[name] for name in OF_SAMPLES if known.get(name) is not None}
    found = aligned(X=X, y=y, **of_rows)
    known.update({name: found[name] for name in of_rows})
    return found["X"], found["y"], known


def found_params(found: Mapping[str, Scalar], given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters an integration found; those of the caller take precedence."""
    return {**found, **(given or {})}


def log_output(
    facts: RunKeywords,
    labels: LabelSet,
    *,
    y: object,
    codes: object,
    scores: object | None,
    found: Mapping[str, Scalar],
) -> Run:
    """Log the outputs of a model, given by the numbers of classes, with the parameters `found`."""
    known: dict[str, Any] = {**facts, "labels": labels}
    known["params"] = found_params(found, facts.get("params"))
    return log_run(
        y_true=named(y, labels, field="y_true"),
        y_pred=named(codes, labels, field="y_pred"),
        y_score=scores,
        **known,
    )


def class_names(labels: Iterable[object] | None, *, ordinal: bool = False) -> LabelSet:
    """The names of the classes in the order of their codes. Raises `InvalidInput` without any."""
    if labels is None:
        raise InvalidInput(
            "the model knows its classes by number only.",
            field="labels",
            hint="Name them in the order of their numbers, the first being 0.",
        )
    return LabelSet.declared(labels, ordinal=ordinal)


def named(codes: object, labels: LabelSet, *, field: str) -> NDArray[np.object_]:
    """The names of codes 0 to K - 1, shape (n,); whole numbers may be stored as floats.

    A table with one column for each class, as of one-hot targets, means the column with its
    largest value. Raises `InvalidInput` naming the first code without a class, or the first row
    without a single largest value, such as a sample with no class or with two.
    """
    given = np.asarray(readable(codes))
    if given.ndim == 2 and given.shape[CLASS_AXIS] == len(labels) > 1:
        given = _largest(given, field)
    flat = given.reshape(-1)
    places = None
    if flat.dtype.kind in "iubf":
        with np.errstate(invalid="ignore"):
            places = flat.astype(np.int64)
    if places is None or len(flat) != len(given):
        raise InvalidInput(
            f"{given.dtype} of shape {given.shape} are not numbers of classes.",
            field=field,
            hint="Give one whole number from 0 for each sample.",
        )
    wrong = (places != flat) | (places < 0) | (places >= len(labels))
    if wrong.any():
        index = int(np.argmax(wrong))
        raise InvalidInput(
            f"the value {flat[index]} at index {index} is not a number of {len(labels)} classes.",
            field=field,
            hint="The classes are numbered from 0 in the order of labels=.",
        )
    return np.array(labels.names, dtype=object)[places]


def _largest(table: NDArray[Any], field: str) -> NDArray[np.int64]:
    n_largest = (table == table.max(axis=CLASS_AXIS, keepdims=True)).sum(axis=CLASS_AXIS)
    if (n_largest != 1).any():
        index = int(np.argmax(n_largest != 1))
        row = ", ".join(str(value) for value in table[index, :5].tolist())
        raise InvalidInput(
            f"the row [{row}{', …' if table.shape[CLASS_AXIS] > 5 else ''}] at index {index} has "
            "no single largest value.",
            field=field,
            hint="One-hot rows have a single 1; leave out samples without a class. Log sets of "
            "labels with log_run.",
        )
    return decided(table)


def score_columns(scores: object) -> NDArray[np.float64]:
    """Scores with one column for each class, (n, K).

    For two classes, a model may return only the probability of the second, (n,) or (n, 1). Raises
    `InvalidInput` if such a score is not a probability, for example a logit.
    """
    given = np.asarray(readable(scores), dtype=np.float64)
    if given.ndim == 2 and given.shape[CLASS_AXIS] > 1:
        return given
    if given.size != len(given):
        raise InvalidInput(
            f"the shape is {given.shape}.",
            field="y_score",
            hint="Give scores of shape (n,) or (n, K).",
        )
    second = given.reshape(-1)
    outside = (second < 0) | (second > 1)
    if outside.any():
        index = int(np.argmax(outside))
        raise InvalidInput(
            f"the score at index {index} is {second[index]}, which is not a probability of the "
            "second class.",
            field="y_score",
            hint="Give probabilities, as a sigmoid makes of logits, or one score for each class.",
        )
    return np.stack([1 - second, second], axis=CLASS_AXIS)


def decided(scores: NDArray[Any]) -> NDArray[np.int64]:
    """The code of the class with the highest score, the first if several are equal, shape (n,)."""
    codes: NDArray[np.int64] = scores.argmax(axis=CLASS_AXIS)
    return codes
