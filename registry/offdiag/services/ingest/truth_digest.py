"""Ground truth told apart by its content."""

from __future__ import annotations

import hashlib

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.inputs.ids import SampleIds, update_digest
from offdiag.inputs.labels import Codes
from offdiag.metrics.counted import are_sets


def truth_digest(labels: LabelSet, actual: Codes, ids: SampleIds | None) -> str:
    """SHA-256 of ground truth. With identifiers both arrays must be in identifier order."""
    content = hashlib.sha256(
        b"offdiag truth 1 of sets" if are_sets(actual) else b"offdiag truth 1"
    )
    content.update(labels.digest.encode())
    content.update(np.ascontiguousarray(actual).data)
    if ids is not None:
        update_digest(content, ids)
    return content.hexdigest()
