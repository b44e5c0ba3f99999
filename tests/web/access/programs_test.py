"""Users, tokens and the audit log over the interface for programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from offdiag.domain.access import Grant, Role
from offdiag.services.access.users import find_user
from offdiag.store.database import Database
from offdiag.store.runs import get_run
from support.access import GUARDED, PASSWORD, add_person, bearer, client_of, guarded, token_of
from support.logging_runs import log
from support.pages import PageClient, client_for

API = "/api/v1"


@pytest.fixture
def app(database: Database) -> Iterator[Flask]:
    with GUARDED.over(database) as app:
        yield app


@pytest.fixture
def ana(app: Flask, database: Database) -> PageClient:
    """An admin who is signed in, with the header that a session needs here."""
    user_id = add_person(database, "ana", Grant(Role.ADMIN))
    client = client_of(app, database, user_id, "ana")
    page = client.page("/settings/tokens")
    token = page.value("csrf_token")
    client.environ_base["HTTP_X_CSRFTOKEN"] = token
    return client


def test_users_are_added_changed_and_locked_out(ana: PageClient, database: Database) -> None:
    made = ana.post(
        f"{API}/users",
        json={"name": "bo", "password": PASSWORD, "roles": [{"role": "viewer"}]},
    )
    changed = ana.put(f"{API}/users/bo/role", json={"role": "editor"})
    locked = ana.post(f"{API}/users/bo/disable")

    assert (made.status_code, changed.status_code, locked.status_code) == (201, 200, 200)
    assert changed.get_json()["roles"] == [{"role": "editor", "project": None}]
    assert locked.get_json()["disabled"] is True
    assert find_user(database, "bo").disabled_at is not None
    assert [user["name"] for user in ana.get(f"{API}/users").get_json()["users"]] == ["ana", "bo"]
    assert "password" not in made.text


def test_a_token_is_told_once(app: Flask, ana: PageClient) -> None:
    made = ana.post(f"{API}/tokens", json={"name": "cluster"}).get_json()

    listed = ana.get(f"{API}/tokens").get_json()["tokens"]

    assert client_for(app).get(f"{API}/runs", headers=bearer(made["token"])).status_code == 200
    assert [token["prefix"] for token in listed] == [made["token"][:14]]
    assert "token" not in listed[0]
    assert ana.delete(f"{API}/tokens/{made['id']}").get_json()["revoked_at"]
    assert client_for(app).get(f"{API}/runs", headers=bearer(made["token"])).status_code == 401


def test_a_run_has_the_name_of_the_account_that_logged_it(app: Flask, database: Database) -> None:
    add_person(database, "ana", Grant(Role.LOGGER))
    program, headers = client_for(app), bearer(token_of(database, "ana", Role.LOGGER))
    said = {"dataset": "pets", "author": "bo", "labels": ["cat", "dog"]}
    matrix = {"matrix": [[3, 1], [2, 4]], "orientation": "actual_rows"}
    counts = {"actual": ["cat", "dog"], "predicted": ["cat", "cat"], "sizes": [3, 2]}
    pairs = {
        "dataset": "pairs",
        "runs": [{"name": "one", "author": "bo"}, {"name": "two"}],
        "tables": [
            {
                "actual": ["a", "b"],
                "predicted": {"one": ["a", "b"], "two": ["a", "a"]},
                "sizes": [3, 2],
            }
        ],
        "counted_on": "duckdb",
    }

    answers = [
        program.post(f"{API}/{path}", json=body, headers=headers).get_json()
        for path, body in (
            ("runs", {"name": "open", **said}),
            ("matrices", {"name": "matrix", **said, **matrix}),
            ("counts", {"name": "counts", **said, **counts, "counted_on": "duckdb"}),
            ("paired-counts", pairs),
        )
    ]

    *single, several = answers
    logged = [each["id"] for each in (*single, *several["runs"])]
    with database.read() as session:
        assert {get_run(session, run_id).author for run_id in logged} == {"ana"}


def test_answers_with_several_tokens_and_in_a_browser_are_those_of_one_person(
    app: Flask, ana: PageClient, database: Database
) -> None:
    log(database)
    draft = f"{API}/datasets/holdout/draft"
    program, secret = client_for(app), ""
    for label in ("a", "b"):
        secret = token_of(database, "ana", Role.LABELER)
        program.post(draft, headers=bearer(secret), json={"samples": [0], "labels": [label]})
    ana.post(draft, json={"samples": [0], "labels": ["c"]})

    shown = ana.get(draft).get_json()
    withdrawn = program.post(f"{draft}/withdraw", headers=bearer(secret), json={"samples": [0]})

    assert shown["people"] == ["ana"]
    assert shown["samples"][0]["outcome"] == "c"
    assert withdrawn.get_json()["n_answers"] == 1


def test_what_cannot_be_a_token_is_refused(ana: PageClient) -> None:
    for body, status in [
        ({"name": "x", "role": "king"}, 422),
        ({"name": "x", "days": 0}, 422),
        ({"name": ""}, 422),
        ({"name": "x", "project": "none such"}, 404),
        ({"name": "x", "owner": "nobody"}, 404),
        ({"name": "x", "secret": "mine"}, 422),
    ]:
        answer = ana.post(f"{API}/tokens", json=body)

        assert answer.status_code == status, (body, status)
        assert set(answer.get_json()["error"]) == {"code", "message", "field", "hint"}, (
            body,
            status,
        )


def test_a_session_without_the_header_changes_nothing(
    app: Flask, ana: PageClient, database: Database
) -> None:
    del ana.environ_base["HTTP_X_CSRFTOKEN"]
    body = {"name": "bo", "password": PASSWORD}

    answers = [
        ana.post(f"{API}/users", json=body),
        ana.post(f"{API}/users", json=body, headers={"X-CSRFToken": "made up"}),
        ana.post(f"{API}/users", json=body, headers={"Origin": "https://evil.example"}),
        ana.post(f"{API}/users", data='{"name": "bo"}', content_type="text/plain"),
    ]

    assert [answer.status_code for answer in answers] == [403] * 4
    assert len(ana.get(f"{API}/users").get_json()["users"]) == 1


def test_a_token_neither_makes_tokens_nor_manages_users(
    app: Flask, ana: PageClient, database: Database
) -> None:
    program, headers = client_for(app), bearer(token_of(database, "ana", Role.ADMIN))

    assert program.get(f"{API}/users", headers=headers).status_code == 200
    for method, path in (
        ("POST", "tokens"),
        ("DELETE", "tokens/1"),
        ("POST", "users"),
        ("PUT", "users/ana/role"),
    ):
        answer = program.open(f"{API}/{path}", method=method, json={}, headers=headers)
        assert answer.status_code == 403, path


def test_one_makes_tokens_for_oneself_alone(app: Flask, database: Database) -> None:
    add_person(database, "ana", Grant(Role.ADMIN))
    user_id = add_person(database, "bo", Grant(Role.EDITOR))
    bo = client_of(app, database, user_id, "bo")
    page = bo.page("/settings/tokens")
    token = page.value("csrf_token")

    answer = bo.post(
        f"{API}/tokens",
        json={"name": "x", "owner": "ana", "role": "viewer"},
        headers={"X-CSRFToken": token},
    )

    assert answer.status_code == 403
    assert answer.get_json()["error"]["field"] == "owner"


def test_changes_are_listed_page_by_page(ana: PageClient) -> None:
    for number in range(3):
        ana.post(f"{API}/tokens", json={"name": f"token {number}"})

    first = ana.get(f"{API}/audit?limit=2&text=token.create").get_json()
    rest = ana.get(
        f"{API}/audit?limit=2&text=token.create&page_token={first['next_page_token']}"
    ).get_json()

    assert [change["detail"]["name"] for change in (*first["changes"], *rest["changes"])] == [
        "token 2",
        "token 1",
        "token 0",
    ]
    assert rest["next_page_token"] is None


def test_an_admin_of_one_project_reads_what_was_changed_there(
    app: Flask, database: Database
) -> None:
    from offdiag.domain.access import Actor
    from offdiag.store.datasets import create_project

    for project in ("alpha", "beta"):
        database = database.seen_by(None, Actor("cli", "me", "log", project, project))
        with database.write() as session:
            create_project(session, project, database.clock())
    add_person(database, "bo", Grant(Role.ADMIN, "alpha"))
    headers = bearer(token_of(database, "bo", Role.ADMIN, project="alpha"))

    changes = client_for(app).get(f"{API}/audit", headers=headers).get_json()["changes"]

    assert {change["project"] for change in changes} == {"alpha"}


def test_a_thousand_wrong_tokens_end_in_a_pause_while_right_ones_work(
    app: Flask, ana: PageClient, database: Database
) -> None:
    program, right = client_for(app), bearer(token_of(database, "ana", Role.VIEWER))

    statuses = [
        program.get(f"{API}/runs", headers=bearer(f"offdiag_{number}")).status_code
        for number in range(100)
    ]
    last = program.get(f"{API}/runs", headers=bearer("offdiag_x"))

    assert statuses == [401] * 10 + [429] * 90
    assert int(last.headers["Retry-After"]) > 0
    assert last.get_json()["error"]["code"] == "too_many_requests"
    assert program.get(f"{API}/runs", headers=right).status_code == 200


def test_writes_have_a_limit_for_each_user(database: Database) -> None:
    add_person(database, "ana", Grant(Role.ADMIN))
    client = client_for(guarded(database, api_limit="5 per minute"))
    headers = bearer(token_of(database, "ana", Role.VIEWER))

    statuses = [client.get(f"{API}/runs", headers=headers).status_code for _ in range(7)]

    assert statuses == [200] * 5 + [429] * 2
