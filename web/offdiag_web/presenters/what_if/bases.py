"""Costs to start from, in words and as links."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from offdiag.services.what_if.reading import BaseCosts, Preset
from offdiag.store.priced_runs import CostChoice
from offdiag_web.presenters import numbers
from offdiag_web.presenters.segments import Segment


def base_text(base: BaseCosts) -> str:
    """A version by its name, a preset by what it says."""
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
    """The presets and the stored costs; `url_of` leads to the same page under others."""
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
