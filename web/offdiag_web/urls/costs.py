"""Addresses of cost matrices: their list, one with its versions, and the forms that make one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.domain.texts import DEFAULT_PROJECT, escaped_start, name_segment
from offdiag_web.urls.query_string import with_query

NEW = "new"
"""The address of the form; a cost matrix of this name is written differently."""
_LARGEST_VERSION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class CostsAddress:
    """A cost matrix by project and name; the default project goes without saying.

    `version` is the one that is shown, None for the newest; `before` the one it is compared
    with, None for the one before it.
    """

    project: str
    name: str
    version: int | None = None
    before: int | None = None

    def url(self, form: str = "") -> str:
        """The page, or its twin where `form` is "json" or "csv"."""
        return self._at(f".{form}" if form else "", v=self.version, **{"from": self.before})

    def new_version_url(self) -> str:
        """The form for another version, filled with the one that is shown."""
        return self._at("/new", v=self.version)

    def action_url(self, action: str) -> str:
        """Where a form posts to: "new" or "default"."""
        return self._at(f"/{action}")

    def _at(self, place: str, **values: int | None) -> str:
        segment = escaped_start(self.name) if self.name == NEW else name_segment(self.name)
        project = None if self.project == DEFAULT_PROJECT else self.project
        shown = {key: None if value is None else str(value) for key, value in values.items()}
        return with_query(f"/costs/{segment}{place}", {"project": project, **shown})


def new_costs_url(project: str, dataset: str | None = None) -> str:
    """The form for a new cost matrix, about the classes of a dataset."""
    asked = None if project == DEFAULT_PROJECT else project
    return with_query(f"/costs/{NEW}", {"project": asked, "dataset": dataset})


def read_versions(values: Mapping[str, str]) -> tuple[int | None, int | None, list[str]]:
    """The version that is asked for and the one to compare with, and what cannot be meant."""
    notices: list[str] = []
    shown = _number(values.get("v"), notices)
    return shown, _number(values.get("from"), notices), notices


def _number(text: str | None, notices: list[str]) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdigit() and 1 <= int(text[:10]) <= _LARGEST_VERSION:
        return int(text[:10])
    notices.append(f"“{text[:20]}” is no number of a version.")
    return None
