"""The multi-label matrix as a table: where the mass of every actual label went."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from offdiag.metrics.counted import CountedSets
from offdiag.metrics.orientation import actual_totals, predicted_totals
from offdiag_web.addresses.label_sets import LabelSetsAddress, MassNorm
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import ClassHead, class_head
from offdiag_web.presenters.segments import Segment
from offdiag_web.presenters.sets.ramp import ramp_class
from offdiag_web.urls.examples import cell_url

MOST_LINKED = 14
"""Up to this many labels every cell leads to its cases; more links would outweigh the page."""
_NORMS: tuple[tuple[MassNorm, str], ...] = (
    ("mass", "mass"),
    ("row", "row share"),
    ("col", "column share"),
)
_SAID: dict[MassNorm, str] = {
    "mass": "Each cell is the mass of the actual label on the predicted one.",
    "row": "Each cell is the share of the mass of the actual label: not its recall.",
    "col": "Each cell is the share of the mass on the predicted label: not its precision.",
}


@dataclass(frozen=True, slots=True)
class MassCell:
    """A number with two decimals, and its colour."""

    text: str
    css: str
    url: str | None


@dataclass(frozen=True, slots=True)
class MassLine:
    """An actual label and where its mass went."""

    head: ClassHead
    cells: tuple[MassCell, ...]
    total: str


@dataclass(frozen=True, slots=True)
class MassTable:
    """The matrix of the labels that are shown; totals are those of all labels."""

    caption: str
    heads: tuple[ClassHead, ...]
    lines: tuple[MassLine, ...]
    totals: tuple[str, ...]
    total: str
    turned_heads: bool


def norm_segments(address: LabelSetsAddress) -> tuple[Segment, ...]:
    """What the cells can say."""
    return tuple(
        Segment(text, address.showing(norm).url(), norm == address.norm) for norm, text in _NORMS
    )


def mass_table(counted: CountedSets, codes: list[int], address: LabelSetsAddress) -> MassTable:
    """Present the cells between some labels, in the order of their codes."""
    found = counted.matrix
    masses = {"mass": found.cells, "row": found.row_share.value, "col": found.column_share.value}
    numbers_shown, shares = masses[address.norm], found.row_share.value
    names = counted.labels.names
    off_diagonal = np.where(np.eye(len(names), dtype=np.bool_), 0.0, np.nan_to_num(shares))
    largest_error = float(off_diagonal.max(initial=0.0)) or 1.0
    of_rows, of_columns = actual_totals(found.cells), predicted_totals(found.cells)

    def cell(actual: int, predicted: int) -> MassCell:
        mass, number = float(found.cells[actual, predicted]), numbers_shown[actual, predicted]
        share = float(shares[actual, predicted])
        is_linked = mass > 0 and len(codes) <= MOST_LINKED
        return MassCell(
            _text(float(number)),
            "zero"
            if mass == 0
            else ramp_class(
                share,
                is_right=actual == predicted,
                end=1.0 if actual == predicted else largest_error,
            ),
            cell_url(address.run_id, names[actual], names[predicted]) if is_linked else None,
        )

    return MassTable(
        caption=f"Multi-label matrix, fractional shares, Algorithm 1. {_SAID[address.norm]} Rows: "
        f"actual label. Columns: predicted label. {numbers.plural(found.n_cases, 'case')} whose "
        "two sets are not empty.",
        heads=tuple(class_head(names[code]) for code in codes),
        lines=tuple(
            MassLine(
                class_head(names[actual]),
                tuple(cell(actual, predicted) for predicted in codes),
                two_decimals(float(of_rows[actual])),
            )
            for actual in codes
        ),
        totals=tuple(two_decimals(float(of_columns[code])) for code in codes),
        total=two_decimals(float(np.asarray(of_rows, dtype=np.float64).sum())),
        turned_heads=len(codes) > 8,
    )


def two_decimals(mass: float) -> str:
    """Mass as it is shown: "1.33", "0" for none at all, "<0.01" for next to nothing."""
    if mass == 0:
        return "0"
    return "<0.01" if mass < 0.005 else f"{mass:,.2f}"


def _text(number: float) -> str:
    return "\N{EN DASH}" if math.isnan(number) else two_decimals(number)
