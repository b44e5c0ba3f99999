"""How a printed matrix is to be read: what class counts and numbers say about its axes."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain.orientation import OrientationVerdict
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.findings import MatrixReading, Orientation
from offdiag.flags.audit.matrix_values import BothWays

_AXIS = {Orientation.ACTUAL_ROWS: "rows", Orientation.ACTUAL_COLUMNS: "columns"}
_OTHER = {
    Orientation.ACTUAL_ROWS: Orientation.ACTUAL_COLUMNS,
    Orientation.ACTUAL_COLUMNS: Orientation.ACTUAL_ROWS,
}


def matrix_reading(
    claims: Sequence[Claim], both: BothWays, class_order: tuple[str, ...] | None
) -> MatrixReading:
    """Decide by the class counts, else by the numbers that fit one way only."""
    orientation, decided_by, why = _orientation(claims, both)
    return MatrixReading(orientation, decided_by, why, class_order)


def _orientation(claims: Sequence[Claim], both: BothWays) -> tuple[Orientation | None, str, str]:
    if both.by_counts is OrientationVerdict.INCONSISTENT:
        return None, "contradiction", "neither margin of the matrix has the class counts"
    taken_only = _fitting_only(claims, both, exchanged=False)
    exchanged_only = _fitting_only(claims, both, exchanged=True)
    taken, exchanged = _AXIS[both.orientation], _AXIS[_OTHER[both.orientation]]
    if taken_only and exchanged_only:
        why = (
            f"{', '.join(taken_only)} need actual classes along the {taken} of the matrix, "
            f"{', '.join(exchanged_only)} along its {exchanged}"
        )
        return None, "contradiction", why
    if both.by_counts in {OrientationVerdict.CANONICAL, OrientationVerdict.TRANSPOSED}:
        return both.orientation, "class_counts", f"the class counts are the sums of the {taken}"
    if exchanged_only:
        return (
            _OTHER[both.orientation],
            "numbers",
            f"{', '.join(exchanged_only)} fit only with actual classes along the {exchanged}",
        )
    if taken_only:
        return (
            both.orientation,
            "numbers",
            f"{', '.join(taken_only)} fit only with actual classes along the {taken}",
        )
    return None, "nothing", "the numbers are the same in both orientations"


def _fitting_only(claims: Sequence[Claim], both: BothWays, *, exchanged: bool) -> list[str]:
    """Names of the numbers that fit one way and not the other, each once."""
    one, other = both.taken, both.exchanged
    if exchanged:
        one, other = other, one
    names = (claim.name for claim in claims if one.explains(claim) and not other.explains(claim))
    return list(dict.fromkeys(names))
