"""Places in an order, and how they move when the order changes."""

from __future__ import annotations

from collections.abc import Sequence


def ranks(values: Sequence[float | None], *, descending: bool = False) -> tuple[int | None, ...]:
    """The place of each value, 1 for the lowest, or for the highest if `descending`.

    Equal values share the better place and the ones after it stay free: 1, 2, 2, 4. A value
    that is undefined has no place.
    """
    known = [value for value in values if value is not None]
    return tuple(
        None
        if value is None
        else 1 + sum(other > value if descending else other < value for other in known)
        for value in values
    )
