"""The address of the curves of a run: the class and its prevalence, or the first class shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from offdiag.services.curves import RankedBy
from offdiag_web.urls.query_string import one_of, read_start, with_query

Part = Literal["points", "reliability", "histogram"]

_NAMES = {"roc": RankedBy.ROC, "pr": RankedBy.PRECISION_RECALL}


@dataclass(frozen=True, slots=True)
class CurvesAddress:
    """`positive` None is the class of the dataset, or all; `prevalence` None the measured one.

    `part` is the slice whose scores are drawn.
    """

    run_id: str
    positive: str | None = None
    prevalence: float | None = None
    ranked_by: RankedBy | None = None
    start: int = 0
    part: str | None = None

    def url(self, form: str = "", *, part: Part = "points") -> str:
        """Canonical URL of the page, or of its export where `form` is "json" or "csv"."""
        path = f"/runs/{self.run_id}/curves"
        by = {ranking: name for name, ranking in _NAMES.items()}
        return with_query(
            f"{path}.{form}" if form else path,
            {
                "slice": self.part,
                "positive": self.positive,
                "prevalence": None if self.prevalence is None else repr(self.prevalence),
                "curve": None if self.ranked_by is None or form else by[self.ranked_by],
                "from": str(self.start + 1) if self.start and not form else None,
                "part": None if part == "points" else part,
            },
        )

    def of_class(self, name: str | None) -> CurvesAddress:
        """The curves of one class, or of all, without the prevalence of another class."""
        return CurvesAddress(self.run_id, name, part=self.part)

    def by(self, ranking: RankedBy | None) -> CurvesAddress:
        """The other kind of curve, of the classes that are worst by it."""
        return replace(self, ranked_by=ranking, start=0)


def read_curves(run_id: str, values: Mapping[str, str]) -> tuple[CurvesAddress, list[str]]:
    """The address in a query string, with a notice for each invalid value."""
    notices: list[str] = []
    start, unread = read_start(values)
    curve = one_of(values.get("curve"), tuple(_NAMES), "curve", notices)
    address = CurvesAddress(
        run_id,
        positive=values.get("positive") or None,
        prevalence=_read_prevalence(values.get("prevalence"), notices),
        ranked_by=None if curve is None else _NAMES[curve],
        start=start,
        part=values.get("slice") or None,
    )
    return address, notices + unread


def read_part(values: Mapping[str, str]) -> Part:
    """Which table the CSV contains."""
    asked = values.get("part")
    return cast(Part, asked if asked in get_args(Part) else "points")


def _read_prevalence(text: str | None, notices: list[str]) -> float | None:
    if not text or not text.strip():
        return None
    typed = text.strip()
    number = typed.removesuffix("%").strip().replace(",", ".")
    try:
        share = float(number) / (100 if typed.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        notices.append(
            f"A prevalence is a share between 0 and 1, such as 0.02 or 2 %, not “{typed}”."
        )
        return None
    return share
