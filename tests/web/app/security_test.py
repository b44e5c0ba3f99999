import socket
import threading

import pytest

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app, shutdown
from offdiag_web.app.security import CONTENT_SECURITY_POLICY
from offdiag_web.server import Listening
from support.dashboard import log_lesions
from support.pages import Page, PageClient, client_for
from support.registries import serving

HTML_PATHS = (
    *("/runs", "/_gallery", "/reports", "/reports/new", "/no-such-page", "/runs/r_0"),
    "/runs?sort=nonsense&scale=nonsense&q=foo:bar",
)
PATHS = (
    *HTML_PATHS,
    *("/", "/runs.json", "/runs.csv", "/datasets.json", "/datasets.csv"),
    *("/healthz", "/no-such-page.json", "/no-such-page.csv"),
)


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_security_headers(client: PageClient, path: str) -> None:
    response = client.get(path)

    assert response.headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "same-origin"


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere() -> None:
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "http" not in CONTENT_SECURITY_POLICY
    assert "default-src 'none'" in CONTENT_SECURITY_POLICY
    assert "frame-ancestors 'none'" in CONTENT_SECURITY_POLICY


def test_pages_hold_nothing_the_policy_would_refuse(
    client: PageClient, database: Database
) -> None:
    run_id = log_lesions(database)

    for path in (*HTML_PATHS, *(f"/runs/{run_id}{page}" for page in ("", "/classes", "/meta"))):
        for element in Page(client.get(path).text).elements:
            assert not [name for name in element.attributes if name.startswith(("on", "style"))]
            assert element.tag not in {"style", "base", "iframe", "object", "embed"}
            assert element.tag != "script" or element.attributes["src"].startswith("/assets/")
            for name in ("src", "href", "action"):
                assert "//" not in element.attributes.get(name, "").partition("?")[0]


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1", "[::2]"]
)
def test_a_foreign_name_is_refused_on_loopback(client: PageClient, host: str) -> None:
    response = client.get("/runs", headers={"Host": host})

    assert response.status_code == 400


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://evil.example/healthz", 400),
        ("HTTPS://evil.example:8642/healthz?x=1", 400),
        ("http://localhost@evil.example/healthz", 400),
        ("http://localhost:8642/healthz", 200),
        ("/healthz?next=http://evil.example", 200),
    ],
)
@pytest.mark.parametrize("key", ["REQUEST_URI", "RAW_URI"])
def test_a_request_line_that_names_another_server_is_refused(
    client: PageClient, key: str, target: str, status: int
) -> None:
    answer = client.get("/healthz", environ_overrides={"RAW_URI": "", key: target})

    assert answer.status_code == status


def test_waitress_hands_on_what_the_request_line_names(database: Database) -> None:
    app = create_app(Settings(server=serving()), database)
    listener = socket.create_server(("127.0.0.1", 0))
    server = Listening(app, listener, threads=1, most_bytes=1_000)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with socket.create_connection(listener.getsockname(), timeout=60) as connection:
            connection.sendall(b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = connection.recv(100)
    finally:
        server.stop()
        thread.join(30)
        server.close()
        shutdown.stop_draining()

    assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8642", "[::1]:8642", "LOCALHOST"])
def test_loopback_names_are_accepted(client: PageClient, host: str) -> None:
    assert client.get("/runs", headers={"Host": host}).status_code == 200


def test_the_bound_name_is_accepted(database: Database) -> None:
    client = _client(database, "registry.example")

    assert client.get("/healthz", headers={"Host": "registry.example"}).status_code == 200
    assert client.get("/healthz", headers={"Host": "other.example"}).status_code == 400


def test_a_server_on_all_interfaces_answers_to_addresses_but_not_to_foreign_names(
    database: Database,
) -> None:
    client = _client(database, "0.0.0.0")

    assert client.get("/healthz", headers={"Host": "192.168.1.7:8642"}).status_code == 200
    assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_of_another_site_is_refused(client: PageClient, headers: dict[str, str]) -> None:
    response = client.post("/preferences", data={"theme": "dark"}, headers=headers)

    assert response.status_code == 403
    assert "Set-Cookie" not in response.headers


def test_too_large_a_request_is_refused(client: PageClient) -> None:
    assert client.post("/preferences", data={"theme": "x" * 100_000}).status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/runs/../../etc/passwd",
        "/runs/r_%2e%2e%2fpasswd",
        "/runs/%252e%252e",
        "/runs/CON",
        "/runs/r_" + "a" * 300,
        "/runs/r_abc.",
        "/assets/x/..%2f..%2fapplication.py",
        "/assets/x/application.py",
    ],
)
def test_strange_paths_find_nothing(client: PageClient, path: str) -> None:
    assert client.get(path).status_code in {404, 308}


def _client(database: Database, host: str) -> PageClient:
    app = create_app(Settings(server=serving(host=host)), database)
    return client_for(app)
