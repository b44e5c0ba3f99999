import socket
import threading

import pytest

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app, shutdown
from offdiag_web.app.security import CONTENT_SECURITY_POLICY
from offdiag_web.server import Listening
from support.dashboard import log_counts
from support.pages import Page, PageClient, client_for
from support.registries import serving


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere() -> None:
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "http" not in CONTENT_SECURITY_POLICY
    assert "default-src 'none'" in CONTENT_SECURITY_POLICY
    assert "frame-ancestors 'none'" in CONTENT_SECURITY_POLICY


def test_a_foreign_name_is_refused_on_loopback(client: PageClient) -> None:
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "10.0.0.1",
        "[::2]",
    ]:
        response = client.get("/runs", headers={"Host": host})

        assert response.status_code == 400, host


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


def test_loopback_names_are_accepted(client: PageClient) -> None:
    for host in ["localhost", "127.0.0.1:8642", "[::1]:8642", "LOCALHOST"]:
        assert client.get("/runs", headers={"Host": host}).status_code == 200, host


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


def test_a_form_of_another_site_is_refused(client: PageClient) -> None:
    for headers in [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ]:
        response = client.post("/preferences", data={"theme": "dark"}, headers=headers)

        assert response.status_code == 403, headers
        assert "Set-Cookie" not in response.headers, headers


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_form_whose_page_the_browser_hides_works_where_it_says_whose_it_is(
    client: PageClient, scheme: str
) -> None:
    """A proxy or an extension that sets `Referrer-Policy: no-referrer` hides it."""
    by = {"base_url": f"{scheme}://localhost"}
    token = Page(client.get("/views", **by).text).value("csrf_token")
    data = {"name": scheme, "csrf_token": token}

    refused = client.post("/views", data=data, headers={"Origin": "null"}, **by)
    headers = {"Origin": "null", "Sec-Fetch-Site": "same-origin"}
    saved = client.post("/views", data=data, headers=headers, **by)

    assert refused.status_code == 403
    assert "Referrer-Policy: no-referrer" in Page(refused.text).one("main").text
    assert saved.status_code == 303, saved.text


def test_a_form_that_came_without_tls_is_refused_where_there_is_tls(client: PageClient) -> None:
    headers = {"Origin": "http://localhost"}
    data = {"theme": "dark"}

    answer = client.post("/preferences", data=data, headers=headers, base_url="https://localhost")

    assert answer.status_code == 403


@pytest.mark.parametrize("back", ["http://[", "//[", "/\r\nX-Other: 1", "/\t/evil.example"])
def test_an_address_to_go_back_to_that_is_none_leads_to_the_front_page(
    client: PageClient, back: str
) -> None:
    response = client.post("/preferences", data={"back": back})

    assert (response.status_code, response.headers["Location"]) == (303, "/")


def test_too_large_a_request_is_refused(client: PageClient) -> None:
    assert client.post("/preferences", data={"theme": "x" * 100_000}).status_code == 413


def test_strange_paths_find_nothing(client: PageClient) -> None:
    for path in [
        "/runs/../../etc/passwd",
        "/runs/r_%2e%2e%2fpasswd",
        "/runs/%252e%252e",
        "/runs/CON",
        "/runs/r_" + "a" * 300,
        "/runs/r_abc.",
        "/assets/x/..%2f..%2fapplication.py",
        "/assets/x/application.py",
    ]:
        assert client.get(path).status_code in {404, 308}, path


def _client(database: Database, host: str) -> PageClient:
    app = create_app(Settings(server=serving(host=host)), database)
    return client_for(app)


def test_the_token_is_not_what_is_given_to_a_page_of_another_site(client: PageClient) -> None:
    late = client.post("/costs/new", data={"name": "n"}, headers={"Origin": "http://evil.example"})

    assert late.status_code == 403
    assert "sent by a page of another site" in late.text


def test_a_name_that_reverses_text_is_shown_with_its_characters(
    client: PageClient, database: Database
) -> None:
    name = "a\u202ecod\u2066x"
    run_id = log_counts(database, [[2, 1], [1, 2]], ["a", "b"], name=name, dataset=name)

    runs = client.page("/runs")
    page = client.page(f"/runs/{run_id}")

    assert r"a\u202ecod\u2066x" in runs.one("main").text
    assert r"a\u202ecod\u2066x" in page.one("h1").text
    assert client.json(f"/api/v1/runs/{run_id}")["name"] == name
    # What forms send stays the name.
    assert name in [each.text for each in client.page("/problems").all("option")]
