"""Signing in with a browser: who gets in, where they are led, and what a cookie is worth."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from itsdangerous import URLSafeTimedSerializer
from sqlalchemy import select, update

from offdiag.domain.access import Grant, Role
from offdiag.services.access.users import set_disabled, set_password
from offdiag.store.database import Database
from offdiag.store.models import SessionRow, UserRow
from offdiag_web.app.security import SecureByTls
from support.access import GUARDED, PASSWORD, add_person, client_of, guarded, sign_in
from support.dashboard import log_lesions
from support.forms import form_to, send
from support.pages import Element, Page, PageClient, client_for
from support.registries import serving


@pytest.fixture
def ana(database: Database) -> int:
    return add_person(database, "ana", Grant(Role.ADMIN))


@pytest.fixture
def app(database: Database, ana: int) -> Iterator[Flask]:
    with GUARDED.over(database) as app:
        yield app


def test_a_page_asks_for_a_name_and_comes_back_to_itself(client: PageClient) -> None:
    asked = client.get("/runs?q=model:x")

    answer = sign_in(client, "ana", at="/runs?q=model:x")

    assert asked.status_code == 401
    assert asked.headers["WWW-Authenticate"] == "Bearer"
    assert Page(asked.text).one("h1").text == "Sign in"
    assert (answer.status_code, answer.headers["Location"]) == (303, "/runs?q=model:x")
    assert client.get("/runs").status_code == 200


def test_nothing_is_shown_but_a_form_that_password_managers_fill(client: PageClient) -> None:
    page = client.page("/sign-in")
    fields = {
        field["name"]: field.attributes
        for field in page.all("input")
        if field.attributes.get("type") != "hidden"
    }

    assert fields["name"]["autocomplete"] == "username"
    assert fields["password"]["autocomplete"] == "current-password"
    assert not any(name.startswith("on") for field in fields.values() for name in field)
    assert page.all("nav") == page.all("dialog") == []
    assert [form["action"] for form in page.all("form")] == ["/preferences", "/sign-in"]


def test_nobody_is_led_to_another_site(client: PageClient) -> None:
    for goal in [
        *("//evil.example", "https://evil.example/x", "/\\evil.example", "javascript:alert(1)"),
        *("\\\\evil.example", "http:/evil.example", ""),
    ]:
        held = client.page("/sign-in").one("form", action="/sign-in").fields()

        answer = client.post(
            "/sign-in", data={**held, "name": "ana", "password": PASSWORD, "next": goal}
        )

        assert (answer.status_code, answer.headers["Location"]) == (303, "/"), goal


def forms_of_anybody(client: PageClient) -> list[Element]:
    return list(client.page("/sign-in").all("form"))


def test_a_wrong_name_and_a_wrong_password_are_told_alike(client: PageClient) -> None:
    for name, password in [("ana", "wrong"), ("nobody", PASSWORD), ("", "")]:
        answer = sign_in(client, name, password)

        alert = Page(answer.text).one("div", "callout-warning")
        assert answer.status_code == 401, (name, password)
        assert "Name and password do not match." in alert.text, (name, password)
        assert client.get("/runs").status_code == 401, (name, password)


def test_somebody_who_is_locked_out_does_not_get_in(
    client: PageClient, database: Database
) -> None:
    add_person(database, "bo", Grant(Role.ADMIN))
    assert sign_in(client, "bo").status_code == 303
    # Locking out ends the sessions there are; one may just be beginning elsewhere.
    with database.write() as session:
        locked_out = update(UserRow).where(UserRow.name == "bo")
        session.execute(locked_out.values(disabled_at=database.clock()))
    assert client.get("/runs").status_code == 401

    set_disabled(database, name="bo", disabled=True)

    assert client.get("/runs").status_code == 401
    assert sign_in(client, "bo").status_code == 401


def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(client: PageClient) -> None:
    cookie = sign_in(client, "ana").headers["Set-Cookie"]

    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie


def test_over_tls_the_cookie_goes_by_tls_alone(database: Database, ana: int) -> None:
    server = serving(trusted_proxies=1, trusted_hosts="registry.example")
    client = client_for(guarded(database, server=server))
    environ = {"HTTP_X_FORWARDED_PROTO": "https", "HTTP_X_FORWARDED_HOST": "registry.example"}

    answer = client.get("/sign-in", environ_overrides=environ)

    assert "Secure" in answer.headers["Set-Cookie"]
    assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_the_word_of_a_proxy_that_nobody_named_is_not_taken(client: PageClient) -> None:
    answer = client.get("/sign-in", headers={"X-Forwarded-Proto": "https"})

    assert "Secure" not in answer.headers["Set-Cookie"]
    assert "Strict-Transport-Security" not in answer.headers


def test_signing_in_begins_a_new_session_and_forgets_what_the_cookie_held(
    client: PageClient,
) -> None:
    client.get("/sign-in")
    with client.session_transaction() as cookie:
        cookie["planted"] = "before"
    sign_in(client, "ana")
    with client.session_transaction() as cookie:
        first = cookie["_user_id"]
        assert "planted" not in cookie

    sign_in(client, "ana")

    with client.session_transaction() as cookie:
        assert cookie["_user_id"] != first


def test_the_database_knows_no_secret_of_a_session(client: PageClient, database: Database) -> None:
    sign_in(client, "ana")
    with client.session_transaction() as cookie:
        secret = cookie["_user_id"]

    with database.read() as session:
        (row,) = session.scalars(select(SessionRow)).all()
        (user,) = session.scalars(select(UserRow)).all()

    assert secret not in row.digest
    assert len(secret) >= 43
    assert (user.password_hash or "").startswith("$argon2id$")


def test_a_copy_of_the_cookie_is_worth_nothing_after_signing_out(
    app: Flask, client: PageClient
) -> None:
    sign_in(client, "ana")
    copy = client_for(app)
    with client.session_transaction() as cookie:
        held = dict(cookie)
    with copy.session_transaction() as cookie:
        cookie.update(held)
    assert copy.get("/runs").status_code == 200

    form = form_to(client, "/runs", "sign-out")
    answer = send(client, form)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in")
    assert client.get("/runs").status_code == 401
    assert copy.get("/runs").status_code == 401


def test_a_cookie_signed_with_another_key_or_edited_is_worth_nothing(
    app: Flask, client: PageClient
) -> None:
    sign_in(client, "ana")
    with client.session_transaction() as cookie:
        held = dict(cookie)

    def status_of(cookie: str) -> int:
        forger = client_for(app)
        forger.set_cookie(app.config["SESSION_COOKIE_NAME"], cookie)
        return forger.get("/runs").status_code

    def signed_with(key: str) -> str:
        interface = app.session_interface
        assert isinstance(interface, SecureByTls)
        signer = URLSafeTimedSerializer(
            key,
            salt=interface.salt,
            serializer=interface.serializer,
            signer_kwargs={"key_derivation": interface.key_derivation},
        )
        return str(signer.dumps(held))

    sound = signed_with(app.config["SECRET_KEY"])
    edited = sound[:10] + ("A" if sound[10] != "A" else "B") + sound[11:]
    assert status_of(sound) == 200
    keys = ("", "dev", "changeme", "0" * 64)
    assert [status_of(each) for each in (edited, *map(signed_with, keys))] == [401] * 5


@pytest.mark.parametrize(
    ("idle", "status"), [(timedelta(hours=11), 200), (timedelta(hours=13), 401)]
)
def test_a_session_ends_after_hours_of_silence(
    app: Flask, database: Database, ana: int, idle: timedelta, status: int
) -> None:
    now = datetime(2026, 1, 5, tzinfo=UTC)
    database.clock = lambda: now
    client = client_of(app, database, ana, "ana")

    now += idle

    assert client.get("/runs").status_code == status


def test_what_was_written_when_a_session_ended_can_be_copied(
    app: Flask, database: Database, ana: int
) -> None:
    now = datetime(2026, 1, 5, tzinfo=UTC)
    database.clock = lambda: now
    client = client_of(app, database, ana, "ana")
    form = form_to(client, "/settings/tokens", "/settings/tokens")
    now += timedelta(hours=13)

    for referrer, goal in (
        ("http://localhost/settings/tokens?x=1", "/settings/tokens?x=1"),
        ("http://localhost/settings/account/password", "/"),
        ("http://elsewhere.example/runs", "/"),
    ):
        answer = client.post(
            form["action"],
            data={"name": "for the <night> job", "days": "90", "password": "my own words"},
            headers={"Referer": referrer},
        )

        assert answer.status_code == 401
        page = Page(answer.text)
        assert "nothing was saved" in page.one("div", "callout-warning").text
        assert [each.text for each in page.all("p", "quote")] == ["for the <night> job"]
        hidden = page.all("input", name="next")[0]
        assert hidden["value"] == goal


def test_a_form_that_was_sent_when_a_session_had_ended_can_be_sent_again(
    app: Flask, database: Database, ana: int
) -> None:
    log_lesions(database)
    now = datetime(2026, 1, 5, tzinfo=UTC)
    database.clock = lambda: now
    client = client_of(app, database, ana, "ana")
    form = form_to(client, "/costs/new?dataset=derm-7", "/costs/new")
    cells = {name: text for name, text in form.fields().items() if name.startswith("w")}
    typed = {**cells, "name": "night & day", "note": "two\r\nlines", "w0.1": "7", "table": ""}
    now += timedelta(hours=13)

    refused = Page(send(client, form, typed, page="/costs/new?dataset=derm-7").text)
    held = refused.one("form", action="/sign-in").fields()
    wrong = client.post("/sign-in", data={**held, "name": "ana", "password": "wrong"})
    held = Page(wrong.text).one("form", action="/sign-in").fields()
    signed_in = client.post("/sign-in", data={**held, "name": "ana", "password": PASSWORD})
    again = Page(signed_in.text).one("form", action=form["action"])

    assert "After you sign in, you can send the form again." in refused.one("main").text
    assert [each.text for each in refused.all("p", "quote")] == []
    assert "/costs/new?dataset=derm-7 was not saved" in Page(signed_in.text).one("main").text
    saved = send(client, again)
    assert saved.status_code == 303
    page = client.page(saved.headers["Location"])
    assert "night & day v1" in page.one("h1").text
    assert "two lines" in page.one("main").text
    assert "7" in [cell.text for cell in page.all("td")]


@pytest.mark.parametrize(
    ("sent", "page"),
    [
        ({"name": "cluster", "password": "my own words"}, "/settings/tokens"),
        ({"name": "cluster", "note": "x" * 20_000}, "/settings/tokens"),
        ({"name": "cluster"}, "http://elsewhere.example/settings/tokens"),
    ],
)
def test_a_form_with_a_password_a_large_one_and_one_from_elsewhere_are_not_kept(
    client: PageClient, sent: dict[str, str], page: str
) -> None:
    address = page if ":" in page else f"http://localhost{page}"

    refused = client.post("/settings/tokens", data=sent, headers={"Referer": address})

    assert "kept" not in Page(refused.text).one("form", action="/sign-in").fields()


def test_what_is_kept_is_sent_to_this_server_alone_or_left_out(client: PageClient) -> None:
    for kept in (
        *("", "{", "[]", '["https://evil.example/", []]', '["//evil.example", []]', '["/x", 1]'),
        *('["/x", [["a", 1]]]', '["/x", [["a"]]]', '["/", []]', "[" * 9_000),
    ):
        held = client.page("/sign-in").one("form", action="/sign-in").fields()
        answer = client.post(
            "/sign-in", data={**held, "kept": kept, "name": "ana", "password": PASSWORD}
        )

        assert answer.status_code == 303, kept


def test_a_session_ends_after_two_weeks_however_busy_one_was(
    app: Flask, database: Database, ana: int
) -> None:
    now = datetime(2026, 1, 5, tzinfo=UTC)
    database.clock = lambda: now
    client = client_of(app, database, ana, "ana")

    answers = []
    for _ in range(29):
        now += timedelta(hours=11, minutes=40)
        answers.append(client.get("/settings").status_code)

    assert answers == [200] * 28 + [401]


def test_twenty_wrong_passwords_end_in_a_pause_of_known_length_but_not_for_others(
    app: Flask, client: PageClient
) -> None:
    answers = [sign_in_from(client, "10.0.0.9", "wrong") for _ in range(20)]

    assert answers[:10] == [401] * 10
    assert set(answers[10:]) == {429}
    refused = sign_in(client, "ana")
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 600
    assert "Try again in" in refused.text
    assert sign_in_from(client_for(app), "10.0.0.7", PASSWORD) == 303


def sign_in_from(client: PageClient, address: str, password: str) -> int:
    client.environ_base["REMOTE_ADDR"] = address
    return sign_in(client, "ana", password).status_code


def test_a_new_password_ends_every_session(app: Flask, database: Database, ana: int) -> None:
    client = client_of(app, database, ana, "ana")
    assert client.get("/runs").status_code == 200

    set_password(database, name="ana", password="another fine password")

    assert client.get("/runs").status_code == 401


def test_ones_own_new_password_keeps_this_session_and_ends_the_others(
    app: Flask, database: Database, ana: int
) -> None:
    here, there = (client_of(app, database, ana, "ana") for _ in range(2))
    form = form_to(here, "/settings/account", "/password")

    refused = send(here, form, {"current": "wrong", "wanted": "another fine password"})
    weak = send(here, form, {"current": PASSWORD, "wanted": "short"})
    done = send(here, form, {"current": PASSWORD, "wanted": "another fine password"})

    assert [refused.status_code, weak.status_code, done.status_code] == [400, 400, 303]
    assert "another fine" not in refused.text
    assert here.get("/runs").status_code == 200
    assert there.get("/runs").status_code == 401
    assert sign_in(there, "ana", "another fine password").status_code == 303


def test_signing_out_everywhere_ends_every_session(
    app: Flask, database: Database, ana: int
) -> None:
    here, there = (client_of(app, database, ana, "ana") for _ in range(2))
    form = form_to(here, "/settings/account", "everywhere")

    send(here, form)

    assert [here.get("/runs").status_code, there.get("/runs").status_code] == [401, 401]


def test_whoever_signed_in_decides_under_their_own_name(
    app: Flask, database: Database, ana: int
) -> None:
    client = client_of(app, database, ana, "ana")
    client.set_cookie("reader", "somebody else")

    page = client.page("/runs")

    assert page.one("details", "menu").inside("summary")[0].text == "Signed in as ana"


def test_who_may_only_look_is_told_and_gets_no_form(app: Flask, database: Database) -> None:
    bo = client_of(app, database, add_person(database, "bo", Grant(Role.VIEWER)), "bo")

    shown = bo.page("/costs").one("details", "menu").inside("summary")[0]

    assert shown.text == "Signed in as bo, view only"
    assert "needs the role editor" in bo.get("/costs/new").text


def test_where_nobody_signs_in_there_is_no_form(database: Database) -> None:
    from support.registries import dashboard

    client = client_for(dashboard(database))

    assert client.get("/sign-in").headers["Location"] == "/"
    assert client.get("/settings/account").headers["Location"] == "/settings"
    assert client.post("/settings/tokens").status_code == 403


def test_programs_are_told_in_the_one_shape_of_errors_also_of_unknown_addresses(
    client: PageClient,
) -> None:
    for path in ["/runs.json", "/api/v1/runs", "/no-such-page.json"]:
        answer = client.get(path)

        assert answer.status_code == 401, path
        assert set(answer.get_json()["error"]) == {"code", "message", "field", "hint"}, path
        assert answer.get_json()["error"]["code"] == "not_signed_in", path
    assert client.get("/no-such-page").status_code == 401
