"""The address of a confusion matrix: how it is laid out and what its second number is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from offdiag_web.urls.query_string import groups_text, read_groups, with_query

Norm = Literal["row", "col", "all", "none"]
ClassOrder = Literal["support", "label", "cluster", "group"]
Layout = Literal["long", "grid"]
FORMS = ("csv", "json", "md", "tex", "svg", "png")
_COUNTS_ONLY = frozenset({"csv", "json"})
"""Forms that hold every share anyway, so that there is nothing to choose."""
_MOST_HIDDEN = 1_000_000


@dataclass(frozen=True, slots=True)
class MatrixAddress:
    """How one run's matrix is shown. The stored matrix is never changed by any of it.

    `norm` is about the stored orientation, also in the transposed view: "row" is the share of
    the actual class, "col" of the predicted one. `order` None is the default of the label set.
    `focus` is the class in the middle of attention where the matrix is too large for a table;
    `rarest` leaves cells with fewer cases out of its map. `collapse` names groups of classes
    that are shown as one class each. `taken_for` is the class that `focus` was taken for, in a
    cell somebody looks at. `worst_first` sorts the table of classes by recall. `part` is the slice
    that is counted alone.
    """

    run_id: str
    norm: Norm = "row"
    order: ClassOrder | None = None
    transposed: bool = False
    focus: str | None = None
    rarest: int = 1
    collapse: tuple[str, ...] = ()
    taken_for: str | None = None
    worst_first: bool = False
    part: str | None = None

    def card_url(self) -> str:
        """The run as a card for slides, with the matrix as it is shown here."""
        return self.url("svg").replace("/matrix.svg", "/card.svg", 1)

    def url(self, form: str = "", layout: Layout = "long") -> str:
        """Canonical URL of the page, or of the matrix alone in one of `FORMS`."""
        path = f"/runs/{self.run_id}"
        return with_query(
            f"{path}/matrix.{form}" if form else path,
            {
                "slice": self.part,
                "collapse": groups_text(self.collapse),
                "norm": None if self.norm == "row" or form in _COUNTS_ONLY else self.norm,
                "order": self.order,
                "t": "1" if self.transposed else None,
                "focus": None if form else self.focus,
                "as": None if form or self.focus is None else self.taken_for,
                "min": None if self.rarest == 1 or form in _COUNTS_ONLY else str(self.rarest),
                "classes": "recall" if self.worst_first and not form else None,
                "layout": "grid" if layout == "grid" else None,
            },
        )


def read_matrix(run_id: str, values: Mapping[str, str]) -> tuple[MatrixAddress, list[str]]:
    """The address in a query string, with a notice for each value that cannot be meant."""
    notices: list[str] = []
    norm = _one_of(values.get("norm"), get_args(Norm), "normalisation", notices)
    order = _one_of(values.get("order"), get_args(ClassOrder), "order of classes", notices)
    transposed = _one_of(values.get("t"), ("0", "1"), "transposed view", notices)
    rarest = _rarest(values.get("min"), notices)
    address = MatrixAddress(
        run_id=run_id,
        norm=cast(Norm, norm or "row"),
        order=cast("ClassOrder | None", order),
        transposed=transposed == "1",
        focus=values.get("focus") or None,
        rarest=rarest,
        collapse=read_groups(values.get("collapse")),
        taken_for=values.get("as") or None,
        worst_first=values.get("classes") == "recall",
        part=values.get("slice") or None,
    )
    return address, notices


def _rarest(text: str | None, notices: list[str]) -> int:
    if not text:
        return 1
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST_HIDDEN:
        return int(text[:9])
    notices.append(f"“{text[:20]}” is no number of examples; every filled cell is shown.")
    return 1


def read_layout(values: Mapping[str, str]) -> Layout:
    """Whether the CSV has one line per cell or one per class."""
    return "grid" if values.get("layout") == "grid" else "long"


def _one_of(text: str | None, known: tuple[str, ...], what: str, notices: list[str]) -> str | None:
    if not text or text in known:
        return text or None
    notices.append(f"There is no {what} “{text}”; known are {', '.join(known)}.")
    return None
