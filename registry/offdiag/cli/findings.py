"""What an examination finds, each thing with a way out where one is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was examined. A problem has a hint."""

    name: str
    text: str
    hint: str | None = None

    @property
    def is_problem(self) -> bool:
        return self.hint is not None

    @property
    def sentence(self) -> str:
        return f"ok: {self.text}" if self.hint is None else f"PROBLEM: {self.text} {self.hint}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "ok": not self.is_problem,
            "text": self.text,
            "hint": self.hint,
        }
