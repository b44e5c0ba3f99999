"""Delivery by e-mail, to folders, and to chats and other services through Apprise."""

from __future__ import annotations

import os
import re
import smtplib
import socket
import ssl
import tempfile
import time
from collections.abc import Collection
from contextlib import closing, suppress
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

from offdiag.errors import MissingExtra
from offdiag.extras import optional
from offdiag.services.delivery.connections import ends_after, secured
from offdiag.services.delivery.message import DeliveryFailed, DeliveryMessage, DeliveryRefused
from offdiag.settings import NotifySettings, ReportsSettings, SmtpSettings
from offdiag.store.archive.whole_file import sync_folder

EMAIL_LIMIT_S = 30.0
_STEP_S = 10.0
_LONGEST_SUBJECT = 150


def deliver_by_email(parcel: DeliveryMessage, address: str, settings: SmtpSettings) -> None:
    """Send an edition to one mailbox.

    Raises `DeliveryRefused` if no server or sender is set, and `DeliveryFailed` if the server does
    not accept the message within 30 seconds.
    """
    require_sender(settings)
    message = email_of(parcel, address, settings)
    try:
        with (
            socket.create_connection((settings.host, settings.port), _STEP_S) as connection,
            ends_after(connection, EMAIL_LIMIT_S),
        ):
            _send(message, address, settings, connection)
    except (OSError, smtplib.SMTPException) as error:
        place = f"{settings.host}:{settings.port}"
        code, said = _answer(error)
        raise DeliveryFailed(
            f"{place} did not take the message: {said}.", is_final=500 <= code < 600
        ) from error


def require_sender(settings: SmtpSettings) -> None:
    """Raise `DeliveryRefused` if no server or sender is set."""
    if not settings.host or not settings.sender:
        raise DeliveryRefused("no e-mail can be sent. Set smtp.host and smtp.sender.")


def email_of(parcel: DeliveryMessage, address: str, settings: SmtpSettings) -> EmailMessage:
    """The e-mail. Its id is the same in every attempt, so that a repeat can be recognised."""
    message = EmailMessage()
    subject = f"[offdiag] {parcel.title}: {parcel.headline}"
    message["Subject"] = _one_line(subject)[:_LONGEST_SUBJECT]
    message["From"] = settings.sender
    message["To"] = address
    message["Date"] = format_datetime(datetime.now(UTC))
    message["Message-ID"] = f"<{parcel.key}@offdiag>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(parcel.file("markdown").content.decode())
    for kind, subtype in (("html", "html"), ("csv", "csv")):
        message.add_attachment(
            parcel.file(kind).content,
            maintype="text",
            subtype=subtype,
            filename=parcel.file_name(kind),
            params={"charset": "utf-8"},
        )
    return message


class _OverConnection(smtplib.SMTP):
    """SMTP over an existing connection, so that the time limit starts with the first byte."""

    def __init__(self, connection: socket.socket, settings: SmtpSettings) -> None:
        self._connection = connection
        super().__init__(settings.host, settings.port, timeout=_STEP_S)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002
        return self._connection


def _send(
    message: EmailMessage, address: str, settings: SmtpSettings, connection: socket.socket
) -> None:
    if settings.security == "tls":
        connection = secured(connection, settings.host)
    with closing(_OverConnection(connection, settings)) as server:
        if settings.security == "starttls":
            server.starttls(context=ssl.create_default_context())
        if settings.user:
            server.login(settings.user, settings.password)
        server.send_message(message, to_addrs=[address])
        # The message was accepted. An error in closing the connection must not send it again.
        with suppress(OSError, smtplib.SMTPException):
            server.quit()


def _one_line(text: str) -> str:
    """The text on one line: a line break would end the header line it is in."""
    return " ".join(text.split())


def _answer(error: OSError | smtplib.SMTPException) -> tuple[int, str]:
    """The code and text that the server answered, without any of our credentials.

    The code is 0 if it answered nothing that fails a message.
    """
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        ((code, answer),) = error.recipients.values()  # A message has one recipient.
        error = smtplib.SMTPResponseException(code, answer)
    if isinstance(error, smtplib.SMTPResponseException):
        text = error.smtp_error
        said = text.decode(errors="replace") if isinstance(text, bytes) else text
        return error.smtp_code, f"{error.smtp_code} {_one_line(said)[:200]}"
    return 0, _one_line(str(error))[:200] or type(error).__name__


