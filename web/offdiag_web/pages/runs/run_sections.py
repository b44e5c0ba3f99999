"""Runs of a list put together by what they share: a model, a parameter or a tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from offdiag.store.run_order import OF_PARAM
from offdiag.store.run_rows import RunEntry
from offdiag_web.components import numbers
from offdiag_web.pages.runs.rows import ListedRun
from offdiag_web.urls.run_list import BY_MODEL, OF_TAG

MOST_GROUPED = 200
"""So many runs of a list, the first by its order, are put into groups."""
_MOST_OFFERED = 20
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """What runs can be grouped by."""

    value: str
    text: str
    is_chosen: bool


def group_choices(entries: Sequence[RunEntry], chosen: str) -> tuple[GroupChoice, ...]:
    """Nothing, the model, and the parameters and tags of these runs."""
    params = sorted({name for entry in entries for name in entry.params})[:_MOST_OFFERED]
    tags = sorted({name for entry in entries for name in entry.tags})[:_MOST_OFFERED]
    offered = {"": "none", BY_MODEL: "model"}
    offered |= {OF_PARAM + name: f"parameter {name}" for name in params}
    offered |= {OF_TAG + name: f"tag {name}" for name in tags}
    if chosen and chosen not in offered:
        offered[chosen] = chosen
    return tuple(GroupChoice(key, text, key == chosen) for key, text in offered.items())


def in_groups(
    entries: Sequence[RunEntry], rows: Sequence[ListedRun], group: str
) -> list[ListedRun]:
    """The lines group by group, each in their order; the group of the first line comes first."""
    found: dict[str, list[ListedRun]] = {}
    for entry, row in zip(entries, rows, strict=True):
        found.setdefault(_shared(entry, group), []).append(row)
    return [
        replace(row, group_head=f"{title} · {numbers.plural(len(own), 'run')}" if at == 0 else "")
        for title, own in found.items()
        for at, row in enumerate(own)
    ]


def _shared(entry: RunEntry, group: str) -> str:
    if group == BY_MODEL:
        return numbers.shortened(entry.model or "no model", longest=_LONGEST)
    values = entry.params if group.startswith(OF_PARAM) else entry.tags
    name = group.removeprefix(OF_PARAM if group.startswith(OF_PARAM) else OF_TAG)
    if name not in values:
        return f"without {name}"
    return numbers.shortened(f"{name} {values[name]}", longest=_LONGEST)
