r"""Changes to a cost matrix and groups of classes, written as a line of text that a user edits.

`mel>nv:20` sets the cost of actual "mel" predicted as "nv"; `mel>*:x2` doubles the costs of all
errors on "mel", `*>nv:x2` of all errors that predict "nv", `bcc|mel>*:x2` of a group of classes,
and `van*>*:x2` of the classes whose names begin with "van". Changes are separated by commas. A
name that contains one of `, > : | * " \`, or blanks at an end, must be in quotes.

Multiplications come first and apply to errors only; the cost of a correct prediction changes only
if its cell is set. Equal changes always have the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.matrix import LARGEST_COST, SMALLEST_COST, CostMatrix

QUOTED = r'"(?:[^"\\]|\\.)*"'
# Possessive, so that a long run of spaces is read once, whatever comes after it.
NAME = rf'\s*+(?:{QUOTED}\s*+|[^",>:|\\\s][^",>:|\\]*+)'
_PARTS = re.compile(rf"(?:{QUOTED}|[^\",]|\")+", re.DOTALL)
_NEEDS_QUOTES = re.compile(r'[,>:|*"\\]|^\s|\s\Z|^\Z')


def parts(text: str) -> list[str]:
    """Split a text at its commas, except for those inside quotes."""
    return _PARTS.findall(text)


def names(text: str) -> list[str]:
    """Split a text at its bars, leaving the names as they are written."""
    return [name.strip() for name in re.findall(NAME, text, flags=re.DOTALL)]


def written(name: str) -> str:
    """A name as it must be written, in quotes if it would mean something else without them."""
    if not _NEEDS_QUOTES.search(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unquoted(text: str) -> str:
    """The name that a written name stands for."""
    if text.startswith('"'):
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
    return text


def code_of(text: str, labels: LabelSet) -> int | None:
    """The code of the class whose name is written, None if there is no such class."""
    return labels.index.get(unquoted(text))


_SIDE = rf"{NAME}(?:\|{NAME})*"
_EDIT = re.compile(rf"({_SIDE})>({_SIDE}):\s*(x?)(\S*)\s*", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Multiplication:
    """The costs of errors between two groups of classes, by code, times a factor."""

    actual: tuple[int, ...]
    predicted: tuple[int, ...]
    factor: float
    sides: str
    """Both groups as written, such as `mel>*`."""


@dataclass(frozen=True)
class CostEdits:
    """Changes to costs: multiplications, then cells (actual, predicted) that are set."""

    multiplications: tuple[Multiplication, ...] = ()
    cells: Mapping[tuple[int, int], float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.multiplications or self.cells)

    def multiplied(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weights (K, K) after the multiplications alone."""
        changed = weights.copy()
        correct = np.diagonal(weights).copy()
        for each in self.multiplications:
            changed[np.ix_(each.actual, each.predicted)] *= each.factor
        np.fill_diagonal(changed, correct)
        return changed

    def applied(self, costs: CostMatrix) -> CostMatrix:
        """The costs with all changes made."""
        changed = self.multiplied(costs.weights)
        for cell, cost in self.cells.items():
            changed[cell] = cost
        return CostMatrix(changed, costs.labels, costs.currency)

    def text(self, labels: LabelSet) -> str:
        """The changes as they are written, multiplications first."""
        changes = [f"{each.sides}:x{cost_text(each.factor)}" for each in self.multiplications]
        changes += [
            f"{written(labels.names[actual])}>{written(labels.names[predicted])}:{cost_text(cost)}"
            for (actual, predicted), cost in self.cells.items()
        ]
        return ",".join(changes)


@dataclass(frozen=True)
class ReadEdits:
    """The changes in a text, and the parts of it that are not changes, each with the reason."""

    edits: CostEdits
    problems: tuple[tuple[str, str], ...] = ()


class _NotAnEditError(ValueError):
    """Why a part of the text is not a change."""


def read_edits(text: str, costs: CostMatrix) -> ReadEdits:
    """Read changes to `costs`.

    If two set the same cell or multiply the same groups, the later one counts. Changes
    without effect are left out, so that equal costs have the same text.
    """
    multiplications: dict[str, Multiplication] = {}
    cells: dict[tuple[int, int], float] = {}
    problems = []
    for part in parts(text):
        try:
            found = _read(part, costs.labels)
        except _NotAnEditError as reason:
            problems.append((part.strip(), str(reason)))
            continue
        if isinstance(found, Multiplication):
            multiplications[found.sides] = found
        else:
            cells |= found
    return ReadEdits(_canonical(multiplications.values(), cells, costs), tuple(problems))


def with_cells(
    edits: CostEdits, costs: CostMatrix, cells: Mapping[tuple[int, int], float]
) -> CostEdits:
    """The changes with these cells also set, or reset to what they would be anyway."""
    return _canonical(edits.multiplications, {**edits.cells, **cells}, costs)


