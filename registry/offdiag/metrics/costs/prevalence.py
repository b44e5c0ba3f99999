"""Prevalence at deployment: how often each class will occur where the model is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet, label_text
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import probabilities

SUM_TOLERANCE = 1e-6
"""Rounded shares are accepted if their sum is this close to 1, and then scaled to it."""


def declared_prevalence(
    prevalence: Mapping[Any, Any] | ArrayLike, *, labels: LabelSet
) -> NDArray[np.float64]:
    """The share of each class at deployment, shape (K,), summing to 1.

    `prevalence` is a mapping {label: share} that names every label, or a sequence of shares
    in label order. Raises `InvalidInput` for missing or unknown labels, shares outside
    [0, 1], and a sum that is not 1.
    """
    if isinstance(prevalence, Mapping):
        given = {
            label_text(key, field_name="prevalence"): share for key, share in prevalence.items()
        }
        if set(given) != set(labels.names):
            unmatched = sorted(set(given) ^ set(labels.names))
            raise InvalidInput(
                f"{unmatched[0]!r} is not among both the shares and the labels "
                f"{labels.preview()}.",
                field="prevalence",
                hint="Give one share for each label.",
            )
        prevalence = [given[name] for name in labels.names]
    shares = probabilities(prevalence, field="prevalence")
    if shares.shape != (len(labels),):
        raise InvalidInput(
            f"the shape is {shares.shape} for {len(labels)} classes {labels.preview()}.",
            field="prevalence",
            hint="Give one share for each label, in label order.",
        )
    total = float(shares.sum())
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InvalidInput(
            f"the shares add up to {total:g}.", field="prevalence", hint="They must add up to 1."
        )
    return shares / total
