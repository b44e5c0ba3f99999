"""Class shares at deployment of which somebody knows only some."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.class_names import NAME, code_of, parts, written
from offdiag.metrics.costs.edits import cost_text, read_cost
from offdiag.metrics.costs.prevalence import SUM_TOLERANCE

_SHARE = re.compile(rf"\s*({NAME}):\s*(\S+)\s*", re.DOTALL)


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
        return f"{missing[0]} is expected to occur and has no cases here"
    others = np.array([code not in shares for code in range(matrix.n_classes)])
    cases = matrix.actual * others
    if stated > 1 + SUM_TOLERANCE:
        return f"the shares add up to {stated:g}"
    if cases.sum() == 0:
        if abs(stated - 1) > SUM_TOLERANCE:
            return f"the shares add up to {stated:g}, and no other class could have the rest"
        return np.asarray(full / stated)
    return np.asarray(full + max(1 - stated, 0.0) * cases / cases.sum())
