"""Delivery by webhook: one signed POST request to a checked IP address, within limits.

A name is resolved once, all its addresses are checked, and the connection is made to a checked
address. Resolving it again when connecting would let the answer change in between.

Redirects are not followed: they could lead to an address that was not checked.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import socket
import threading
import time
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit

from offdiag.services.delivery.connections import ends_after, secured
from offdiag.services.delivery.message import DeliveryFailed, DeliveryMessage, DeliveryRefused
from offdiag.settings import WebhookSettings
from offdiag.version import offdiag_version

_TRANSLATED = 0x0064_FF9B << 64
"""The first 96 bits of 64:ff9b::/96, the prefix under which NAT64 maps IPv4 addresses."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An address to which a connection is allowed."""

    family: socket.AddressFamily
    ip: str
    port: int


def checked_address(host: str, port: int, *, allow_private: bool, timeout_s: float) -> Checked:
    """Resolve a host name and choose an address.

    Raises `DeliveryRefused` if any of its addresses is not public and private ones are not
    allowed, and `DeliveryFailed` if the name has no address or its server does not answer.
    """
    found = _resolved(host, port, timeout_s)
    if not allow_private:
        for address in found:
            if not is_public(address.ip):
                raise DeliveryRefused(
                    f"{host!r} is {address.ip}, which is not a public address. "
                    "Set webhook.allow_private_addresses to post there."
                )
    return found[0]


def is_public(ip: str) -> bool:
    """Whether an address belongs to a machine on the public internet.

    An IPv4 address embedded in an IPv6 one is judged as the IPv4 address.
    """
    address = ip_address(ip.partition("%")[0])
    for inner in _inside(address):
        if not inner.is_global or inner.is_multicast:
            return False
    return address.is_global and not address.is_multicast


def _inside(address: IPv4Address | IPv6Address) -> list[IPv4Address]:
    if isinstance(address, IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    number = int(address)
    if number >> 32 in {_TRANSLATED, 0}:
        # The latter is the long deprecated "IPv4-compatible" form.
        found.append(IPv4Address(number & 0xFFFF_FFFF))
    return [inner for inner in found if inner is not None]


def _resolved(host: str, port: int, timeout_s: float) -> list[Checked]:
    """All addresses of a name. The resolver has no time limit, so it runs in its own thread."""
    answer: list[Checked] = []
    failure: list[str] = []

    def resolve() -> None:
        try:
            answer.extend(
                Checked(socket.AddressFamily(family), str(place[0]), port)
                for family, _, _, _, place in socket.getaddrinfo(
                    host, port, type=socket.SOCK_STREAM
                )
            )
        except (OSError, UnicodeError) as error:
            failure.append(str(error))

    thread = threading.Thread(target=resolve, name="resolver", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        raise DeliveryFailed(f"no name server answered within {timeout_s:g} s for {host!r}.")
    if not answer:
        raise DeliveryFailed(f"{host!r} has no address: {''.join(failure) or 'none found'}.")
    return answer


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """`v1=` and the HMAC-SHA256 of "timestamp.body" under the secret, in hexadecimal.

    The timestamp is signed with the body, so that no one can resend a recorded request to a
    receiver that refuses old timestamps.
    """
    signed = f"{timestamp}.".encode() + body
    return f"v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


_ENCODED = "whsec_"


def signing_key(secret: str) -> bytes:
    """The bytes of a secret: base64 after `whsec_`, any other text as UTF-8.

    Raises `DeliveryRefused` for a `whsec_` secret that is not base64.
    """
    if not secret.startswith(_ENCODED):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_ENCODED), validate=True)
    except ValueError:
        raise DeliveryRefused(
            "webhook.secret is not base64 after whsec_. Set it to what the receiver shows."
        ) from None


def standard_headers(secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers of Standard Webhooks (standardwebhooks.com, version 1.0.0).

    The signature is `v1,` and the HMAC-SHA256 of "id.timestamp.body" in base64. Raises
    `DeliveryRefused` like `signing_key`.
    """
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(signing_key(secret), signed, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode('ascii')}",
    }


LIMIT_S = 5.0
LIMIT_BYTES = 65_536
_EVENT = "report.issued"


def deliver_by_webhook(parcel: DeliveryMessage, url: str, settings: WebhookSettings) -> None:
    """Post a summary of an edition to a URL.

    Raises `DeliveryRefused` for a forbidden address and if no secret is set, and `DeliveryFailed`
    unless a 2xx answer of at most 64 kB arrives within 5 seconds.
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
    """The IP address to post a webhook to. Raises `DeliveryRefused` and `DeliveryFailed`."""
    if not settings.secret:
        raise DeliveryRefused("nothing is posted unsigned. Set webhook.secret.")
    signing_key(settings.secret)
    parts = urlsplit(url)
    return checked_address(
        parts.hostname or "",
        parts.port or (443 if parts.scheme == "https" else 80),
        allow_private=settings.allow_private_addresses,
        timeout_s=LIMIT_S,
    )


def webhook_body(parcel: DeliveryMessage) -> bytes:
    """The posted JSON document. Chat tools show `text`; the rest is for programs."""
    document = {
        "event": _EVENT,
        "text": f"{parcel.title}: {parcel.headline}",
        "project": parcel.project,
        "report": parcel.name,
        "edition": parcel.number,
        "issue": parcel.number,  # The former name, which goes with the next release.
        "fire_time": parcel.fire_time,
        "headline": parcel.headline,
        "url": parcel.url,
        "data_digest": parcel.data_digest,
        "delivery": parcel.key,
    }
    return json.dumps(document, ensure_ascii=True).encode()


def _post(
    parcel: DeliveryMessage, parts: SplitResult, address: Checked, secret: str, limit_s: float
) -> None:
    host = parts.hostname or ""
    give_up_at = time.monotonic() + limit_s
    too_late = DeliveryFailed(f"{host} did not answer within {LIMIT_S:g} s.")
    with socket.socket(address.family, socket.SOCK_STREAM) as plain:
        plain.settimeout(limit_s)
        plain.connect((address.ip, address.port))
        with ends_after(plain, give_up_at - time.monotonic()) as is_over:
            try:
                with secured(plain, host) if parts.scheme == "https" else plain as stream:
                    _exchange(stream, parts, parcel, secret)
            except (OSError, http.client.HTTPException, DeliveryFailed) as error:
                if is_over.is_set() or isinstance(error, TimeoutError):
                    raise too_late from error
                raise
            # An answer that was cut off looks like one that ended by itself.
            if is_over.is_set():
                raise too_late


def _exchange(
    stream: socket.socket, parts: SplitResult, parcel: DeliveryMessage, secret: str
) -> None:
    body = webhook_body(parcel)
    timestamp = int(time.time())
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    # The library would resolve the name again; this connection goes to the checked address.
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
            **standard_headers(secret, parcel.key, timestamp, body),
            "Connection": "close",
        },
    )
    with connection.getresponse() as answer:
        _require_success(answer, parts.hostname or "")


def _require_success(answer: http.client.HTTPResponse, host: str) -> None:
    content = answer.read(LIMIT_BYTES + 1)
    if len(content) > LIMIT_BYTES:
        raise DeliveryFailed(f"{host} answered with more than {LIMIT_BYTES // 1024} kB.")
    if 300 <= answer.status < 400:
        raise DeliveryFailed(
            f"{host} answered {answer.status}; redirects are not followed.", is_final=True
        )
    if not 200 <= answer.status < 300:
        raise DeliveryFailed(f"{host} answered {answer.status} {answer.reason[:100]}.")
