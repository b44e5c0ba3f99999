"""Delivery by webhook: one signed post to an address that was checked, within bounds.

Redirects are not followed: the address that was checked would not be the one that is reached.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from urllib.parse import SplitResult, urlsplit

from offdiag.services.deadline import ends_after
from offdiag.services.delivery.addresses import Checked, checked_address
from offdiag.services.delivery.outcomes import DeliveryFailed, DeliveryRefused
from offdiag.services.delivery.parcel import Parcel
from offdiag.services.delivery.signature import signature
from offdiag.settings import WebhookSettings
from offdiag.version import offdiag_version

LIMIT_S = 5.0
LIMIT_BYTES = 65_536
_EVENT = "report.issued"


def deliver_by_webhook(parcel: Parcel, url: str, settings: WebhookSettings) -> None:
    """Post a summary of an issue.

    Raises `DeliveryRefused` for an address that must not be talked to and where no secret is
    set, and `DeliveryFailed` unless a 2xx answer of at most 64 kB arrives within 5 seconds.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    started = time.monotonic()
    address = checked_receiver(url, settings)
    left_s = LIMIT_S - (time.monotonic() - started)
    try:
        _post(parcel, parts, address, settings.secret, max(left_s, 0.1))
    except (OSError, http.client.HTTPException) as error:
        raise DeliveryFailed(f"{host}: {str(error) or type(error).__name__}.") from error


def checked_receiver(url: str, settings: WebhookSettings) -> Checked:
    """The address that a webhook is posted to. Raises `DeliveryRefused` and `DeliveryFailed`."""
    if not settings.secret:
        raise DeliveryRefused("nothing is posted unsigned. Set webhook.secret.")
    parts = urlsplit(url)
    return checked_address(
        parts.hostname or "",
        parts.port or (443 if parts.scheme == "https" else 80),
        allow_private=settings.allow_private_addresses,
        timeout_s=LIMIT_S,
    )


def webhook_body(parcel: Parcel) -> bytes:
    """The posted document. Chat tools show `text`; the rest is for programs."""
    document = {
        "event": _EVENT,
        "text": f"{parcel.title}: {parcel.headline}",
        "project": parcel.project,
        "report": parcel.name,
        "issue": parcel.number,
        "fire_time": parcel.fire_time,
        "headline": parcel.headline,
        "url": parcel.url,
        "data_digest": parcel.data_digest,
        "delivery": parcel.key,
    }
    return json.dumps(document, ensure_ascii=True).encode()


def _post(
    parcel: Parcel, parts: SplitResult, address: Checked, secret: str, limit_s: float
) -> None:
    host = parts.hostname or ""
    give_up_at = time.monotonic() + limit_s
    too_late = DeliveryFailed(f"{host} did not answer within {LIMIT_S:g} s.")
    with socket.socket(address.family, socket.SOCK_STREAM) as plain:
        plain.settimeout(limit_s)
        plain.connect((address.ip, address.port))
        with ends_after(plain, give_up_at - time.monotonic()) as is_over:
            try:
                with _secured(plain, host) if parts.scheme == "https" else plain as stream:
                    _exchange(stream, parts, parcel, secret)
            except (OSError, http.client.HTTPException, DeliveryFailed) as error:
                if is_over.is_set() or isinstance(error, TimeoutError):
                    raise too_late from error
                raise
            # An answer that was cut off looks like one that ended.
            if is_over.is_set():
                raise too_late


def _secured(plain: socket.socket, host: str) -> socket.socket:
    return ssl.create_default_context().wrap_socket(plain, server_hostname=host)


def _exchange(stream: socket.socket, parts: SplitResult, parcel: Parcel, secret: str) -> None:
    body = webhook_body(parcel)
    timestamp = int(time.time())
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    # The library would resolve the name anew; this connection is to the address that was checked.
    connection.sock = stream
    connection.auto_open = 0
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    connection.request(
        "POST",
        path,
        body,
        {
            "Host": parts.netloc,
            "Content-Type": "application/json",
            "User-Agent": f"offdiag/{offdiag_version()}",
            "Offdiag-Delivery": parcel.key,
            "Offdiag-Timestamp": str(timestamp),
            "Offdiag-Signature": signature(secret, timestamp, body),
            "Connection": "close",
        },
    )
    answer = connection.getresponse()
    _require_success(answer, parts.hostname or "")


def _require_success(answer: http.client.HTTPResponse, host: str) -> None:
    content = answer.read(LIMIT_BYTES + 1)
    if len(content) > LIMIT_BYTES:
        raise DeliveryFailed(f"{host} answered with more than {LIMIT_BYTES // 1024} kB.")
    if 300 <= answer.status < 400:
        raise DeliveryFailed(f"{host} answered {answer.status}; redirects are not followed.")
    if not 200 <= answer.status < 300:
        raise DeliveryFailed(f"{host} answered {answer.status} {answer.reason[:100]}.")
