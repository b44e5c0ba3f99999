"""Classes that need not be told apart: confusions inside a group are priced as right answers."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.class_names import NAME, code_of, names, parts, written
from offdiag.metrics.costs.matrix import CostMatrix

Groups = tuple[tuple[int, ...], ...]
"""Disjoint groups of two or more class codes, each ascending."""

_GROUP = re.compile(rf"\s*{NAME}(?:\|{NAME})+\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReadGroups:
    """The groups in a text, and the parts of it that are none, each with the reason."""

    groups: Groups
    problems: tuple[tuple[str, str], ...] = ()


def read_groups(text: str, labels: LabelSet) -> ReadGroups:
    """Read `bcc|akiec,mel|nv`: groups parted by commas, their classes by bars."""
    groups: list[tuple[int, ...]] = []
    problems = []
    for part in parts(text):
        codes = [code_of(name, labels) for name in names(part)]
        known = tuple(sorted({code for code in codes if code is not None}))
        if _GROUP.fullmatch(part) is None:
            problems.append((part.strip(), "a group is written as class|class"))
        elif None in codes:
            problems.append((part.strip(), "it names a class that does not exist"))
        elif len(known) < 2 or any(set(known) & set(other) for other in groups):
            problems.append((part.strip(), "a class belongs to one group, once"))
        else:
            groups.append(known)
    return ReadGroups(tuple(sorted(groups)), tuple(problems))


def groups_text(groups: Groups, labels: LabelSet) -> str:
    """The groups as they are written."""
    return ",".join("|".join(written(labels.names[code]) for code in group) for group in groups)


def group_names(groups: Groups, labels: LabelSet) -> dict[str, list[str]]:
    """Each group by a name that no class has: those of its members."""
    found = {}
    for group in groups:
        members = [labels.names[code] for code in group]
        name = " or ".join(members)
        while name in labels.index:
            name += " merged"
        found[name] = members
    return found


def forgiven(costs: CostMatrix, groups: Groups) -> CostMatrix:
    """The costs when an answer inside the group of the actual class is as good as right."""
    weights = costs.weights.copy()
    for group in groups:
        right = np.diagonal(costs.weights)[list(group)]
        weights[np.ix_(group, group)] = right[:, np.newaxis]
    return CostMatrix(weights, costs.labels, costs.currency)