def read_cost(text: str) -> float | None:
    """The cost that is written, None if it is not a cost or out of range."""
    if _NUMBER.fullmatch(text.strip()) is None:
        return None
    cost = float(text)
    is_usable = cost == 0 or SMALLEST_COST <= abs(cost) <= LARGEST_COST
    return cost + 0.0 if is_usable else None


def cost_text(cost: float) -> str:
    """A cost with all its digits and no others: "20", "0.5", "1e-05"."""
    return str(int(cost)) if cost.is_integer() and abs(cost) <= LARGEST_COST else repr(cost)


def _canonical(
    multiplications: Iterable[Multiplication],
    cells: Mapping[tuple[int, int], float],
    costs: CostMatrix,
) -> CostEdits:
    kept = sorted((each for each in multiplications if each.factor != 1), key=lambda m: m.sides)
    before = CostEdits(tuple(kept)).multiplied(costs.weights)
    changed = {cell: cost for cell, cost in sorted(cells.items()) if cost != before[cell]}
    return CostEdits(tuple(kept), changed)


def _read(part: str, labels: LabelSet) -> Multiplication | dict[tuple[int, int], float]:
    """One change. Raises `_NotAnEditError` with the reason if the part is not a change."""
    found = _EDIT.fullmatch(part)
    if found is None:
        raise _NotAnEditError("it is not written as actual>predicted:cost")
    actual_side, predicted_side, times, number = found.groups()
    value = read_cost(number)
    if value is None or (times and value < 0):
        what = "factor" if times else "cost"
        raise _NotAnEditError(f"{number!r} is not a {what}")
    actual, predicted = _codes(actual_side, labels), _codes(predicted_side, labels)
    if times:
        sides = f"{_side_text(actual_side)}>{_side_text(predicted_side)}"
        return Multiplication(actual, predicted, value, sides)
    if len(actual) > 1 or len(predicted) > 1:
        raise _NotAnEditError("only a single cell can be set; write x before a factor for many")
    return {(actual[0], predicted[0]): value}


def _codes(side: str, labels: LabelSet) -> tuple[int, ...]:
    codes: set[int] = set()
    for name in names(side):
        named = _named(name, labels)
        if not named:
            raise _NotAnEditError(f"there is no class {name}")
        codes |= named
    return tuple(sorted(codes))


def _named(name: str, labels: LabelSet) -> set[int]:
    if _is_pattern(name):
        # Only the star has a meaning here, not the other wildcards of fnmatch.
        pattern = re.sub(r"[\[?]", lambda found: f"[{found.group()}]", name)
        return {code for code, label in enumerate(labels.names) if fnmatchcase(label, pattern)}
    code = code_of(name, labels)
    return set() if code is None else {code}


def _side_text(side: str) -> str:
    written_once = {name if _is_pattern(name) else written(unquoted(name)) for name in names(side)}
    return "|".join(sorted(written_once))


def _is_pattern(name: str) -> bool:
    return "*" in name and not name.startswith('"')


Groups = tuple[tuple[int, ...], ...]
"""Disjoint groups of two or more class codes, each ascending."""

_GROUP = re.compile(rf"{NAME}(?:\|{NAME})+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ReadGroups:
    """The groups in a text, and the parts of it that are not groups, each with the reason."""

    groups: Groups
    problems: tuple[tuple[str, str], ...] = ()


def read_groups(text: str, labels: LabelSet) -> ReadGroups:
    """Read `bcc|akiec,mel|nv`: groups separated by commas, their classes by bars."""
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
    """The groups as `read_groups` reads them."""
    return ",".join("|".join(written(labels.names[code]) for code in group) for group in groups)


def group_names(groups: Groups, labels: LabelSet) -> dict[str, list[str]]:
    """Each group by a name that no class has, made from those of its members."""
    found = {}
    for group in groups:
        members = [labels.names[code] for code in group]
        name = " or ".join(members)
        while name in labels.index:
            name += " merged"
        found[name] = members
    return found


def forgiven(costs: CostMatrix, groups: Groups) -> CostMatrix:
    """The costs if predicting another class of the group of the actual class counts as correct."""
    weights = costs.weights.copy()
    for group in groups:
        correct = np.diagonal(costs.weights)[list(group)]
        weights[np.ix_(group, group)] = correct[:, np.newaxis]
    return CostMatrix(weights, costs.labels, costs.currency)


def require_understood(problems: Sequence[str]) -> None:
    """Raise `InvalidInput` for the first part of a question that has no meaning."""
    if problems:
        raise InvalidInput(
            problems[0],
            hint="Write shares as class:share, changes as actual>predicted:cost and the cost to "
            "vary as actual>predicted, with classes of the dataset.",
        )
