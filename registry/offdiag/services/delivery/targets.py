"""Where an issue is sent: a folder, a mailbox, a web address. Secrets are settings instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.errors import MessageError
from email.headerregistry import Address
from pathlib import PurePath
from typing import Any
from urllib.parse import SplitResult, urlsplit

from offdiag.errors import InvalidInput

MOST_TARGETS = 20
LONGEST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class FolderTarget:
    """A folder below the one that the settings allow; each issue becomes files of its own."""

    folder: str

    def __post_init__(self) -> None:
        _require_plain(self.folder, "folder")
        path = PurePath(self.folder)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise InvalidInput(
                f"{self.folder!r} does not lie below the folder of reports.",
                field="folder",
                hint="Name a folder in it, such as weekly; the setting reports.folder says where.",
            )

    @property
    def text(self) -> str:
        return f"folder {self.folder}"


@dataclass(frozen=True, slots=True)
class EmailTarget:
    """One mailbox. Several people are several targets, so that one may fail alone."""

    address: str

    def __post_init__(self) -> None:
        _require_plain(self.address, "email")
        try:
            address = Address(addr_spec=self.address)
        except (MessageError, ValueError, IndexError):
            address = Address()
        if not address.domain or address.addr_spec != self.address:
            raise InvalidInput(
                f"{self.address!r} is no e-mail address.",
                field="email",
                hint="Write one address without a name, such as ana@example.org.",
            )

    @property
    def text(self) -> str:
        return f"e-mail {self.address}"


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A web address that a signed summary is posted to."""

    url: str

    def __post_init__(self) -> None:
        _require_plain(self.url, "webhook")
        parts = _parts(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InvalidInput(
                f"{self.url!r} is no web address.",
                field="webhook",
                hint="Write a URL that begins with https://.",
            )
        if parts.username is not None or parts.password is not None or "@" in parts.netloc:
            raise InvalidInput(
                "a URL with a user name or a password leads elsewhere than it seems to.",
                field="webhook",
                hint="Leave the part before @ out; posts are signed instead.",
            )

    @property
    def text(self) -> str:
        """Without path and query, which often are a secret."""
        parts = _parts(self.url)
        return f"webhook {parts.scheme}://{parts.netloc}/…"


Target = FolderTarget | EmailTarget | WebhookTarget


def target_documents(targets: Sequence[Target]) -> list[dict[str, Any]]:
    """Targets as they are stored. Raises `InvalidInput` for too many."""
    if len(targets) > MOST_TARGETS:
        raise InvalidInput(
            f"there are {len(targets)} targets.",
            field="delivery",
            hint=f"An issue is sent to at most {MOST_TARGETS}; a mailing list has one address.",
        )
    return [_document(target) for target in dict.fromkeys(targets)]


def read_targets(documents: Sequence[Mapping[str, Any]]) -> tuple[Target, ...]:
    """The targets in stored documents."""
    return tuple(map(read_target, documents))


def read_target(document: Mapping[str, Any]) -> Target:
    """The target in a stored document."""
    match document["kind"]:
        case "folder":
            return FolderTarget(document["folder"])
        case "email":
            return EmailTarget(document["address"])
        case _:
            return WebhookTarget(document["url"])


def _document(target: Target) -> dict[str, Any]:
    match target:
        case FolderTarget():
            return {"kind": "folder", "folder": target.folder}
        case EmailTarget():
            return {"kind": "email", "address": target.address}
        case WebhookTarget():
            return {"kind": "webhook", "url": target.url}


def _require_plain(text: str, field: str) -> None:
    if len(text) > LONGEST_TEXT or not text.isprintable() or text != text.strip():
        raise InvalidInput(
            f"{text[:40]!r} cannot be meant.",
            field=field,
            hint="Leave out line breaks, control characters and blanks at the ends.",
        )


def _parts(url: str) -> SplitResult:
    """The parts of a URL. Raises `InvalidInput` for one that programs read differently."""
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
            hint="Leave out backslashes and blanks, and write other than ASCII letters encoded.",
        )
    return parts
