"""Predictions made from scores, where a run came with nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from offdiag.arrays.labels import code_dtype
from offdiag.arrays.scores import Scores
from offdiag.domain.decision_rules import ARG_MAX, THRESHOLD, at_threshold
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput

_CLASS_AXIS = 1


def predicted_from(
    scores: Scores, labels: LabelSet, positive_label: str | None
) -> tuple[pa.DictionaryArray, Mapping[str, Any]]:
    """The class of each of n samples, and the rule as plain values.

    With a column for each class it is the one with the highest score, the first in label order of
    equal ones; with one column the positive class from 0.5 on. The single precision that is stored
    decides, so that the rule gives the same from what is stored. Raises `InvalidInput` for one
    column of scores that are no probabilities: where to cut those, nobody said.
    """
    names = pa.array(labels.names, pa.string())
    if scores.n_columns > 1 or len(labels) == 1 or positive_label is None:
        codes = scores.values.argmax(axis=_CLASS_AXIS)
        return _classes(codes, names), ARG_MAX
    score = scores.values[:, 0]
    outside = (score < 0) | (score > 1)
    if outside.any():
        index = int(np.argmax(outside))
        raise InvalidInput(
            f"the score at index {index} is {score[index]}, which is no probability, and there "
            "are no predictions.",
            field="y_pred",
            hint="Give y_pred=, decided at a threshold that fits these scores.",
        )
    positive = labels.index[positive_label]
    codes = np.where(score >= THRESHOLD, positive, 1 - positive)
    return _classes(codes, names), at_threshold(positive_label)


def _classes(codes: np.ndarray[Any, Any], names: pa.Array) -> pa.DictionaryArray:
    narrow = codes.astype(code_dtype(len(names)))
    return pa.DictionaryArray.from_arrays(pa.array(narrow), names)