_FOLDER_MODE = 0o755
_FILE_MODE = 0o644
_UNFINISHED = re.compile(r"\.(?P<file>.+-\d{4,}\.(?:html|md|json|csv))\.[^.]+\.part")
_ABANDONED_AFTER_S = 3_600.0


def deliver_to_folder(parcel: DeliveryMessage, folder: str, settings: ReportsSettings) -> None:
    """Write the files of an edition below the folder of reports.

    Raises `DeliveryRefused` if a link leads out of it, and `DeliveryFailed` for a full disk and
    everything else that prevents writing files.
    """
    try:
        place = place_of(folder, settings)
        place.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        files = {parcel.file_name(file.kind): file.content for file in parcel.files}
        _remove_abandoned(place, files.keys())
        for name, content in files.items():
            _write_whole(place / name, content)
    except OSError as error:
        raise DeliveryFailed(f"{error.filename or folder}: {error.strerror or error}.") from error


def place_of(folder: str, settings: ReportsSettings) -> Path:
    """The folder that a target names. Raises `DeliveryRefused` if a link leads out of the folder
    of reports."""
    root = Path(settings.folder).expanduser().absolute()
    place = root / folder
    if not place.resolve().is_relative_to(root.resolve()):
        raise DeliveryRefused(
            f"{str(place)!r} leads out of {str(root)!r}. Remove the link, or change "
            "reports.folder."
        )
    return place


def require_writable(place: Path) -> None:
    """Raise `DeliveryFailed` if this user can neither write to a folder nor create it."""
    existing = next(parent for parent in (place, *place.parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise DeliveryFailed(f"{existing}: this user cannot write there.")


def _remove_abandoned(place: Path, own: Collection[str]) -> None:
    """Remove unfinished files of deliveries that were killed while writing.

    Files about to be written belong to this delivery alone: one worker at a time writes them, with
    the same bytes. Those of other editions are removed only after an hour, because another worker
    may be writing them.
    """
    before = time.time() - _ABANDONED_AFTER_S
    for path in place.glob(".*.part"):
        found = _UNFINISHED.fullmatch(path.name)
        with suppress(FileNotFoundError):
            if found and (found["file"] in own or path.lstat().st_mtime < before):
                path.unlink()


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file under its final name only when it is complete and on the disk."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(_FILE_MODE)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
    sync_folder(path.parent)


def notify(parcel: DeliveryMessage, name: str, settings: NotifySettings) -> None:
    """Send the title, headline and URL of an edition to one place.

    Raises `DeliveryRefused` like `require_place`, and `DeliveryFailed` if the service does not
    accept the message.
    """
    url = require_place(name, settings)
    from apprise import Apprise, AppriseAsset, NotifyFormat

    service = Apprise(asset=AppriseAsset(app_id="offdiag", app_desc="offdiag"))
    service.add(url)
    body = f"{parcel.headline}\n{parcel.url}"
    if not service.notify(body=body, title=parcel.title, body_format=NotifyFormat.TEXT):
        raise DeliveryFailed(f"{name} did not take the message; the log of the worker says why.")


def require_place(name: str, settings: NotifySettings) -> str:
    """The URL of a place.

    Raises `DeliveryRefused` if no place has that name, if Apprise cannot use its URL, and if
    Apprise is not installed.
    """
    urls = [url for known, url in _places(settings) if known == name]
    if not urls:
        raise DeliveryRefused(f"notify.targets has no target {name!r}. Add {name}=URL to it.")
    if len(urls) > 1:
        raise DeliveryRefused(f"notify.targets has {len(urls)} targets named {name!r}. Keep one.")
    try:
        with optional:
            from apprise import Apprise
    except MissingExtra as missing:
        raise DeliveryRefused(str(missing)) from None
    if Apprise.instantiate(urls[0]) is None:
        raise DeliveryRefused(f"Apprise cannot read the URL of {name!r} in notify.targets.")
    return urls[0]


def _places(settings: NotifySettings) -> list[tuple[str, str]]:
    pairs = (entry.partition("=") for entry in settings.targets.split())
    return [(name, url) for name, _, url in pairs]
