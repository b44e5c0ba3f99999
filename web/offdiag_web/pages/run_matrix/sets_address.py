"""The address of the first page of a multi-label run: which labels, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from offdiag_web.urls.query_string import read_start, with_query

LabelOrder = Literal["support", "label", "f1"]
MassNorm = Literal["mass", "row", "col"]
FORMS = ("csv", "json", "md")


@dataclass(frozen=True, slots=True)
class LabelSetsAddress:
    """How the labels of one run are shown: sorted by what, from the how-manieth on.

    `norm` is what a cell of the matrix says: its mass, or the share of its row or column. `part`
    is the slice that is counted alone.
    """

    run_id: str
    order: LabelOrder = "f1"
    norm: MassNorm = "mass"
    start: int = 0
    part: str | None = None

    def url(self, form: str = "", *, grid: bool = False) -> str:
        """Canonical URL of the page, or of the matrix alone in one of `FORMS`."""
        path = f"/runs/{self.run_id}"
        return with_query(
            f"{path}/matrix.{form}" if form else path,
            {
                "slice": self.part,
                "order": None if self.order == ("support" if form else "f1") else self.order,
                "norm": None if self.norm == "mass" or form in {"csv", "json"} else self.norm,
                "from": str(self.start + 1) if self.start and not form else None,
                "layout": "grid" if grid else None,
            },
        )

    def ordered(self, order: LabelOrder) -> LabelSetsAddress:
        """In another order, from the first label on."""
        return replace(self, order=order, start=0)

    def showing(self, norm: MassNorm) -> LabelSetsAddress:
        """With another number in the cells of the matrix."""
        return replace(self, norm=norm)

    def starting_at(self, start: int) -> LabelSetsAddress:
        """Another window of the same labels."""
        return replace(self, start=start)


def read_label_sets(
    run_id: str, values: Mapping[str, str], *, default: LabelOrder = "f1"
) -> tuple[LabelSetsAddress, list[str]]:
    """The address in a query string, with a notice for each value that cannot be meant.

    `default` is the order of labels where none is given.
    """
    notices: list[str] = []
    order = values.get("order") or default
    if order not in get_args(LabelOrder):
        notices.append(f"Labels have no order “{order}”; known are support, label, f1.")
        order = default
    norm = values.get("norm") or "mass"
    if norm not in get_args(MassNorm):
        notices.append(f"Cells cannot say “{norm}”; known are mass, row, col.")
        norm = "mass"
    start, unread = read_start(
        values, unread="The place among the labels could not be read; this is the first one."
    )
    address = LabelSetsAddress(
        run_id, cast(LabelOrder, order), cast(MassNorm, norm), start, values.get("slice") or None
    )
    return address, notices + unread
