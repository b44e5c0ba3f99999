"""Delivery by e-mail: the report as text, with the page and the table attached."""

from __future__ import annotations

import smtplib
import socket
import ssl
from contextlib import closing, suppress
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime

from offdiag.services.delivery.deadline import ends_after
from offdiag.services.delivery.message import DeliveryFailed, DeliveryMessage, DeliveryRefused
from offdiag.settings import SmtpSettings

LIMIT_S = 30.0
_STEP_S = 10.0
_LONGEST_SUBJECT = 150


def deliver_by_email(parcel: DeliveryMessage, address: str, settings: SmtpSettings) -> None:
    """Send an issue to one mailbox.

    Raises `DeliveryRefused` where no server or sender is set, and `DeliveryFailed` when the
    server does not take the message within 30 seconds.
    """
    require_sender(settings)
    message = email_of(parcel, address, settings)
    try:
        with (
            socket.create_connection((settings.host, settings.port), _STEP_S) as connection,
            ends_after(connection, LIMIT_S),
        ):
            _send(message, address, settings, connection)
    except (OSError, smtplib.SMTPException) as error:
        place = f"{settings.host}:{settings.port}"
        raise DeliveryFailed(f"{place} did not take the message: {_said(error)}.") from error


def require_sender(settings: SmtpSettings) -> None:
    """Raise `DeliveryRefused` where no server or sender is set."""
    if not settings.host or not settings.sender:
        raise DeliveryRefused("no e-mail can be sent. Set smtp.host and smtp.sender.")


def email_of(parcel: DeliveryMessage, address: str, settings: SmtpSettings) -> EmailMessage:
    """The message. Its id is the same in every attempt, so that a second arrival is seen."""
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
    """Speaks over a connection that is there already: its time counts from the first byte."""

    def __init__(self, connection: socket.socket, settings: SmtpSettings) -> None:
        self._connection = connection
        super().__init__(settings.host, settings.port, timeout=_STEP_S)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:  # noqa: ARG002
        return self._connection


def _send(
    message: EmailMessage, address: str, settings: SmtpSettings, connection: socket.socket
) -> None:
    if settings.security == "tls":
        context = ssl.create_default_context()
        connection = context.wrap_socket(connection, server_hostname=settings.host)
    with closing(_OverConnection(connection, settings)) as server:
        if settings.security == "starttls":
            server.starttls(context=ssl.create_default_context())
        if settings.user:
            server.login(settings.user, settings.password)
        server.send_message(message, to_addrs=[address])
        # It was taken. Whatever goes wrong with saying goodbye must not send it again.
        with suppress(OSError, smtplib.SMTPException):
            server.quit()


def _one_line(text: str) -> str:
    """Header lines end where their text has a line break, so there must not be one."""
    return " ".join(text.split())


def _said(error: OSError | smtplib.SMTPException) -> str:
    """What the server answered, without anything of our sign-in."""
    if isinstance(error, smtplib.SMTPResponseException):
        text = error.smtp_error
        said = text.decode(errors="replace") if isinstance(text, bytes) else text
        return f"{error.smtp_code} {_one_line(said)[:200]}"
    return _one_line(str(error))[:200] or type(error).__name__
