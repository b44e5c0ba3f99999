"""Addresses of cost matrices and of what-if questions about costs.

The address contains the complete question, so a copied link asks it again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from werkzeug.datastructures import MultiDict

from offdiag.domain.labels import LabelSet
from offdiag.domain.texts import escaped_start, name_segment
from offdiag.metrics.costs.edits import (
    groups_text,
    read_cost,
    read_edits,
    read_groups,
    with_cells,
    written,
)
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.what_if import read_shares, shares_text
from offdiag.services.what_if.runs import BaseCosts, Question
from offdiag.services.what_if.scenario import moved_cells, stated_lever
from offdiag_web.urls.query_string import (
    LARGEST_VERSION,
    RUN_ID,
    named_project,
    whole_number,
    with_query,
)

NEW = "new"
"""The address of the form; it is never the address of a cost matrix of this name."""


COSTS = "/costs/<name:name>"
"""The URL rule of the page of a cost matrix; each action appends its own name."""


@dataclass(frozen=True, slots=True)
class CostsAddress:
    """A cost matrix by project and name; the default project is left out.

    `version` is the version shown, None for the newest; `before` is the one it is compared with,
    None for the one before it.
    """

    project: str
    name: str
    version: int | None = None
    before: int | None = None

    def url(self, form: str = "") -> str:
        """The page, or its export where `form` is "json" or "csv"."""
        return self._at(f".{form}" if form else "", v=self.version, **{"from": self.before})

    def new_version_url(self) -> str:
        """The form for another version, filled with the one shown."""
        return self._at("/new", v=self.version)

    def action_url(self, action: str) -> str:
        """Where a form posts to: "new" or "default"."""
        return self._at(f"/{action}")

    def _at(self, place: str, **values: int | None) -> str:
        segment = escaped_start(self.name) if self.name == NEW else name_segment(self.name)
        shown = {key: None if value is None else str(value) for key, value in values.items()}
        return with_query(
            f"/costs/{segment}{place}", {"project": named_project(self.project), **shown}
        )


def new_costs_url(project: str, dataset: str | None = None) -> str:
    """The form for a new cost matrix, for the classes of a dataset."""
    asked = {"project": named_project(project), "dataset": dataset}
    return with_query(f"/costs/{NEW}", asked)


def what_if_start_url(project: str, dataset: str, costs: str | None) -> str:
    """The question that the page starts with for a dataset: its own costs, or the given ones."""
    asked = {"project": named_project(project), "dataset": dataset, "cost": costs}
    return with_query("/whatif", asked)


def read_versions(values: Mapping[str, str]) -> tuple[int | None, int | None, list[str]]:
    """The requested version, the one to compare it with, and notices about invalid values."""
    notices: list[str] = []
    shown = _number(values.get("v"), notices)
    return shown, _number(values.get("from"), notices), notices


def _number(text: str | None, notices: list[str]) -> int | None:
    if not text:
        return None
    number = whole_number(text, least=1, most=LARGEST_VERSION)
    if number is None:
        notices.append(f"“{text[:20]}” is not a number of a version.")
    return number


LONGEST_URL = 2_000
"""Most characters of an address that every program passes on."""


@dataclass(frozen=True, slots=True)
class WhatIfAddress:
    """Runs and a question about them. `positive` is the class whose misses are counted."""

    runs: tuple[str, ...] = ()
    question: Question = field(default_factory=Question)
    positive: str = ""

    def url(self, form: str = "") -> str:
        """Canonical URL of the page, or of its export where `form` is "json" or "csv"."""
        return with_query(f"/whatif{f'.{form}' if form else ''}", self._values("runs"))

    def decisions_url(self, run_id: str, form: str = "") -> str:
        """What the scores of one run would decide with these costs."""
        path = f"/whatif/decisions{f'.{form}' if form else ''}"
        return with_query(path, self._values("run") | {"run": run_id})

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """The address as fields of a form, without empty ones."""
        return tuple((name, text) for name, text in self._values("runs").items() if text)

    def _values(self, key: str) -> dict[str, str | None]:
        asked = self.question
        return {
            key: ",".join(self.runs),
            "cost": asked.costs,
            "set": asked.edits,
            "vary": asked.lever,
            "share": asked.shares,
            "merge": asked.merged,
            "positive": self.positive,
            **({"slice": asked.part} if key == "runs" else {}),
        }

    def asking(self, **changes: str) -> WhatIfAddress:
        """The same runs with another question."""
        return replace(self, question=replace(self.question, **changes))


def read_what_if(values: Mapping[str, str], *, key: str = "runs") -> WhatIfAddress:
    """The address in a query string. Only run ids are checked here; callers who know the classes
    check the rest."""
    # A list of runs sends each selected one as a separate field.
    given = values.getlist(key) if isinstance(values, MultiDict) else [values.get(key, "")]
    runs = [text.strip() for text in ",".join(given).split(",")]
    return WhatIfAddress(
        tuple(dict.fromkeys(run for run in runs if RUN_ID.fullmatch(run))),
        Question(
            costs=values.get("cost") or None,
            edits=values.get("set", ""),
            lever=values.get("vary", ""),
            shares=values.get("share", ""),
            merged=values.get("merge", ""),
            part=values.get("slice", "").strip(),
        ),
        values.get("positive", ""),
    )


_CELL = re.compile(r"w(\d{1,5})\.(\d{1,5})", re.ASCII)
_SHARE = re.compile(r"q(\d{1,5})", re.ASCII)


def asked_by_form(values: Mapping[str, str], base: BaseCosts) -> WhatIfAddress:
    """The canonical address of what a form asks for."""
    address = read_what_if(values)
    labels = base.costs.labels
    return replace(
        address,
        question=replace(
            address.question,
            costs=base.reference,
            edits=_edits(values, base),
            # A cost whose slider was moved remains the one that is varied.
            lever=address.question.lever.strip()
            or (values.get("lever", "") if _is_moved(values) else ""),
            shares=_shares(values, labels),
            merged=_merged(address.question.merged, labels),
        ),
    )


def _edits(values: Mapping[str, str], base: BaseCosts) -> str:
    labels = base.costs.labels
    # A grid replaces every cell, so of the changes before it only the factors remain.
    text = values.get("times", values.get("set", ""))
    factor = values.get("tx", "").strip()
    if factor:
        sides = (values.get(name, "").strip() or "*" for name in ("ta", "tp"))
        text = ",".join(filter(None, [text, f"{'>'.join(sides)}:x{factor}"]))
    read = read_edits(text, base.costs)
    cells: dict[tuple[int, int], float] = {}
    unread = [part for part, _ in read.problems]
    for name, given in values.items():
        found = _CELL.fullmatch(name)
        if found is None or not given.strip():
            continue
        actual, predicted = int(found[1]), int(found[2])
        if max(actual, predicted) >= len(labels):
            continue
        cost = read_cost(given)
        if cost is None:
            sides = (written(labels.names[code]) for code in (actual, predicted))
            unread.append(f"{'>'.join(sides)}:{given.strip()}")
        else:
            cells[actual, predicted] = cost
    cells |= _moved(values, base, with_cells(read.edits, base.costs, cells).applied(base.costs))
    edits = with_cells(read.edits, base.costs, cells)
    return ",".join(filter(None, [edits.text(labels), *unread]))


def _is_moved(values: Mapping[str, str]) -> bool:
    """Whether the number next to the slider differs from the one the page showed."""
    return bool(values.get("at", "").strip()) and values["at"] != values.get("shown")


def _moved(
    values: Mapping[str, str], base: BaseCosts, costs: CostMatrix
) -> dict[tuple[int, int], float]:
    """The costs set by the slider, if it was moved."""
    x = read_cost(values.get("at", "")) if _is_moved(values) else None
    lever = stated_lever(values.get("lever", ""), costs, base.costs)
    if x is None or x <= 0 or lever is None:
        return {}
    return moved_cells(lever, base.costs, x)


def _shares(values: Mapping[str, str], labels: LabelSet) -> str:
    fields = {
        int(found[1]): given.strip()
        for name, given in values.items()
        if (found := _SHARE.fullmatch(name)) and given.strip() and int(found[1]) < len(labels)
    }
    typed = ",".join(
        f"{written(labels.names[code])}:{given}" for code, given in sorted(fields.items())
    )
    read = read_shares(typed or values.get("share", ""), labels)
    return ",".join(
        filter(None, [shares_text(read.shares, labels), *(part for part, _ in read.problems)])
    )


def _merged(text: str, labels: LabelSet) -> str:
    read = read_groups(text, labels)
    return ",".join(
        filter(None, [groups_text(read.groups, labels), *(part for part, _ in read.problems)])
    )
