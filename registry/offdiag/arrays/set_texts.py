"""Sets of labels as one text each, as files hold them: sea|sky."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet

BETWEEN = "|"
"""What stands between two labels of a set."""


def sets_of_texts(values: Any) -> list[list[str] | None]:
    """The labels of each text; a blank one has none, a missing one stays missing."""
    items: Iterable[object] = (
        values.to_pylist() if isinstance(values, (pa.Array, pa.ChunkedArray)) else values
    )
    return [None if item is None else _members(item) for item in items]


def _members(item: object) -> list[str]:
    text = str(item)
    return [part.strip() for part in text.split(BETWEEN)] if text.strip() else []


def set_text(labels: LabelSet, members: NDArray[np.bool_]) -> str:
    """A set as people read it: {sea, sky}. `members` (q,) says which labels it holds."""
    return "{" + ", ".join(set_members(labels, members)) + "}"


def set_members(labels: LabelSet, members: NDArray[np.bool_]) -> tuple[str, ...]:
    """The names of the labels that a set holds, in label order."""
    return tuple(labels.names[code] for code in np.flatnonzero(members).tolist())
