"""Why somebody changed something, or what they think of it, in their words."""

from __future__ import annotations

from offdiag.domain.texts import require_storable
from offdiag.errors import InvalidInput

MAX_REASON_LENGTH = 5_000


def require_reason(reason: object, *, field: str = "reason") -> str:
    """The words, without blanks around them. Raises `InvalidInput` for none and for a novel."""
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidInput(
            f"no {field} is given.",
            field=field,
            hint="Say in a few words why; it is kept for whoever asks later.",
        )
    if len(reason) > MAX_REASON_LENGTH:
        raise InvalidInput(
            f"it has {len(reason)} characters.",
            field=field,
            hint=f"At most {MAX_REASON_LENGTH} are stored.",
        )
    require_storable(reason, field=field)
    return reason.strip()
