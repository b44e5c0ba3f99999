"""The thresholds that the settings ask for."""

from __future__ import annotations

from offdiag.flags.thresholds import Thresholds
from offdiag.settings import FlagsSettings


def thresholds_in(settings: FlagsSettings) -> Thresholds:
    """The rules' thresholds out of `[flags]`. Raises `InvalidInput` for grades out of order."""
    return Thresholds(**settings.model_dump())
