"""Addresses of a dataset and of the versions of its ground truth."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from offdiag_web.addresses.query_string import with_query

DEFAULT_PROJECT = "default"
"""The project of runs that name none."""

_UNFIT = re.compile(r"[~/\\]")
_ESCAPED = re.compile(r"~([0-9A-F]{2})")
_TWINS = (".json", ".csv")
_READABLE = ":@,~"
_LARGEST_START = 10_000_000


@dataclass(frozen=True, slots=True)
class DatasetAddress:
    """A dataset by project and name; the default project goes without saying."""

    project: str
    name: str

    def url(self, form: str = "", *, start: int = 0) -> str:
        """The page, or its twin where `form` is "json" or "csv"; `start` counts classes from 0."""
        return self._at("", form, start)

    def difference_url(self, before: int, after: int, form: str = "", *, start: int = 0) -> str:
        """What differs between two versions; `start` counts changed samples from 0."""
        return self._at(f"/truth/{before}..{after}", form, start)

    def impact_url(
        self, number: int, form: str = "", *, metric: str | None = None, start: int = 0
    ) -> str:
        """What a version did to runs; `start` counts runs from 0."""
        return self._at(f"/truth/{number}/impact", form, start, metric=metric)

    def _at(self, place: str, form: str, start: int, **values: str | None) -> str:
        segment = quote(name_in_path(self.name), safe=_READABLE)
        project = None if self.project == DEFAULT_PROJECT else self.project
        first = str(start + 1) if start and not form else None
        return with_query(
            f"/datasets/{segment}{place}{f'.{form}' if form else ''}",
            {"project": project, "from": first, **values},
        )


def name_in_path(name: str) -> str:
    """A name as one segment of a path, before percent-encoding.

    Slashes part segments even where they are percent-encoded, browsers resolve dots, and an
    end such as `.json` names a twin. Such characters are written as `~` and their code.
    """
    written = _UNFIT.sub(lambda found: _code(found.group()), name)
    if name in {".", ".."} or name.endswith(_TWINS):
        return written.replace(".", _code("."))
    return written


def name_from_path(segment: str) -> str:
    """The name that `name_in_path` wrote."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), segment)


def read_start(values: Mapping[str, str]) -> tuple[int, list[str]]:
    """From which line on a list is shown, counted from 0, with a notice where that is unclear."""
    given = values.get("from", "")
    if not given:
        return 0, []
    if given.isascii() and given.isdigit() and 1 <= int(given[:9]) <= _LARGEST_START:
        return int(given[:9]) - 1, []
    return 0, ["The place in the list could not be read; this is its beginning."]


def _code(character: str) -> str:
    return f"~{ord(character):02X}"
