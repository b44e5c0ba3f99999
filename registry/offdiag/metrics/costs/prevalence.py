"""Prevalence at deployment: how often each class will occur, fully or partly known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.labels import LabelSet, label_text
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import probabilities
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.edits import NAME, code_of, cost_text, parts, read_cost, written

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


_SHARE = re.compile(rf"({NAME}):\s*(\S+)\s*", re.DOTALL)


@dataclass(frozen=True)
class ReadShares:
    """Stated shares by class code, and the parts of the text that state none, with the reason."""

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
    """The shares as they are written."""
    return ",".join(
        f"{written(labels.names[code])}:{cost_text(share)}" for code, share in shares.items()
    )


def completed(
    shares: Mapping[int, float], matrix: ConfusionMatrix
) -> NDArray[np.float64] | str | None:
    """The share of every class (K,): the others divide the rest as in the test set.

    None where nothing is stated, and the reason in words where what is stated cannot be.
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
        return f"the shares add up to {stated:g}"
    if cases.sum() == 0:
        if abs(stated - 1) > SUM_TOLERANCE:
            return f"the shares add up to {stated:g}, and no other class could have the rest"
        return np.asarray(full / stated)
    return np.asarray(full + max(1 - stated, 0.0) * cases / cases.sum())
