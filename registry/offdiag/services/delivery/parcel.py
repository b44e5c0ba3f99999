"""What is sent: one issue, its files, and a name by which a second arrival is recognised."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from offdiag.domain.texts import DEFAULT_PROJECT, name_segment
from offdiag.reports.texts import visible
from offdiag.services.delivery.targets import Target
from offdiag.store.reports import StoredFile

SUFFIXES = {"html": ".html", "markdown": ".md", "json": ".json", "csv": ".csv"}
_LONGEST_STEM = 80


@dataclass(frozen=True, slots=True)
class Parcel:
    """An issue on its way to one target."""

    delivery_id: int
    server_url: str
    target: Target
    project: str
    name: str
    number: int
    fire_time: str
    headline: str
    data_digest: str
    files: tuple[StoredFile, ...]

    @property
    def key(self) -> str:
        """The same for every attempt, and for no other delivery of the same figures."""
        return f"{self.data_digest[:16]}-{self.number}-{self.delivery_id}"

    @property
    def title(self) -> str:
        """ "derm-7 weekly #41"."""
        return f"{visible(self.name)} #{self.number}"

    @property
    def url(self) -> str:
        """Its page on the server."""
        query = "" if self.project == DEFAULT_PROJECT else f"?project={quote(self.project)}"
        return f"{self.server_url}/reports/{name_segment(self.name)}/{self.number}{query}"

    def file(self, kind: str) -> StoredFile:
        """One form of the issue."""
        return next(file for file in self.files if file.kind == kind)

    def file_name(self, kind: str) -> str:
        """A name that every file system takes, without anything hostile left in it."""
        return file_name(self.name, self.number, kind)


def file_name(name: str, number: int, kind: str) -> str:
    """What the file of an issue is called outside of the registry, in plain ASCII."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:_LONGEST_STEM]
    return f"{stem or 'report'}-{number:04}{SUFFIXES[kind]}"
