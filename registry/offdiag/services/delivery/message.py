"""Delivery targets and messages: one edition and its files, with a key to detect repeats.

A target is a folder, a mailbox, a URL or the name of a place; secrets belong in the settings
instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from email.errors import MessageError
from email.headerregistry import Address
from pathlib import PurePath
from typing import Any, ClassVar
from urllib.parse import SplitResult, quote, urlsplit

from offdiag.domain.sentences import visible
from offdiag.domain.texts import DEFAULT_PROJECT, name_segment
from offdiag.errors import InvalidInput
from offdiag.store.reports import StoredFile


class DeliveryFailed(Exception):
    """Raised if a message did not arrive.

    A later attempt may succeed, unless `is_final`: then the receiver takes no such message.
    """

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class DeliveryRefused(Exception):
    """Raised if settings or rules forbid a delivery; the message says what to change."""


MOST_TARGETS = 20
LONGEST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class FolderTarget:
    """A folder below the one that settings allow; each edition becomes separate files."""

    kind: ClassVar = "folder"
    folder: str

    def __post_init__(self) -> None:
        _require_plain(self.folder, "folder")
        path = PurePath(self.folder)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise InvalidInput(
                f"{self.folder!r} is not inside the folder of reports.",
                field="folder",
                hint="Name a folder in it, such as weekly; the setting is reports.folder.",
            )

    @property
    def text(self) -> str:
        return f"folder {self.folder}"


@dataclass(frozen=True, slots=True)
class EmailTarget:
    """One mailbox. Several people are several targets, so that each can fail separately."""

    kind: ClassVar = "email"
    address: str

    def __post_init__(self) -> None:
        _require_plain(self.address, "email")
        try:
            address = Address(addr_spec=self.address)
        except (MessageError, ValueError, IndexError):
            address = Address()
        if not address.domain or address.addr_spec != self.address:
            raise InvalidInput(
                f"{self.address!r} is not an e-mail address.",
                field="email",
                hint="Write one address without a name, such as ana@example.org.",
            )

    @property
    def text(self) -> str:
        return f"e-mail {self.address}"


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A URL to which a signed summary is posted."""

    kind: ClassVar = "webhook"
    url: str

    def __post_init__(self) -> None:
        _require_plain(self.url, "webhook")
        parts = _parts(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InvalidInput(
                f"{self.url!r} is not a web address.",
                field="webhook",
                hint="Write a URL that begins with https://.",
            )
        if parts.username is not None or parts.password is not None or "@" in parts.netloc:
            raise InvalidInput(
                "a URL with a user name or password may not lead where it seems to.",
                field="webhook",
                hint="Leave out the part before @; posts are signed instead.",
            )

    @property
    def text(self) -> str:
        """The URL without path and query, which are often secret."""
        parts = _parts(self.url)
        return f"webhook {parts.scheme}://{parts.netloc}/…"


@dataclass(frozen=True, slots=True)
class NotifyTarget:
    """A place in the setting `notify.targets`, by its name, because its URL is a secret."""

    kind: ClassVar = "notify"
    name: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", self.name):
            raise InvalidInput(
                f"{self.name[:40]!r} cannot name a target.",
                field="notify",
                hint="Give a name from the setting notify.targets, such as team, not a URL.",
            )

    @property
    def text(self) -> str:
        return f"notification {self.name}"


Target = FolderTarget | EmailTarget | WebhookTarget | NotifyTarget
TARGETS: Mapping[str, type[Target]] = {
    each.kind: each for each in (FolderTarget, EmailTarget, WebhookTarget, NotifyTarget)
}
"""The targets by their kind; each has one field."""


def target_documents(targets: Sequence[Target]) -> list[dict[str, Any]]:
    """Targets as they are stored. Raises `InvalidInput` for too many."""
    if len(targets) > MOST_TARGETS:
        raise InvalidInput(
            f"there are {len(targets)} targets.",
            field="delivery",
            hint=f"Name at most {MOST_TARGETS}; a mailing list counts as one address.",
        )
    return [{"kind": target.kind, **asdict(target)} for target in dict.fromkeys(targets)]


def read_targets(documents: Sequence[Mapping[str, Any]]) -> tuple[Target, ...]:
    return tuple(map(read_target, documents))


def read_target(document: Mapping[str, Any]) -> Target:
    fields = dict(document)
    return TARGETS[fields.pop("kind")](**fields)


def _require_plain(text: str, field: str) -> None:
    if len(text) > LONGEST_TEXT or not text.isprintable() or text != text.strip():
        raise InvalidInput(
            f"{text[:40]!r} cannot be used.",
            field=field,
            hint="Leave out line breaks, control characters and spaces at the ends.",
        )


def _parts(url: str) -> SplitResult:
    """The parts of a URL. Raises `InvalidInput` for one that programs read in different ways."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise InvalidInput(
            f"{url!r} cannot be read: {error}.", field="webhook", hint="Correct the URL."
        ) from None
    if "\\" in url or " " in url or not url.isascii():
        raise InvalidInput(
            f"{url!r} is read differently by different programs.",
            field="webhook",
            hint="Leave out backslashes and spaces, and encode non-ASCII letters.",
        )
    return parts


SUFFIXES = {"html": ".html", "markdown": ".md", "json": ".json", "csv": ".csv"}
_LONGEST_STEM = 80


@dataclass(frozen=True, slots=True)
class DeliveryMessage:
    """An edition to be delivered to one target."""

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
        """A key that is the same in every attempt, and different for all other deliveries."""
        return f"{self.data_digest[:16]}-{self.number}-{self.delivery_id}"

    @property
    def title(self) -> str:
        """ "derm-7 weekly #41"."""
        return f"{visible(self.name)} #{self.number}"

    @property
    def url(self) -> str:
        """The page of the edition on the server."""
        query = "" if self.project == DEFAULT_PROJECT else f"?project={quote(self.project)}"
        return f"{self.server_url}/reports/{name_segment(self.name)}/{self.number}{query}"

    def file(self, kind: str) -> StoredFile:
        """The edition as a file of this kind."""
        return next(file for file in self.files if file.kind == kind)

    def file_name(self, kind: str) -> str:
        """A name for the file that every file system accepts, without hostile characters."""
        return file_name(self.name, self.number, kind)


def file_name(name: str, number: int, kind: str) -> str:
    """The file name of an edition outside the registry, in plain ASCII."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:_LONGEST_STEM]
    return f"{stem or 'report'}-{number:04}{SUFFIXES[kind]}"
