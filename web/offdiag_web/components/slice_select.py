"""The one select of slices: on pages of a run and on comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offdiag.domain.slices import slice_of

PARAMETER = "slice"
"""What it is called in addresses."""
MOST_LEVELS = 50
"""Values of a slice column up to which they are offered to be picked."""


@dataclass(frozen=True, slots=True)
class SliceChoice:
    """A slice that can be picked."""

    text: str
    is_chosen: bool


def slice_choices(
    levels: Mapping[str, Sequence[str]], chosen: str | None
) -> tuple[SliceChoice, ...]:
    """Every value of every column, and the slice that is chosen, whatever it is made of."""
    texts = [
        str(slice_of([(name, level)]))
        for name, values in levels.items()
        if len(values) <= MOST_LEVELS
        for level in values
    ]
    if chosen and chosen not in texts:
        texts.append(chosen)
    return tuple(SliceChoice(text, text == chosen) for text in texts)
