"""Webhooks: signed, bounded, and never to an address that was not checked."""

from __future__ import annotations

import base64
import gc
import hashlib
import hmac
import json
import re
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from offdiag.services.delivery import webhook
from offdiag.services.delivery.connections import secured
from offdiag.services.delivery.message import DeliveryFailed, DeliveryRefused
from offdiag.services.delivery.webhook import deliver_by_webhook, is_public, standard_headers
from offdiag.settings import WebhookSettings
from support.listeners import (
    Behaviour,
    Listener,
    answering,
    dripping,
    flooding,
    listening,
    request,
    silent,
)
from support.messages import parcel

STRICT = WebhookSettings(secret="key")
LOCAL = WebhookSettings(secret="key", allow_private_addresses=True)


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening(answering("204 No Content")) as server:
        yield server


@pytest.fixture
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that tests of what is too slow are not slow."""
    monkeypatch.setattr(webhook, "LIMIT_S", 0.3)


def parsed(received: bytes) -> tuple[str, dict[str, str], bytes]:
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return first, {name.lower(): value for name, value in headers.items()}, body


def test_a_summary_is_posted_with_a_signature_that_can_be_checked(listener: Listener) -> None:
    for _ in range(2):
        deliver_by_webhook(parcel(), f"{listener.url}/T0?x=1", LOCAL)

    first, headers, body = parsed(listener.received[0])
    assert first == "POST /hook/T0?x=1 HTTP/1.1"
    assert headers["host"] == f"127.0.0.1:{listener.port}"
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == {
        "event": "report.issued",
        "text": "derm-7 weekly #41: No change exceeds its interval.",
        "project": "skin",
        "report": "derm-7 weekly",
        "edition": 41,
        "issue": 41,
        "fire_time": "2026-11-16T06:00 Europe/Ljubljana",
        "headline": "No change exceeds its interval.",
        "url": "https://registry.example/reports/derm-7%20weekly/41?project=skin",
        "data_digest": "0123456789abcdef0123456789abcdef",
        "delivery": "0123456789abcdef-41-7",
    }
    # Every attempt carries the same delivery, signed with its time.
    assert headers["offdiag-delivery"] == "0123456789abcdef-41-7"
    assert parsed(listener.received[1])[1]["offdiag-delivery"] == headers["offdiag-delivery"]
    timestamp = headers["offdiag-timestamp"]
    expected = hmac.new(b"key", timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    assert headers["offdiag-signature"] == f"v1={expected}"
    assert abs(time.time() - int(timestamp)) < 60


DOCS = (Path(__file__).parents[3] / "docs" / "reports.md").read_text(encoding="utf-8")


def test_the_documented_check_accepts_what_is_posted_and_nothing_else(listener: Listener) -> None:
    (program,) = re.findall(r"^```python\n(.+?)^```", DOCS, re.DOTALL | re.MULTILINE)
    found: dict[str, Any] = {}
    exec(program, found)  # It is the example of the documentation.
    secret = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()

    settings = WebhookSettings(secret=secret, allow_private_addresses=True)
    deliver_by_webhook(parcel(), listener.url, settings)

    _, headers, body = parsed(listener.received[0])
    other = "whsec_" + base64.b64encode(b"x" * 24).decode()
    assert headers["webhook-id"] == "0123456789abcdef-41-7"
    assert found["is_genuine"](secret, headers, body)
    assert not found["is_genuine"](other, headers, body)
    assert not found["is_genuine"](secret, headers, body + b" ")
    assert not found["is_genuine"](secret, headers | {"webhook-id": "0"}, body)
    assert not found["is_genuine"](secret, headers | {"webhook-timestamp": "1600000000"}, body)


def test_a_secret_in_plain_text_signs_with_its_bytes() -> None:
    plain = standard_headers("a key of 24 bytes length", "m", 1_600_000_000, b"{}")
    encoded = standard_headers(
        "whsec_" + base64.b64encode(b"a key of 24 bytes length").decode(),
        "m",
        1_600_000_000,
        b"{}",
    )

    assert plain == encoded
    assert plain["webhook-signature"].startswith("v1,")


def test_a_secret_that_was_cut_off_is_named_before_anything_leaves(listener: Listener) -> None:
    cut = WebhookSettings(secret="whsec_abc", allow_private_addresses=True)

    with pytest.raises(DeliveryRefused, match=r"webhook\.secret is not base64"):
        deliver_by_webhook(parcel(), listener.url, cut)

    assert listener.connections == 0


def test_nothing_is_posted_unsigned(listener: Listener) -> None:
    unsigned = WebhookSettings(allow_private_addresses=True)

    with pytest.raises(DeliveryRefused, match=r"Set webhook\.secret"):
        deliver_by_webhook(parcel(), listener.url, unsigned)

    assert listener.connections == 0


THIS_MACHINE = (
    *("127.0.0.1", "localhost", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "127.1"),
    *("0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[::]", "[64:ff9b::7f00:1]"),
    "[2002:7f00:1::]",
)


def test_this_machine_is_refused_before_anything_leaves(listener: Listener) -> None:
    for host in THIS_MACHINE:
        with pytest.raises(DeliveryRefused, match="not a public address"):
            deliver_by_webhook(parcel(), f"http://{host}:{listener.port}/hook", STRICT)

    assert listener.connections == 0


NOT_PUBLIC = (
    *("10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("198.18.0.1", "224.0.0.1", "255.255.255.255", "192.0.2.1", "0.1.2.3"),
    *("fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
    *("::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "2002:a00:1::", "::10.0.0.1"),
)
PUBLIC = ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946")


def test_addresses_are_public_or_not() -> None:
    assert [address for address in (*NOT_PUBLIC, *PUBLIC) if is_public(address)] == [*PUBLIC]


def test_one_private_address_among_public_ones_is_enough_to_refuse(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolves_to(monkeypatch, "93.184.216.34", "127.0.0.1")

    with pytest.raises(DeliveryRefused, match=r"is 127\.0\.0\.1"):
        deliver_by_webhook(parcel(), f"http://rebind.example:{listener.port}/", STRICT)

    assert listener.connections == 0


def test_a_name_is_looked_up_once_and_the_checked_address_is_used(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = resolves_to(monkeypatch, "127.0.0.1")

    deliver_by_webhook(parcel(), f"http://hooks.example:{listener.port}/", LOCAL)

    assert asked == ["hooks.example"]
    assert parsed(listener.received[0])[1]["host"] == f"hooks.example:{listener.port}"


def resolves_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Answer every look-up with these addresses; returns the names that were asked for."""
    asked: list[str] = []

    def answer(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        asked.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return asked


def test_a_name_without_an_address_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    with pytest.raises(DeliveryFailed, match=r"'nowhere\.example' has no address"):
        deliver_by_webhook(parcel(), "http://nowhere.example/", STRICT)


def test_a_name_server_that_never_answers_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, short_limit: None
) -> None:
    is_over = threading.Event()

    def never(*_: object, **__: object) -> list[object]:
        is_over.wait(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", never)

    with pytest.raises(DeliveryFailed, match="no name server answered within"):
        deliver_by_webhook(parcel(), "http://slow.example/", STRICT)
    is_over.set()


@pytest.mark.parametrize("status", ["302 Found", "307 Temporary"])
def test_a_redirect_is_a_failure_and_not_followed(status: str) -> None:
    with (
        listening(answering("200 OK")) as secret,
        listening(answering(status, f"Location: {secret.url}")) as server,
        pytest.raises(DeliveryFailed, match="redirects are not followed"),
    ):
        deliver_by_webhook(parcel(), server.url, LOCAL)

    assert secret.connections == 0


@pytest.mark.parametrize("status", ["404 Not Found", "503 Busy"])
def test_any_other_answer_than_success_is_a_failure(status: str) -> None:
    with (
        listening(answering(status)) as server,
        pytest.raises(DeliveryFailed, match=f"answered {status}"),
    ):
        deliver_by_webhook(parcel(), server.url, LOCAL)


@pytest.mark.parametrize(
    "behaviour",
    [
        silent,
        dripping(b""),
        dripping(b"HTTP/1.1 200 OK\r\nX-Endless: "),
        dripping(b"HTTP/1.1 200 OK\r\n\r\n"),
        dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n"),
        dripping(b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_a_slow_answer_is_cut_off(behaviour: Behaviour, short_limit: None) -> None:
    with listening(behaviour) as server:
        began = time.monotonic()
        with pytest.raises(DeliveryFailed, match="did not answer within"):
            deliver_by_webhook(parcel(), server.url, LOCAL)

        assert time.monotonic() - began < 5


def test_a_huge_answer_is_not_read_to_its_end() -> None:
    with (
        listening(flooding) as server,
        pytest.raises(DeliveryFailed, match="more than 64 kB"),
    ):
        deliver_by_webhook(parcel(), server.url, LOCAL)


def test_an_answer_of_64_kb_is_fine() -> None:
    with listening(answering("200 OK", body=b"x" * 65_536)) as server:
        deliver_by_webhook(parcel(), server.url, LOCAL)


def test_a_connection_that_ends_without_an_answer_is_a_failure() -> None:
    def hang_up(connection: socket.socket, listener: Listener) -> None:
        request(connection, listener)

    with listening(hang_up) as server, pytest.raises(DeliveryFailed, match=r"127\.0\.0\.1: "):
        deliver_by_webhook(parcel(), server.url, LOCAL)


def test_nonsense_instead_of_an_answer_is_a_failure() -> None:
    def talk_nonsense(connection: socket.socket, listener: Listener) -> None:
        request(connection, listener)
        connection.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")

    with listening(talk_nonsense) as server, pytest.raises(DeliveryFailed):
        deliver_by_webhook(parcel(), server.url, LOCAL)


def test_a_closed_port_is_a_failure() -> None:
    with listening(silent) as server:
        url = server.url

    with pytest.raises(DeliveryFailed, match="Connection refused"):
        deliver_by_webhook(parcel(), url, LOCAL)


def test_a_server_without_tls_does_not_pass_for_one_with_it(
    listener: Listener, short_limit: None
) -> None:
    url = listener.url.replace("http:", "https:")

    with pytest.raises(DeliveryFailed):
        deliver_by_webhook(parcel(), url, LOCAL)


def test_a_connection_that_is_reset_while_certificates_are_read_is_closed() -> None:
    at_once = struct.pack("ii", 1, 0)
    make_context = ssl.create_default_context
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as connection,
    ):
        other, _ = server.accept()

        def reset() -> ssl.SSLContext:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            other.close()
            select.select([connection], [], [])
            return make_context()

        with (
            patch.object(ssl, "create_default_context", reset),
            pytest.raises(OSError, match=r"reset|connected"),
        ):
            secured(connection, "localhost")
    gc.collect(1)  # An open socket would be told of here.


def test_hostile_names_stay_inside_the_document(listener: Listener) -> None:
    hostile = parcel(name='a"\r\nX-Evil: 1\r\n\r\n', headline="\u202e{}")

    deliver_by_webhook(hostile, listener.url, LOCAL)

    _, headers, body = parsed(listener.received[0])
    assert "x-evil" not in headers
    assert json.loads(body)["report"] == hostile.name
