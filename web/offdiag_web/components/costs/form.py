"""Form fields for costs: entries of the matrix, class shares, the base costs, and warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.edits import cost_text
from offdiag.metrics.costs.matrix import CostOddity, CostWarning
from offdiag.services.what_if.runs import BaseCosts, Preset
from offdiag.services.what_if.scenario import Scenario
from offdiag.store.run_costs import CostChoice
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, quoted_name
from offdiag_web.components.controls import Segment
from offdiag_web.components.matrix import Density, matrix_density

MOST_CLASSES = 30
"""Most classes for which every cell has a field; with more, whole rows and columns are changed."""
_UPRIGHT_LENGTH = 6
"""Longest class name whose header is not turned."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """The field of one cell. `before` is its cost in the saved version; `initial` is its cost
    without an edit, to which clearing the field returns."""

    row: int
    column: int
    value: str
    initial: str
    before: str
    is_wrong: bool = False

    @property
    def name(self) -> str:
        return f"w{self.row}.{self.column}"

    @property
    def is_edited(self) -> bool:
        return self.value != self.before

    @property
    def is_correct(self) -> bool:
        return self.row == self.column


@dataclass(frozen=True, slots=True)
class CostGrid:
    """Fields for all cells, with actual classes as rows."""

    columns: tuple[tuple[int, ClassHead], ...]
    lines: tuple[tuple[int, ClassHead, tuple[GridCell, ...]], ...]
    turned_heads: bool
    density: Density


def field_grid(
    names: Sequence[str], order: Sequence[int], cell: Callable[[int, int], GridCell]
) -> CostGrid | None:
    """The fields in this order of the classes; None if there would be too many."""
    if len(names) > MOST_CLASSES:
        return None
    heads = tuple((code, class_head(names[code])) for code in order)
    return CostGrid(
        columns=heads,
        lines=tuple(
            (actual, head, tuple(cell(actual, predicted) for predicted in order))
            for actual, head in heads
        ),
        turned_heads=max(len(head.short) for _, head in heads) > _UPRIGHT_LENGTH,
        density=matrix_density(len(order)),
    )


def cost_grid(scenario: Scenario, order: Sequence[int]) -> CostGrid | None:
    """The fields of a scenario, with the costs of its base as the saved version."""
    saved = scenario.base.costs.weights
    versions = (scenario.costs.weights, scenario.edits.multiplied(saved), saved)

    def cell(actual: int, predicted: int) -> GridCell:
        value, initial, before = (cost_text(float(costs[actual, predicted])) for costs in versions)
        return GridCell(actual, predicted, value, initial, before)

    return field_grid(scenario.costs.labels.names, order, cell)


PASSED = "Square, all costs are finite numbers, and the classes are those of the dataset."
_WARNING_TEXTS = {
    CostOddity.PREDICTION_DOES_NOT_MATTER: (
        "every prediction costs the same, correct or wrong, so these costs decide nothing"
    ),
    CostOddity.CORRECT_PREDICTION_COSTS: (
        "a correct prediction has a cost, so costs do not start at 0; this may be intended"
    ),
    CostOddity.ERROR_IS_CHEAPER: "an error costs less than the correct prediction",
}


def warning_texts(warnings: Sequence[CostWarning], labels: LabelSet) -> tuple[str, ...]:
    """One sentence for each warning, with the classes it is about."""
    return tuple(
        f"Actual {numbers.listed([quoted_name(labels.names[code]) for code in warning.classes])}: "
        f"{_WARNING_TEXTS[warning.oddity]}."
        for warning in warnings
    )


MOST_SHARES = 30
"""Most classes that each have a field for their share at deployment."""


@dataclass(frozen=True, slots=True)
class ShareField:
    """The share of a class at deployment; `tested` is that in the test set."""

    code: int
    label: str
    value: str
    tested: str


def share_fields(
    matrix: ConfusionMatrix, stated: Mapping[int, float], order: Sequence[int]
) -> tuple[ShareField, ...]:
    """A field for each class in order, with the shares entered; none for too many classes."""
    if matrix.n_classes > MOST_SHARES:
        return ()
    return tuple(
        ShareField(
            code,
            matrix.labels.names[code],
            cost_text(stated[code]) if code in stated else "",
            f"{int(matrix.actual[code]) / max(matrix.total, 1):.3g}",
        )
        for code in order
    )


def base_text(base: BaseCosts) -> str:
    """The name of a version, or the description of a preset."""
    if base.record is not None:
        return f"{base.record.name} v{base.record.version}"
    if base.preset is Preset.ZERO_ONE:
        return "0/1: every error costs 1"
    return "By prevalence: errors on rarer classes cost more"


def base_segments(
    base: BaseCosts,
    choices: Sequence[CostChoice],
    *,
    is_edited: bool,
    url_of: Callable[[str], str],
) -> tuple[Segment, ...]:
    """A segment for each preset and each stored version; `url_of` takes its reference."""
    current = base.reference
    named = [("0/1", Preset.ZERO_ONE.value), ("by prevalence", Preset.PREVALENCE.value)]
    named += [
        (f"{choice.name} v{choice.version}", f"{choice.name}@{choice.version}")
        for choice in choices
    ]
    if current not in dict(named).values():
        named.append((base_text(base), current))
    return tuple(
        Segment(
            numbers.shortened(text, longest=32),
            url_of(reference),
            reference == current and not is_edited,
        )
        for text, reference in named
    )
