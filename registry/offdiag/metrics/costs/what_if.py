"""What-if questions: the same predictions with other classes, or with another prevalence.

What would the numbers be if the other class were the positive one, if classes were as common as
where the model will be used, or if two classes did not have to be distinguished? Each answer is a
new matrix, computed from the old one alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.column_names import by_label
from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.number_text import beside
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import probabilities
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.edits import NAME, code_of, cost_text, parts, read_cost, written
from offdiag.metrics.orientation import invert_classes

SUM_TOLERANCE = 1e-6
"""Rounded shares are accepted if their sum is this close to 1, and are then rescaled to 1."""


def declared_prevalence(
    prevalence: Mapping[Any, Any] | ArrayLike, *, labels: LabelSet
) -> NDArray[np.float64]:
    """The share of each class at deployment, shape (K,), summing to 1.

    `prevalence` is a mapping {label: share} that names every label, a Series of pandas whose index
    does, or a sequence of shares in label order. Raises `InvalidInput` for missing or unknown
    labels, shares outside [0, 1], and a sum that is not 1.
    """
    prevalence = by_label(prevalence, labels, field="prevalence")
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
            f"the shares add up to {beside(total, 1.0)}.",
            field="prevalence",
            hint="They must add up to 1.",
        )
    return shares / total


_SHARE = re.compile(rf"({NAME}):\s*(\S+)\s*", re.DOTALL)


@dataclass(frozen=True)
class ReadShares:
    """Stated shares by class code, and the parts of the text that are invalid, with the reason."""

    shares: Mapping[int, float] = field(default_factory=dict)
    problems: tuple[tuple[str, str], ...] = ()


def read_shares(text: str, labels: LabelSet) -> ReadShares:
    """Read `mel:0.02,df:0.001`: shares between 0 and 1 by class."""
    shares: dict[int, float] = {}
    problems = []
    for part in parts(text):
        found = _SHARE.fullmatch(part)
        code = None if found is None else code_of(found[1].strip(), labels)
        share = None if found is None else read_cost(found[2])
        if found is None:
            problems.append((part.strip(), "it is not written as class:share"))
        elif code is None:
            problems.append((part.strip(), "there is no such class"))
        elif share is None or not 0 <= share <= 1:
            problems.append((part.strip(), "a share is between 0 and 1"))
        else:
            shares[code] = share
    return ReadShares(dict(sorted(shares.items())), tuple(problems))


def shares_text(shares: Mapping[int, float], labels: LabelSet) -> str:
    return ",".join(
        f"{written(labels.names[code])}:{cost_text(share)}" for code, share in shares.items()
    )


def completed(
    shares: Mapping[int, float], matrix: ConfusionMatrix
) -> NDArray[np.float64] | str | None:
    """The share of every class (K,): unstated classes divide the rest as in the test set.

    None if nothing is stated; if the stated shares are impossible, the reason in words.
    """
    if not shares:
        return None
    stated = sum(shares.values())
    full = np.zeros(matrix.n_classes)
    full[list(shares)] = list(shares.values())
    missing = [
        matrix.labels.names[code]
        for code, share in shares.items()
        if share > 0 and matrix.actual[code] == 0
    ]
    if missing:
        return f"{missing[0]} is expected to occur and has no examples here"
    others = np.array([code not in shares for code in range(matrix.n_classes)])
    cases = matrix.actual * others
    if stated > 1 + SUM_TOLERANCE:
        return f"the shares add up to {beside(stated, 1.0)}"
    if cases.sum() == 0:
        if abs(stated - 1) > SUM_TOLERANCE:
            said = f"the shares add up to {beside(stated, 1.0)}"
            return f"{said}, and no other class could have the rest"
        return np.asarray(full / stated)
    return np.asarray(full + max(1 - stated, 0.0) * cases / cases.sum())


def other_positive_class(matrix: ConfusionMatrix) -> ConfusionMatrix:
    """The two classes in reverse order, so that the other one is the positive one.

    Raises `InvalidInput` unless there are exactly two classes.
    """
    if matrix.n_classes != 2:
        raise InvalidInput(
            f"there are {matrix.n_classes} classes.",
            field="matrix",
            hint="Merge classes first; only two classes can be exchanged.",
        )
    first, second = matrix.labels.names
    labels = LabelSet((second, first), matrix.labels.ordinal, matrix.labels.inferred)
    return ConfusionMatrix(invert_classes(matrix.counts).copy(), labels)


def at_prevalence(
    matrix: ConfusionMatrix, prevalence: Mapping[Any, Any] | ArrayLike
) -> NDArray[np.float64]:
    """The cells (K, K) to expect if the classes occur in other shares: sums of weights.

    Each actual class i counts q_i / (t_i / N) times, so that its recall and the total stay
    the same while everything that depends on prevalence changes. `prevalence` gives the share
    q_i of every label, by label or in label order.

    Raises `InvalidInput` for invalid shares, and for a class that is expected to occur but has
    no samples in the matrix.
    """
    shares = declared_prevalence(prevalence, labels=matrix.labels)
    without_cases = (shares > 0) & (matrix.actual == 0)
    if without_cases.any():
        missing = matrix.labels.names[int(np.argmax(without_cases))]
        raise InvalidInput(
            f"class {missing!r} is expected to occur but has no examples here.",
            field="prevalence",
            hint="Give it the share 0 or evaluate data that contain it.",
        )
    factors = shares * matrix.total / np.maximum(matrix.actual, 1)
    return np.asarray(matrix.counts * factors[:, np.newaxis])


def merge_classes(
    matrix: ConfusionMatrix, groups: Mapping[Any, Iterable[object]]
) -> ConfusionMatrix:
    """The matrix of a coarser problem: confusions inside a group are no longer errors.

    `groups` maps the name of each merged class to its members; a label that no group names
    stays as it is. A merged class takes the position of its first member. Labels stay ordinal as
    long as every group consists of neighbours.

    Raises `InvalidInput` for unknown labels, a label in two groups, an empty group, and a
    name that an unmerged label already has.
    """
    new_name = _names_after(matrix.labels, groups)
    names = tuple(dict.fromkeys(new_name))
    place = {name: code for code, name in enumerate(names)}
    codes = np.array([place[name] for name in new_name])
    counts = np.zeros((len(names), len(names)), np.int64)
    np.add.at(counts, (codes[:, np.newaxis], codes), matrix.counts)
    # If the codes never fall, all groups consist of neighbours.
    keeps_order = matrix.labels.ordinal and bool((np.diff(codes) >= 0).all())
    return ConfusionMatrix(counts, LabelSet(names, keeps_order, matrix.labels.inferred))


def _names_after(labels: LabelSet, groups: Mapping[Any, Iterable[object]]) -> list[str]:
    """For each label, the name of the class to which it belongs after merging."""
    name_of: dict[str, str] = {}
    for group, members in groups.items():
        merged = label_text(group, field_name="groups")
        codes = [labels.code_of(member, field_name="groups") for member in members]
        if not codes:
            raise _refused(f"group {merged!r} is empty.", "Name its members or leave it out.")
        for code in codes:
            member = labels.names[code]
            if member in name_of:
                raise _refused(
                    f"{member!r} is named twice.", "Put each label into one group, once."
                )
            name_of[member] = merged
    for label in labels.names:
        if label not in name_of and label in name_of.values():
            raise _refused(
                f"{label!r} names a group but is not in it.",
                "Add the label to its group or choose another name.",
            )
    return [name_of.get(label, label) for label in labels.names]


def _refused(message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, field="groups", hint=hint)


def ranks(values: Sequence[float | None], *, descending: bool = False) -> tuple[int | None, ...]:
    """The rank of each value, 1 for the lowest, or for the highest if `descending`.

    Equal values share the better rank, and the ranks after it are skipped: 1, 2, 2, 4. A value
    that is undefined has no rank.
    """
    known = [value for value in values if value is not None]
    return tuple(
        None
        if value is None
        else 1 + sum(other > value if descending else other < value for other in known)
        for value in values
    )
