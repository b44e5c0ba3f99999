"""The labels of a dataset: whether those of a run are the same, and which class is positive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from offdiag.domain.labels import LabelSet
from offdiag.errors import Conflict, InvalidInput


class KnownDataset(Protocol):
    """An existing dataset, in a database or as described by a server."""

    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> LabelSet: ...

    @property
    def labels_inferred(self) -> bool: ...

    @property
    def positive_label(self) -> str | None: ...


def require_same_labels(dataset: KnownDataset, labels: LabelSet) -> None:
    """Raise `Conflict` unless the labels are the dataset's, in the same order."""
    if labels.digest == dataset.labels.digest:
        return
    how = "inferred from its first run" if dataset.labels_inferred else "declared"
    difference = (
        "in another order or with another meaning of it"
        if set(labels.names) == set(dataset.labels.names)
        else f"with {labels.preview()}"
    )
    raise Conflict(
        f"dataset {dataset.name!r} has the labels {dataset.labels.preview()}, {how}; "
        f"this run comes {difference}.",
        field="labels",
        hint="Leave labels= out to use the dataset's, or log to a dataset of another name.",
    )


@dataclass(frozen=True, slots=True)
class PositiveClass:
    """The positive one of two classes: it was named, or follows from the labels."""

    label: str
    by_convention: bool


def positive_class(labels: LabelSet, stated: str | None) -> PositiveClass | None:
    """The stated positive class, or else the conventional one, None without either.

    Raises `InvalidInput` for a stated one that is not one of two classes.
    """
    named = positive_in(labels, stated)
    if named is not None:
        return PositiveClass(named, by_convention=False)
    usual = labels.conventional_positive
    return None if usual is None else PositiveClass(usual, by_convention=True)


def positive_in(labels: LabelSet, positive_label: str | None) -> str | None:
    """The positive label, if one is named: it must be one of two classes."""
    if positive_label is None:
        return None
    code = labels.code_of(positive_label, field_name="positive_label")
    if len(labels) != 2:
        raise InvalidInput(
            f"there are {len(labels)} classes.",
            field="positive_label",
            hint="Only a dataset of two classes has a positive one; leave it out.",
        )
    return labels.names[code]
