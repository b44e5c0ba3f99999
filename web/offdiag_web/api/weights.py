"""Weights as they are sent, by the names of their classes."""

from __future__ import annotations

from offdiag.errors import InvalidInput
from offdiag.records.cost import Weights


def weights_by_class(sent: Weights | list[list[float]], labels: list[str] | None) -> Weights:
    """Every cell by the names of its classes: rows are matched by label and never guessed.

    Raises `InvalidInput`.
    """
    if isinstance(sent, dict):
        return sent
    if labels is None:
        raise InvalidInput(
            "nobody says which class a row is about.",
            field="labels",
            hint="Send the classes in the order of rows and columns.",
        )
    size = len(labels)
    if len(set(labels)) < size:
        raise InvalidInput("a class is named twice.", field="labels", hint="Name each class once.")
    if len(sent) != size or any(len(row) != size for row in sent):
        lengths = sorted({len(row) for row in sent})
        raise InvalidInput(
            f"there are {len(sent)} rows of {lengths} weights for {size} classes.",
            field="weights",
            hint="Send one row, and in it one weight, for each class.",
        )
    return {
        actual: dict(zip(labels, row, strict=True))
        for actual, row in zip(labels, sent, strict=True)
    }
