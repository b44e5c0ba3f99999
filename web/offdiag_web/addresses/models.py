"""The address of a model: all runs that were logged under its name."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.names import name_segment


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """A model by the name that runs were logged with."""

    name: str

    def url(self, form: str = "") -> str:
        """The page, or its twin where `form` is "json" or "csv"."""
        return f"/models/{name_segment(self.name)}{f'.{form}' if form else ''}"
