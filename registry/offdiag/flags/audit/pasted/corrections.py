"""What a reader says about a text where it was understood wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Corrections:
    """Everything that is to be found out unless it is said here.

    `heads` maps a head as it stands in the text to its meaning in the short form; `classes`
    lists the classes and their sizes, `positive` names one of two. `are_models` says whether
    names beside metrics are models or classes, `is_percent` what numbers without a sign are.
    """

    heads: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    classes: str = ""
    positive: str = ""
    are_models: bool | None = None
    is_percent: bool | None = None
