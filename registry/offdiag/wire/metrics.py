"""Definitions of metrics."""

from __future__ import annotations

from pydantic import Field

from offdiag.metrics.spec import Scope
from offdiag.wire.bodies import Answered, Asked


class Definition(Answered):
    """What a metric key means in one scope."""

    key: str
    scope: str
    version: int = Field(description="Raised when the definition changes.")
    title: str
    symbol: str
    formula: str
    low: float | None = Field(description="Lowest possible value; null where unbounded.")
    high: float | None = Field(description="Highest possible value; null where unbounded.")
    direction: str = Field(description="Which values a better classifier has.")
    undefined_when: dict[str, str] = Field(description="By reason: the condition in words.")
    ignores: list[str]
    other_names: dict[str, str] = Field(description="By library: its name there.")
    source: str
    notes: str


class Definitions(Answered):
    """The definitions of metrics, in the order of the catalogue."""

    metrics: list[Definition]


class DefinitionsWanted(Asked):
    """Which definitions are wanted."""

    scope: Scope | None = Field(default=None, description="Only those of one scope.")
