"""What holds for every answer and every log line, whoever asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from offdiag.domain.access import Grant, Role
from offdiag.errors import InvalidInput
from offdiag.store.database import Database
from offdiag_web.app.security import HEADERS
from offdiag_web.pages.access.view import ROLE_MEANINGS
from support.access import GUARDED, add_person, bearer, client_of, guarded, sign_in, token_of
from support.forms import forms_of, send
from support.pages import PageClient, client_for
from support.registries import serving

ROOT = Path(__file__).parents[3]
PATHS = (
    *("/reports/new", "/runs?sort=nonsense&q=foo:bar", "/runs/r_0", "/no-such-page.csv"),
    *("/", "/runs", "/runs.json", "/runs.csv", "/healthz", "/sign-in", "/no-such-page"),
    *("/api/v1/runs", "/api/v1/nothing", "/settings/users", "/runs/r_none/matrix.png"),
)


@pytest.fixture
def ana(database: Database) -> dict[str, str]:
    """The header of an admin's program."""
    add_person(database, "ana", Grant(Role.ADMIN))
    return bearer(token_of(database, "ana", Role.ADMIN))


@pytest.fixture
def app(database: Database) -> Iterator[Flask]:
    with GUARDED.over(database) as app:
        yield app


def test_every_answer_carries_the_headers_whatever_it_says(
    client: PageClient, ana: dict[str, str]
) -> None:
    answers = [
        client.get(path, headers=headers)
        for path in PATHS
        for headers in ({}, ana, bearer("wrong"))
    ]
    answers += [
        client.post("/runs"),
        client.post("/sign-in"),
        client.get("/", headers={"Host": "x"}),
    ]

    assert {answer.status_code for answer in answers} >= {200, 400, 401, 403, 404}
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert "Strict-Transport-Security" not in answer.headers


def test_too_many_requests_carry_the_headers_too(database: Database, ana: dict[str, str]) -> None:
    client = client_for(guarded(database, read_limit="1 per minute"))
    client.get("/runs", headers=ana)

    answer = client.get("/runs", headers=ana)

    assert answer.status_code == 429
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize("url", ["bogus://:secret@host", "memcached://"])
def test_a_storage_of_counters_that_cannot_be_used_is_named(database: Database, url: str) -> None:
    with pytest.raises(InvalidInput, match=r"^access\.rate_storage: ") as caught:
        guarded(database, rate_storage=url)

    assert url.partition(":")[0] in str(caught.value)
    assert "secret" not in str(caught.value)


def test_only_named_hosts_are_answered_to(database: Database) -> None:
    for host in ["evil.example", "registry.example.evil.example", "registry"]:
        server = serving(trusted_hosts="registry.example, Other.Example")
        client = client_for(guarded(database, server=server))

        assert client.get("/healthz", headers={"Host": host}).status_code == 400, host
        for known in ("registry.example", "other.example:443", "localhost"):
            assert client.get("/healthz", headers={"Host": known}).status_code == 200, host


def test_limits_follow_the_address_that_a_named_proxy_tells(database: Database) -> None:
    server = serving(trusted_proxies=1)
    client = client_for(guarded(database, server=server, sign_in_limit="2 per minute"))

    def wrong_token(address: str) -> int:
        headers = {**bearer("wrong"), "X-Forwarded-For": address}
        return client.get("/runs.json", headers=headers).status_code

    assert [wrong_token("10.0.0.1") for _ in range(3)] == [401, 401, 429]
    assert wrong_token("10.0.0.2") == 401


def test_headers_that_hold_no_token_are_refused(client: PageClient, ana: dict[str, str]) -> None:
    for header in ["Bearer", "Bearer ", "Basic YW5hOng=", "bearer x y", "Bearer " + "x" * 10_000]:
        assert client.get("/runs.json", headers={"Authorization": header}).status_code == 401, (
            header
        )


def test_the_table_of_roles_in_the_documentation_is_what_pages_say() -> None:
    page = (ROOT / "docs/access.md").read_text(encoding="utf-8")

    stated = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, flags=re.MULTILINE))

    assert stated == {role.value: meaning for role, meaning in ROLE_MEANINGS.items()}


def test_no_cache_keeps_what_is_behind_the_sign_in(
    client: PageClient, ana: dict[str, str]
) -> None:
    for path in PATHS:
        for headers in ({}, ana):
            assert client.get(path, headers=headers).headers["Cache-Control"] == "no-store", path


def test_what_is_forbidden_is_told_in_the_shell(app: Flask, database: Database) -> None:
    bo = client_of(app, database, add_person(database, "bo", Grant(Role.EDITOR)), "bo")

    page = bo.page("/settings/users", 403)

    assert page.one("h1").text == "This request is refused"
    assert "This needs the role admin in all projects." in page.one("main").text
    assert "the page Account shows your roles." in page.one("main").text
    ways_out = page.one("p", "actions").inside("a")
    assert ("Account", "/settings/account") in [(each.text, each["href"]) for each in ways_out]
    assert page.link("Runs") == "/runs"


def test_assets_are_cached_for_whoever_asks(client: PageClient) -> None:
    page = client.page("/sign-in")
    script = next(each["src"] for each in page.all("script"))

    assert "immutable" in client.get(script).headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/sign-out", "/settings/account/sign-out-everywhere"])
def test_signing_out_clears_what_the_browser_has_kept(
    client: PageClient, ana: dict[str, str], path: str
) -> None:
    sign_in(client, "ana")
    forms = forms_of(client, "/settings/account")

    answer = send(client, next(form for form in forms if form["action"] == path))

    assert answer.headers["Clear-Site-Data"] == '"cache", "storage"'
    assert client.get("/runs").status_code == 401
