"""How much a verdict matters."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """From what is good to know to what should stop a release."""

    INFO = "info"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for the mildest; StrEnum itself would compare by spelling."""
        return SEVERITIES.index(self)


SEVERITIES: tuple[Severity, ...] = tuple(Severity)
"""All severities, mildest first."""
