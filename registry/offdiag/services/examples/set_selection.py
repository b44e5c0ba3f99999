"""Picking predicted sets of labels: by a label that they hold, and by what they got wrong."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import differ, is_labelled
from offdiag.metrics.multilabel.sets import holds_label
from offdiag.services.examples.question import Kind, Wanted


def matching_sets(
    what: Wanted, actual: Codes, predicted: Codes, n_labels: int
) -> NDArray[np.bool_]:
    """Which of n cases are meant, (n,), given packed sets.

    Where a label is named the case is right if the other set holds it too; otherwise whole sets
    are compared. A case whose true set nobody knows is neither right nor wrong.
    """
    known = is_labelled(actual, n_labels)
    of_unknown = what.actual == (n_labels,)
    found = ~known if of_unknown else np.ones(len(predicted), dtype=np.bool_)
    if what.actual is not None and not of_unknown:
        found &= _hold(actual, what.actual)
    if what.predicted is not None:
        found &= _hold(predicted, what.predicted)
    if what.kind is Kind.ALL:
        return found
    if what.actual is not None:
        is_right = _hold(predicted, what.actual)
    elif what.predicted is not None:
        is_right = _hold(actual, what.predicted)
    else:
        is_right = ~differ(actual, predicted, n_labels)
    return found & known & (is_right if what.kind is Kind.RIGHT else ~is_right)


def _hold(sets: Codes, labels: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which sets hold one of the labels."""
    bits = sets.astype(np.uint8, copy=False)
    return np.asarray(np.logical_or.reduce([holds_label(bits, code) for code in labels]))
