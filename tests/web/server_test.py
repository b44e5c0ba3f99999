"""The server of `offdiag serve`: patient with nobody who holds others up, and never cut off."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from typing import TYPE_CHECKING

import httpx
import pytest

from offdiag.settings import ServerSettings
from offdiag.store.database import Database
from offdiag_web import server as web_server
from offdiag_web import shutdown
from offdiag_web.app.requests import Admission
from offdiag_web.server import Listening
from support.access import guarded

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

MOST_BYTES = 50_000
N_SLOW = 50


@pytest.fixture(autouse=True)
def unmarked() -> Iterator[None]:
    yield
    shutdown.stop_draining()


def echo(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """How many bytes came."""
    body = environ["wsgi.input"].read()
    answer = str(len(body)).encode()
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]


@contextmanager
def serving(application: WSGIApplication, *, threads: int = 4) -> Iterator[Listening]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = Listening(application, listener, threads=threads, most_bytes=MOST_BYTES)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(30)
        assert not thread.is_alive()
        server.close()


def port_of(server: Listening) -> int:
    return int(server.effective_port)


def opened(server: Listening, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port_of(server)), timeout=60)
    connection.sendall(sent)
    return connection


def answer_of(connection: socket.socket) -> bytes:
    """Everything until the server closes the connection."""
    received = b""
    try:
        while piece := connection.recv(65_536):
            received += piece
    except ConnectionResetError:
        pass
    connection.close()
    return received


SLOW = {
    "header": b"GET / HTTP/1.1\r\nHost: h\r\nX-Long: ",
    "body": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n",
    "chunk": b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n",
}


@pytest.mark.parametrize("kind", SLOW)
def test_many_slow_senders_hold_nobody_up_and_are_given_up(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_server, "SENDER_TIMEOUT_S", 0.5)
    monkeypatch.setattr(web_server, "_LOOK_EVERY_S", 0.1)
    with serving(echo) as server:
        slow = [opened(server, SLOW[kind]) for _ in range(N_SLOW)]
        for _ in range(3):
            with httpx.Client(base_url=f"http://127.0.0.1:{port_of(server)}") as others:
                assert others.post("/", content=b"abc", timeout=30).text == "3"
            for connection in slow:
                with suppress(OSError):  # It may have been given up already.
                    connection.send(b"1")
        # Each of them gets its byte in time, so none is idle; it is the whole that takes too long.
        assert {answer_of(connection) for connection in slow} == {b""}


def test_a_sender_that_is_fast_enough_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "SENDER_TIMEOUT_S", 0.5)
    monkeypatch.setattr(web_server, "SLOWEST_PER_S", 1_000)
    monkeypatch.setattr(web_server, "_LOOK_EVERY_S", 0)
    with serving(echo) as server:
        head = b"POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 40000\r\n\r\n"
        connection = opened(server, head)
        for _ in range(8):
            connection.sendall(b"x" * 5_000)
            time.sleep(0.2)
        assert answer_of(connection).endswith(b"40000")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 65_536 + b"\r\n\r\n", b"431"),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"POST / HTTP/1.1\r\nContent-Length: minus\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n" + b"x" * 0xFFFF, b"413"),
    ],
    ids=["large header", "large body", "no length", "body without end"],
)
def test_what_cannot_be_meant_is_refused_at_once(sent: bytes, status: bytes) -> None:
    with serving(echo) as server:
        answer = answer_of(opened(server, sent))
        assert answer.split()[1] == status
        assert httpx.get(f"http://127.0.0.1:{port_of(server)}/").status_code == 200


def test_who_sends_too_much_at_once_gets_the_refusal() -> None:
    """Also a client that sends everything before it looks for the response."""
    with serving(echo) as server:
        for _ in range(3):
            connection = HTTPConnection("127.0.0.1", port_of(server), timeout=60)
            connection.request("POST", "/", b"x" * 20_000_000)
            assert connection.getresponse().status == 413
            connection.close()
        while server.active_channels:
            time.sleep(0.01)


def test_what_is_too_much_is_not_received_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "SENDER_TIMEOUT_S", 0.5)
    monkeypatch.setattr(web_server, "_LOOK_EVERY_S", 0)
    head = b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n"
    with serving(echo) as server, opened(server, head) as endless:
        assert b" 413 " in endless.recv(100)
        while server.active_channels:
            with suppress(OSError):  # It is reset in the end.
                endless.sendall(b"x")
            time.sleep(0.01)


def test_the_word_of_a_trusted_proxy_comes_to_the_application(sqlite_database: Database) -> None:
    trusting = ServerSettings(trusted_proxies=1, trusted_hosts="registry.example")
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "registry.example"}
    for settings, is_trusted in ((trusting, True), (ServerSettings(), False)):
        app = guarded(sqlite_database, server=settings)
        with serving(app) as server:
            address = f"http://127.0.0.1:{port_of(server)}/sign-in"
            answer = httpx.get(address, headers=forwarded)
        assert answer.status_code == 200
        assert ("Secure" in answer.headers["Set-Cookie"]) == is_trusted
        assert ("Strict-Transport-Security" in answer.headers) == is_trusted


def test_a_server_told_to_stop_answers_whom_it_let_in_and_says_goodbye() -> None:
    is_inside, may_go_on = threading.Event(), threading.Event()

    def slow(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/slow":
            is_inside.set()
            may_go_on.wait(60)
        return echo(environ, start_response)

    with serving(slow) as server:
        answers: list[httpx.Response] = []
        url = f"http://127.0.0.1:{port_of(server)}"
        thread = threading.Thread(
            target=lambda: answers.append(httpx.post(f"{url}/slow", content=b"ab", timeout=60))
        )
        thread.start()
        is_inside.wait(60)
        server.stop(drain_s=3_600)
        meanwhile = httpx.get(url)
        assert (meanwhile.status_code, meanwhile.headers["Connection"]) == (200, "close")
        server.stop()
        with suppress(httpx.TransportError):
            while server.accepting:
                httpx.get(url)
        with pytest.raises(httpx.ConnectError):
            httpx.get(url)
        assert not answers
        may_go_on.set()
        thread.join(60)
        assert [answer.text for answer in answers] == ["2"]


def test_no_more_are_let_in_than_can_be_answered_and_health_is_told_all_the_time() -> None:
    may_go_on = threading.Event()
    inside = threading.Semaphore(0)

    def slow(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/slow":
            inside.release()
            may_go_on.wait(60)
        return echo(environ, start_response)

    n_sent_away = 0

    def count() -> None:
        nonlocal n_sent_away
        n_sent_away += 1

    gate = Admission(slow, at_once=2, count=count, looking_waits_s=0.1)
    with serving(gate, threads=8) as server:
        url = f"http://127.0.0.1:{port_of(server)}"
        answers: list[httpx.Response] = []

        def ask() -> None:
            answers.append(httpx.get(f"{url}/slow", timeout=60))

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in threads:
            inside.acquire(timeout=60)
        refused = [httpx.get(f"{url}/slow", timeout=60) for _ in range(3)]
        assert {answer.status_code for answer in refused} == {503}
        assert {answer.headers["Retry-After"] for answer in refused} == {"2"}
        assert httpx.get(f"{url}/healthz").status_code == 200
        may_go_on.set()
        for thread in threads:
            thread.join(60)
        assert [answer.status_code for answer in answers] == [200, 200]
        assert httpx.get(f"{url}/slow").status_code == 200
    assert n_sent_away == 3
