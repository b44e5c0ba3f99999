"""Addresses of reports, of their editions, and of the form for a new one."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.texts import escaped_start, name_segment
from offdiag_web.urls.query_string import named_project, with_query

NEW = "new"
"""The address of the form; it is never the address of a report of this name."""


@dataclass(frozen=True, slots=True)
class ReportAddress:
    """A report by project and name; the default project is left out."""

    project: str
    name: str

    def url(self, form: str = "", *, start: int = 0) -> str:
        """The page, or its export where `form` is "json" or "csv"; `start` counts from 0."""
        first = str(start + 1) if start and not form else None
        return self._at(f".{form}" if form else "", first=first)

    def action_url(self, action: str) -> str:
        """The address that a form posts to, such as "pause" or "run", or the page "edit"."""
        return self._at(f"/{action}")

    def copy_url(self) -> str:
        """The form for a report like this one."""
        return with_query(
            f"/reports/{NEW}", {"like": self.name, "project": named_project(self.project)}
        )

    def edition_url(self, number: int, form: str = "") -> str:
        return self._at(f"/{number}{f'.{form}' if form else ''}")

    def file_url(self, number: int, file_name: str) -> str:
        """The stored file of an edition in one format."""
        return self._at(f"/{number}/{file_name}")

    def retry_url(self, number: int, delivery_id: int | None = None) -> str:
        """The address to which a retry of an edition, or of one of its deliveries, is posted."""
        what = "" if delivery_id is None else f"/deliveries/{delivery_id}"
        return self._at(f"/{number}{what}/retry")

    def _at(self, place: str, *, first: str | None = None) -> str:
        segment = escaped_start(self.name) if self.name == NEW else name_segment(self.name)
        return with_query(
            f"/reports/{segment}{place}", {"project": named_project(self.project), "from": first}
        )


def reports_url(*, start: int = 0) -> str:
    """The list; `start` counts reports from 0."""
    return with_query("/reports", {"from": str(start + 1) if start else None})
