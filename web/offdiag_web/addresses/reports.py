"""Addresses of reports, of their issues, and of the form for a new one."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag_web.addresses.names import DEFAULT_PROJECT, escaped_start, name_segment
from offdiag_web.addresses.query_string import with_query

NEW = "new"
"""The address of the form; a report of this name is written differently."""


@dataclass(frozen=True, slots=True)
class ReportAddress:
    """A report by project and name; the default project goes without saying."""

    project: str
    name: str

    def url(self, form: str = "") -> str:
        """The page, or its twin where `form` is "json" or "csv"."""
        return self._at(f".{form}" if form else "")

    def action_url(self, action: str) -> str:
        """Where a form posts to: "pause", "resume" or "run"."""
        return self._at(f"/{action}")

    def issue_url(self, number: int) -> str:
        """The page of an issue."""
        return self._at(f"/{number}")

    def file_url(self, number: int, file_name: str) -> str:
        """One frozen form of an issue."""
        return self._at(f"/{number}/{file_name}")

    def _at(self, place: str) -> str:
        segment = escaped_start(self.name) if self.name == NEW else name_segment(self.name)
        project = None if self.project == DEFAULT_PROJECT else self.project
        return with_query(f"/reports/{segment}{place}", {"project": project})
