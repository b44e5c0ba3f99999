"""Names of cost matrices, with or without a version."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CostName:
    """A cost matrix by name, in a version or (None) in the newest one."""

    name: str
    version: int | None = None

    @classmethod
    def parse(cls, text: str) -> CostName:
        """`visits` or `visits@3`."""
        name, separator, number = text.rpartition("@")
        return cls(name, int(number)) if separator and number.isdecimal() else cls(text)

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"
