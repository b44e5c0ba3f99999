"""What the form of the what-if page asks, as an address.

A form sends every field. Cells of the grid are named `w1.0` by the codes of the actual and the
predicted class, class shares `q1`. A field that cannot be read stays in the address as it was
typed, so that the page can say what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.edits import (
    groups_text,
    read_cost,
    read_edits,
    read_groups,
    with_cells,
    written,
)
from offdiag.metrics.costs.prevalence import read_shares, shares_text
from offdiag.services.what_if.reading import BaseCosts
from offdiag_web.addresses.what_if import WhatIfAddress, read_what_if

_CELL = re.compile(r"w(\d{1,5})\.(\d{1,5})", re.ASCII)
_SHARE = re.compile(r"q(\d{1,5})", re.ASCII)


def asked_by_form(values: Mapping[str, str], base: BaseCosts) -> WhatIfAddress:
    """The canonical address of what a form asks."""
    address = read_what_if(values)
    labels = base.costs.labels
    return replace(
        address,
        question=replace(
            address.question,
            costs=base.reference,
            edits=_edits(values, base),
            lever=address.question.lever.strip(),
            shares=_shares(values, labels),
            merged=_merged(address.question.merged, labels),
        ),
    )


def _edits(values: Mapping[str, str], base: BaseCosts) -> str:
    labels = base.costs.labels
    # A grid replaces every cell, so that of the changes before it only those remain that
    # multiply.
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
    edits = with_cells(read.edits, base.costs, cells)
    return ",".join(filter(None, [edits.text(labels), *unread]))


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
