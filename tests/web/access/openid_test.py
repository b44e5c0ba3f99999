"""Signing in through a provider of OpenID Connect."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from flask import Flask
from joserfc.jwk import RSAKey
from werkzeug.test import TestResponse

from offdiag.domain.access import Grant, Role
from offdiag.errors import InvalidInput
from offdiag.services.access.openid import read_roles
from offdiag.services.access.users import add_user, find_user, set_disabled
from offdiag.settings import AccessSettings, OidcSettings, Settings
from offdiag.store.database import Database
from offdiag.store.users import list_users
from offdiag_web import create_app
from support.access import add_person
from support.openid_provider import OpenIdProvider, running_provider
from support.pages import Page, PageClient, client_for
from support.reads import read
from support.registries import serving

ROLES = "ops=admin, lab=viewer"


@pytest.fixture(scope="module")
def running() -> Iterator[OpenIdProvider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: OpenIdProvider) -> OpenIdProvider:
    running.claims = {"preferred_username": "kim", "groups": ["lab"], "name": "Kim K."}
    running.lies = {}
    running.signing_key = None
    return running


def dashboard_with(
    database: Database, provider: OpenIdProvider, *, secret: str = "", roles: str = ROLES
) -> Flask:
    oidc = OidcSettings(
        issuer=provider.issuer,
        client_id=provider.client_id,
        client_secret=secret or provider.client_secret,
        roles=roles,
    )
    app = create_app(
        Settings(server=serving(), access=AccessSettings(auth="required"), oidc=oidc), database
    )
    app.testing = True
    return app


@pytest.fixture
def app(database: Database, provider: OpenIdProvider) -> Flask:
    return dashboard_with(database, provider)


def sign_in(client: PageClient, *, goal: str = "/runs") -> TestResponse:
    """Follow the button on the page, to the provider and back."""
    return client.get(way_back(client, goal=goal))


def way_back(client: PageClient, *, goal: str = "/runs") -> str:
    """The address that the provider leads somebody back to."""
    page = client.page(goal, 401)
    (button,) = [
        link["href"] for link in page.all("a") if link["href"].startswith("/sign-in/openid")
    ]
    there = client.get(button)
    assert there.status_code == 302
    back = urlsplit(httpx.get(there.headers["Location"]).headers["Location"])
    return f"{back.path}?{back.query}"


def test_somebody_the_provider_vouches_for_is_led_to_where_they_wanted(
    client: PageClient, database: Database
) -> None:
    answer = sign_in(client, goal="/runs?q=model:x")

    kim = find_user(database, "kim")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/runs?q=model:x")
    assert client.get("/runs").status_code == 200
    assert (kim.display_name, kim.has_password, kim.grants) == (
        "Kim K.",
        False,
        (Grant(Role.VIEWER),),
    )


def test_the_provider_is_asked_with_state_nonce_and_a_challenge(client: PageClient) -> None:
    there = client.get("/sign-in/openid").headers["Location"]

    asked = parse_qs(urlsplit(there).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["response_type"] == ["code"]
    assert asked["redirect_uri"] == ["http://localhost/sign-in/openid/back"]
    assert all(len(asked[name][0]) >= 20 for name in ("state", "nonce", "code_challenge"))


def test_roles_follow_the_groups_at_each_sign_in(
    app: Flask, provider: OpenIdProvider, database: Database
) -> None:
    sign_in(client_for(app))
    provider.claims["groups"] = ["ops", "lab", "others"]
    sign_in(client_for(app))

    assert find_user(database, "kim").grants == (Grant(Role.ADMIN),)


def test_without_a_group_that_has_a_role_nobody_gets_in(
    client: PageClient, provider: OpenIdProvider
) -> None:
    provider.claims["groups"] = ["others"]

    assert sign_in(client).status_code == 403
    assert client.get("/runs").status_code == 401


@pytest.mark.both_databases
def test_without_roles_in_the_settings_admins_give_them(
    database: Database, provider: OpenIdProvider
) -> None:
    client = client_for(dashboard_with(database, provider, roles=""))
    add_user(database, name="kim", password=None, grants=[Grant(Role.EDITOR)])
    provider.claims["groups"] = ["ops"]

    assert sign_in(client).status_code == 303
    assert find_user(database, "kim").grants == (Grant(Role.EDITOR),)


def test_a_name_that_signs_in_with_a_password_is_not_taken_over(
    client: PageClient, database: Database
) -> None:
    add_person(database, "kim", Grant(Role.ADMIN))

    assert sign_in(client).status_code == 409
    assert client.get("/runs").status_code == 401


def test_somebody_who_is_locked_out_stays_out(app: Flask, database: Database) -> None:
    sign_in(client_for(app))
    set_disabled(database, name="kim", disabled=True)

    assert sign_in(client_for(app)).status_code == 403


def test_an_answer_that_is_not_for_us_or_signed_by_somebody_else_lets_nobody_in(
    app: Flask, provider: OpenIdProvider, database: Database
) -> None:
    lies: tuple[dict[str, object], ...] = (
        {"nonce": "another"},
        {"aud": "somebody else"},
        {"iss": "https://evil.example"},
        {"exp": int(time.time()) - 3600},
        {"preferred_username": ""},
        {"preferred_username": ["kim"]},
        {},
    )
    for lie in lies:
        provider.lies = lie
        if not lie:
            provider.signing_key = RSAKey.generate_key(2048, {"kid": "first"})
        client = client_for(app)

        answer = sign_in(client)

        assert answer.status_code == 401, lie
        assert Page(answer.text).one("div", "callout-warning").text
        assert client.get("/runs").status_code == 401, lie
    assert read(database, list_users) == []


def test_a_way_back_opens_nothing_in_another_browser(app: Flask) -> None:
    back = way_back(client_for(app))

    assert client_for(app).get(back).status_code == 401


def test_a_way_back_opens_once(client: PageClient) -> None:
    back = way_back(client)
    assert client.get(back).status_code == 303

    assert client.get(back).status_code == 401


def test_a_wrong_secret_of_the_server_is_told_as_a_failure(
    database: Database, provider: OpenIdProvider
) -> None:
    client = client_for(dashboard_with(database, provider, secret="wrong"))

    assert sign_in(client).status_code == 401


def test_a_provider_that_is_away_is_told_as_such(database: Database) -> None:
    away = OpenIdProvider(issuer="http://127.0.0.1:9")
    client = client_for(dashboard_with(database, away))

    answer = client.get("/sign-in/openid")

    assert answer.status_code == 401
    assert "does not respond" in answer.text


def test_without_a_provider_there_is_no_button(database: Database) -> None:
    app = create_app(Settings(server=serving(), access=AccessSettings(auth="required")), database)

    assert "openid" not in client_for(app).get("/sign-in").text
    assert client_for(app).get("/sign-in/openid").status_code == 404


def test_roles_of_groups_are_read_from_the_settings() -> None:
    assert read_roles("ops=admin, derm team=editor@lesions , derm team=viewer@eyes") == {
        "ops": [Grant(Role.ADMIN)],
        "derm team": [Grant(Role.EDITOR, "lesions"), Grant(Role.VIEWER, "eyes")],
    }


def test_roles_that_cannot_be_read_are_refused_at_the_start(
    database: Database, provider: OpenIdProvider
) -> None:
    for text in ("ops", "ops=king", "=admin"):
        with pytest.raises(InvalidInput, match="not a role of a group"):
            read_roles(text)
    with pytest.raises(InvalidInput, match="not a role of a group"):
        dashboard_with(database, provider, roles="ops=")
