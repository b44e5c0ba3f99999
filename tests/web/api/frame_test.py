"""What all addresses of the interface share: bodies, errors, ETags, the description."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from flask import Flask
from pydantic import Field

from offdiag import services
from offdiag.errors import (
    Conflict,
    DatabaseUnavailable,
    InvalidInput,
    Malformed,
    OffdiagError,
    Stale,
)
from offdiag.records.base import Refusal, RequestBody, ResponseBody
from offdiag.store.database import Database
from offdiag_web.api.operations import EXTRAS, FORMER_PATHS, operation, resource
from offdiag_web.app.dispatch import PREFIX, lazy_views
from offdiag_web.app.errors import REQUESTS
from support.pages import PageClient, client_for
from support.registries import dashboard


def test_describes_itself_as_openapi(client: PageClient) -> None:
    document = client.json("/api/v1/openapi.json")
    assert document["openapi"].startswith("3.1")
    listed = document["paths"]["/api/v1/metrics"]["get"]
    assert {"200", "304", "400", "422", "500", "503"} <= listed["responses"].keys()
    assert "ETag" in listed["responses"]["200"]["headers"]
    assert "Retry-After" in listed["responses"]["503"]["headers"]


def test_every_route_is_described(app: Flask, client: PageClient) -> None:
    described = client.json("/api/v1/openapi.json")["paths"]
    routes = {
        (rule.rule, method)
        for rule in app.url_map.iter_rules()
        for method in rule.methods or ()
        if rule.rule.startswith("/api/") and method not in {"HEAD", "OPTIONS"}
    }
    assert not described.keys() & FORMER_PATHS
    not_described = 1 + len(FORMER_PATHS)  # The description itself is not either.
    assert len(routes) - not_described == sum(map(len, described.values()))


def test_answers_what_was_seen_with_304(client: PageClient) -> None:
    first = client.get("/api/v1/metrics/mcc")
    etag = first.headers["ETag"]
    assert etag.startswith('"')
    again = client.get("/api/v1/metrics/mcc", headers={"If-None-Match": etag})
    assert again.status_code == 304
    assert not again.data
    other = client.get("/api/v1/metrics/f1", headers={"If-None-Match": etag})
    assert other.status_code == 200


def test_who_wants_other_content_is_told_so_and_sent_none(client: PageClient) -> None:
    answer = client.get("/api/v1/metrics/mcc", headers={"If-Match": '"of yesterday"'})

    assert answer.status_code == 412
    document = answer.get_json()
    assert document["error"]["code"] == "stale"
    assert document["error"]["field"] == "If-Match"
    assert set(document) == {"error"}


def test_a_metric_is_found_by_its_name_in_scikit_learn(client: PageClient) -> None:
    named = client.json("/api/v1/metrics/f1_macro")

    assert {each["key"] for each in named["metrics"]} == {"macro_f1"}


def test_refuses_in_one_shape(client: PageClient) -> None:
    for method, path, status, code in [
        ("GET", "/api/v1/nothing-here", 404, "not_found"),
        ("GET", "/api/v1", 404, "not_found"),
        ("GET", "/api/v2/runs", 404, "not_found"),
        ("GET", "/api/", 404, "not_found"),
        ("GET", "/api", 404, "not_found"),
        ("POST", "/api/runs", 404, "not_found"),
        ("GET", "/api/v1/metrics/nothing", 404, "not_found"),
        ("DELETE", "/api/v1/metrics", 405, "method_not_allowed"),
        ("GET", "/api/v1/metrics?scope=moon", 422, "invalid_input"),
        ("GET", "/api/v1/metrics?unknown=1", 422, "invalid_input"),
        ("GET", "/api/v1/metrics/%00", 400, "malformed"),
        ("GET", "/api/v1/metrics?scope=%00", 400, "malformed"),
    ]:
        answer = client.open(path, method=method)
        assert answer.status_code == status, path
        assert answer.mimetype == "application/json", path
        assert answer.get_json().keys() == {"error"}, path
        assert Refusal.model_validate(answer.get_json(), extra="forbid").error.code == code, path
        assert answer.get_json()["error"]["hint"], path


def test_a_wrong_method_is_answered_with_those_of_the_address(client: PageClient) -> None:
    refused = client.get("/api/v1/runs/r_0123456789ab/finish").get_json()["error"]

    assert refused["message"] == "GET is not a method of /api/v1/runs/r_0123456789ab/finish."
    assert refused["hint"] == "Use POST."
    assert client.delete("/api/v1/runs").get_json()["error"]["hint"] == "Use GET or POST."


class Sent(RequestBody):
    name: str = Field(max_length=5)
    count: int = 1
    weights: tuple[float, ...] = ()


class Got(ResponseBody):
    name: str
    count: int
    ratio: float = 0.1


@pytest.fixture
def echo(database: Database, monkeypatch: pytest.MonkeyPatch) -> PageClient:
    """A dashboard with one more address, which says what it was sent."""
    app = dashboard(database)
    lazy_views(app).load_all()
    monkeypatch.setattr("offdiag_web.api.operations.EXTRAS", dict(EXTRAS))
    blueprint = resource("echo")

    @operation(blueprint, "POST", "/echo", statuses=(201,), most_bytes=300_000)
    def echo(json: Sent) -> tuple[Got, int]:
        if json.name == "fail":
            raise ZeroDivisionError
        if json.name == "nan":
            return Got(name="nan", count=1, ratio=float("nan")), 201
        if json.name in ERRORS:
            raise ERRORS[json.name]("it happened.", field="name", hint="Do not.")
        return Got(name=json.name, count=json.count), 201

    app.testing = False
    app.config["WTF_CSRF_ENABLED"] = False
    app.register_blueprint(blueprint)
    return client_for(app)


ERRORS: dict[str, type[OffdiagError]] = {
    "bad": InvalidInput,
    "odd": Malformed,
    "twice": Conflict,
    "old": Stale,
    "gone": DatabaseUnavailable,
}


def test_refuses_bodies_naming_what_is_wrong(echo: PageClient) -> None:
    for body, status, field in [
        (b'{"name": "a"', 400, "body"),
        (b"", 400, "body"),
        (b'{"name": "a", "name": "b"}', 400, "name"),
        (b'{"name": "a", "weights": [1, NaN]}', 400, "weights[1]"),
        (b"[" * 200_000, 400, "body"),
        (b'{"name": "a", "nam": 1}', 422, "nam"),
        (b"{}", 422, "name"),
        (b"[]", 422, "body"),
        (b'{"name": "too long"}', 422, "name"),
        (b'{"name": "a", "count": "5"}', 422, "count"),
        (b'{"name": "a", "count": true}', 422, "count"),
        (b'{"name": "a", "weights": [1, "x"]}', 422, "weights[1]"),
        (b'{"name": "' + b"a" * 300_000 + b'"}', 413, None),
        (b'{"name": "bad"}', 422, "name"),
        (b'{"name": "odd"}', 400, "name"),
        (b'{"name": "twice"}', 409, "name"),
        (b'{"name": "old"}', 412, "name"),
        (b'{"name": "gone"}', 503, "name"),
        (b'{"name": "fail"}', 500, None),
        (b'{"name": "nan"}', 500, None),
    ]:
        answer = echo.post("/api/v1/echo", data=body, content_type="application/json")
        assert answer.status_code == status, answer.get_json()
        error = Refusal.model_validate(answer.get_json()).error
        assert error.field == field, body[:40]
        assert error.message[0].isupper(), body[:40]
        assert error.hint, body[:40]
        assert ("Retry-After" in answer.headers) == (status == 503), body[:40]


def test_hints_name_requests_that_a_client_can_send(client: PageClient) -> None:
    def hint(agent: str, path: str = "/api/v1/schedules/none") -> str:
        error = client.get(path, headers={"User-Agent": agent}).get_json()["error"]
        return str(error["hint"])

    assert hint("curl/8") == "`GET /api/v1/schedules` shows the schedules there are."
    assert hint("curl/8", "/flags/99.json") == "`GET /api/v1/flags` shows the flags."
    assert hint("offdiag/1.0") == "`offdiag schedule list` shows the schedules there are."


def test_every_command_in_a_hint_has_a_request_or_needs_an_administrator(
    client: PageClient,
) -> None:
    root = Path(services.__file__).parents[1]
    hints = [
        ast.unparse(each.value)
        for folder in ("services", "store", "inputs", "domain", "gate")
        for path in (root / folder).rglob("*.py")
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(each, ast.keyword) and each.arg == "hint"
    ]
    named = {each for hint in hints for each in re.findall(r"`offdiag ([a-z]+(?: [a-z]+)?)", hint)}

    others = named - set(REQUESTS)
    assert {each for each in others if not each.startswith("db ")} == {"sql", "verify", "worker"}
    described = {
        f"{verb.upper()} {re.sub('{.*?}', '{}', path)}"
        for path, verbs in client.json("/api/v1/openapi.json")["paths"].items()
        for verb in verbs
    }
    assert {re.sub("{.+?}", "{}", each.format(PREFIX)) for each in REQUESTS.values()} <= described


def test_refuses_writes_that_pages_of_other_sites_send(echo: PageClient) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = echo.post("/api/v1/echo", json={"name": "a"}, headers=headers)
        assert answer.status_code == 403
        assert answer.get_json()["error"]["code"] == "forbidden"


def test_answers_with_the_declared_body(echo: PageClient) -> None:
    answer = echo.post("/api/v1/echo", json={"name": "a", "count": 2**60})
    assert answer.status_code == 201
    assert answer.get_json() == {"name": "a", "count": 2**60, "ratio": 0.1}
