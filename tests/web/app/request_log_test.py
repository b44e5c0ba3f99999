"""One id leads from a request to the work it asked for; nothing secret is on the way."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog

from offdiag.domain.access import Grant, Role
from offdiag.logs import log_to_stderr
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag_workers.loop import run_worker
from support.access import PASSWORD, add_person, bearer, guarded, sign_in, token_of
from support.pages import client_for

MATRIX = {
    "name": "new level=error",
    "dataset": "d",
    "labels": ["a", "b"],
    "matrix": [[3, 1], [0, 4]],
    "orientation": "actual_rows",
}


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """Everything that was logged since it was last asked."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    log_to_stderr("debug", "json")
    yield lambda: capsys.readouterr().err
    structlog.reset_defaults()
    root.handlers[:] = before
    root.setLevel(level)


def lines(logged: Callable[[], str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in logged().splitlines()]


def test_a_request_can_be_followed_to_its_result(
    database: Database, logged: Callable[[], str]
) -> None:
    app = guarded(database)
    add_person(database, "ada", Grant(Role.ADMIN))
    token = token_of(database, "ada", Role.EDITOR)

    answer = client_for(app).post("/api/v1/matrices", json=MATRIX, headers=bearer(token))
    run_worker(database, JobsSettings(), stop=threading.Event(), until_idle=True)

    request_id = answer.headers["X-Request-Id"]
    followed = [each for each in lines(logged) if each.get("request_id") == request_id]
    (asked,) = [each for each in followed if each["event"] == "request"]
    (done,) = [each for each in followed if each["event"] == "work_done"]
    assert (asked["method"], asked["status"], asked["level"]) == ("POST", 201, "info")
    assert done["run"] == answer.get_json()["id"]
    assert (done["attempt"], done["engine"], done["task"]) == (1, "local", "evaluate")
    assert isinstance(done["work"], int)


def test_a_name_that_was_made_up_is_text_in_the_log(
    sqlite_database: Database, logged: Callable[[], str]
) -> None:
    client = client_for(guarded(sqlite_database))
    client.get("/runs/r_%0Alevel=error%0D%E2%80%A8")
    client.get("/no%0A{}")
    assert [each["event"] for each in lines(logged)] == ["request", "request"]


def test_a_refusal_by_the_first_check_has_an_id_too(
    sqlite_database: Database, logged: Callable[[], str]
) -> None:
    answer = client_for(guarded(sqlite_database)).get("/runs", headers={"Host": "evil.example"})
    (told,) = lines(logged)
    assert answer.status_code == 400
    assert told["request_id"] == answer.headers["X-Request-Id"] != ""


def test_no_secret_of_a_session_a_token_or_a_form_is_logged(
    sqlite_database: Database, logged: Callable[[], str]
) -> None:
    app = guarded(sqlite_database)
    app.testing = False
    add_person(sqlite_database, "ada", Grant(Role.ADMIN))
    token = token_of(sqlite_database, "ada", Role.EDITOR)

    @app.get("/broken")
    def broken() -> str:
        raise RuntimeError(f"could not use {token} of postgresql://ada:{PASSWORD[:7]}@db")

    client = client_for(app)
    assert sign_in(client, "ada").status_code == 303
    with client.session_transaction() as cookie:
        session = str(cookie["_user_id"])
    client.get("/runs")
    sign_in(client_for(app), "ada", "a wrong one, but near")
    for headers in (bearer(token), bearer(token + "x"), {"Authorization": token}):
        client_for(app).get("/api/v1/runs", headers=headers)
    client_for(app).get(f"/runs?token={token}")
    client_for(app).get(f"/{token}")
    client.get("/broken")

    written = logged()
    assert "RuntimeError" in written
    for secret in (token, session, PASSWORD, f":{PASSWORD[:7]}@", "a wrong one"):
        assert secret not in written
