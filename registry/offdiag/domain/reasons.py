"""Why somebody changed something, in their words."""

from __future__ import annotations

from offdiag.errors import InvalidInput

MAX_REASON_LENGTH = 5_000


def require_reason(reason: object) -> str:
    """The reason, without blanks around it. Raises `InvalidInput` for none and for a novel."""
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidInput(
            "no reason is given.",
            field="reason",
            hint="Say in a few words why; it is kept with the change for whoever asks later.",
        )
    if len(reason) > MAX_REASON_LENGTH:
        raise InvalidInput(
            f"it has {len(reason)} characters.",
            field="reason",
            hint=f"At most {MAX_REASON_LENGTH} are stored.",
        )
    if "\0" in reason:
        raise InvalidInput(
            "it contains a NUL character.",
            field="reason",
            hint="Databases cannot store it; remove it.",
        )
    return reason.strip()
