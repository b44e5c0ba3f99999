"""Requests that cannot be meant: refused in the one shape, naming the field, and nothing changes.

What concerns bodies of chunks alone stands in `ingest_test.py`; here are all other routes.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest
from sqlalchemy import func, select

from offdiag.store.database import Database
from offdiag.store.models import Base
from support.dashboard import LESIONS, log_lesions
from support.pages import PageClient
from support.routes import path_of, routes_of

MALFORMED: dict[str, tuple[bytes, str, set[int]]] = {
    "nothing": (b"", "application/json", {400}),
    "no JSON": (b"name=x", "application/json", {400}),
    "cut": (b'{"name": "x"', "application/json", {400}),
    "two documents": (b"{}{}", "application/json", {400}),
    "no object": (b"[]", "application/json", {422}),
    "200,000 brackets": (b"[" * 200_000, "application/json", {400}),
    "500 objects": (b'{"a":' * 500 + b"1" + b"}" * 500, "application/json", {400}),
    "a key twice": (b'{"name":"x","name":"y"}', "application/json", {400}),
    "NaN": (b'{"name":NaN}', "application/json", {400}),
    "1e400": (b'{"x":{"y":[1,1e400]}}', "application/json", {400}),
    "5,000 digits": (b'{"name":' + b"9" * 5_000 + b"}", "application/json", {400}),
    "Latin-1": (b'{"name":"\xe4"}', "application/json", {400}),
    "UTF-16": ('{"name":"x"}'.encode("utf-16"), "application/json", {400}),
    "NUL": (rb'{"name":"x\u0000y"}', "application/json", {400}),
    "half a pair": (rb'{"name":"\ud800"}', "application/json", {400}),
    "a key that is none": (b'{"__class__":{"__init__":1}}', "application/json", {422}),
    "a form": (b"name=x", "application/x-www-form-urlencoded", {415}),
    "plain text": (b'{"name":"x"}', "text/plain", {415}),
    "a kind that begins like JSON": (b'{"name":"x"}', "application/jsonx", {415}),
    "a kind that is a script": (b"{}", "text/html<script>alert(1)</script>", {415}),
}
JSON_ROUTES = ("runs", "matrices", "counts", "datasets", "cost-matrices", "schedules", "reports",
               "whatif", "flags/decisions")  # fmt: skip


def test_a_body_that_cannot_be_read_is_refused_by_every_route(
    client: PageClient, database: Database
) -> None:
    before = _rows(database)

    for what, (body, kind, statuses) in MALFORMED.items():
        for route in JSON_ROUTES:
            answer = client.post(f"/api/v1/{route}", data=body, content_type=kind)

            told = answer.get_json()["error"]
            assert answer.status_code in statuses, (what, route, told)
            assert answer.mimetype == "application/json"
            assert told["message"], (what, route)
            if answer.status_code == 415:
                assert told["code"] == "unsupported_media_type"
            else:
                assert told["field"], (what, route, told)
            assert "script" not in answer.text
            assert len(answer.data) < 2_000

    assert _rows(database) == before


def test_a_body_that_is_packed_where_none_is_unpacked_is_said_to_be(client: PageClient) -> None:
    answer = client.post(
        "/api/v1/datasets",
        data=gzip.compress(b"{}"),
        content_type="application/json",
        headers={"Content-Encoding": "gzip"},
    )

    assert answer.status_code == 415
    assert answer.get_json()["error"]["message"] == "Send the body without Content-Encoding."


RUN = {"name": "n", "dataset": "d", "labels": ["a", "b"]}
MATRIX = {**RUN, "matrix": [[1, 2], [3, 4]], "orientation": "actual_rows"}
COUNTS = {**RUN, "actual": ["a", "b"], "predicted": ["a", "a"], "sizes": [1, 2],
          "counted_on": "spark"}  # fmt: skip
FREE = dict.fromkeys(LESIONS, 0.0)
COSTS = {"name": "c", "dataset": "derm-7", "weights": {"a": {"a": 0.0}}}
SCOPE = {"dataset": "derm-7"}
PLAN = {"name": "s", "cron": "0 7 * * 1", "scope": SCOPE}
LONG = "x" * 600
MEANINGLESS: list[tuple[str, dict[str, Any], str]] = [
    ("runs", {**RUN, "name": ""}, "name"),
    ("runs", {**RUN, "name": LONG}, "name"),
    ("runs", {**RUN, "dataset": LONG}, "dataset"),
    ("runs", {**RUN, "project": "a\nb"}, "project"),
    ("runs", {**RUN, "client_key": LONG}, "client_key"),
    ("runs", {**RUN, "labels": ["a", "a"]}, "labels"),
    ("runs", {**RUN, "labels": []}, "labels"),
    ("runs", {**RUN, "labels": [LONG, "a"]}, "labels"),
    ("runs", {**RUN, "labels": [1.5]}, "labels[0]"),
    ("runs", {**RUN, "labels": [str(number) for number in range(10_001)]}, "labels"),
    ("runs", {**RUN, "tags": {str(number): 1 for number in range(501)}}, "tags"),
    ("runs", {**RUN, "tags": {"x": "y" * 5_001}}, "tags['x']"),
    ("runs", {**RUN, "params": {"x": 10**301}}, "params['x']"),
    ("runs", {**RUN, "params": {"x": [1]}}, "params.x"),
    ("runs", {**RUN, "positive_label": "c"}, "positive_label"),
    ("runs", {**RUN, "hierarchy": {"g": ["c"]}}, "hierarchy"),
    ("runs", {"name": "n", "dataset": "unknown"}, "labels"),
    ("matrices", {**MATRIX, "matrix": [[1, -2], [3, 4]]}, "matrix"),
    ("matrices", {**MATRIX, "matrix": [[1, 2], [3]]}, "matrix"),
    ("matrices", {**MATRIX, "matrix": [[2**63, 0], [0, 1]]}, "matrix"),
    ("matrices", {**MATRIX, "matrix": [[10**4_000, 0], [0, 1]]}, "matrix"),
    ("matrices", {**MATRIX, "orientation": "rows"}, "orientation"),
    ("matrices", {**RUN, "matrix": [[1, 2], [3, 4]]}, "orientation"),
    ("matrices", {**MATRIX, "matrix": [[1, 0.5], [3, 4]]}, "matrix"),
    ("matrices", {**MATRIX, "matrix": [[1, 2]]}, "matrix"),
    ("matrices", {**MATRIX, "matrix": [[0, 0], [0, 0]]}, "matrix"),
    ("matrices", {**MATRIX, "labels": ["a", "b", "c"]}, "labels"),
    ("counts", {**COUNTS, "sizes": [1]}, "actual"),
    ("counts", {**COUNTS, "sizes": [2**62, 2**62]}, "sizes"),
    ("counts", {**COUNTS, "slices": {"x": ["y"]}}, "slices['x']"),
    ("counts", {**COUNTS, "sizes": [1, -2]}, "sizes"),
    ("counts", {**COUNTS, "sizes": [1, 2**70]}, "sizes"),
    ("counts", {**COUNTS, "counted_on": ""}, "counted_on"),
    ("datasets", {"name": LONG, "labels": ["a", "b"]}, "dataset"),
    ("datasets", {"name": "d", "labels": ["a", "a"]}, "labels"),
    ("cost-matrices", COSTS, "weights"),
    ("cost-matrices", {**COSTS, "labels": ["a", "b"], "weights": [[1, 2], [3]]}, "weights"),
    ("cost-matrices", {**COSTS, "weights": [[0.0] * 7] * 7}, "labels"),
    ("cost-matrices", {**COSTS, "name": "a@1"}, "name"),
    ("cost-matrices", {**COSTS, "note": "x" * 5_001}, "note"),
    ("cost-matrices", {**COSTS, "name": ""}, "name"),
    ("cost-matrices", {**COSTS, "currency": "E" * 21}, "currency"),
    ("cost-matrices", {**COSTS, "weights": dict.fromkeys(LESIONS, FREE)}, "weights"),
    ("cost-matrices", {**COSTS, "weights": dict.fromkeys(LESIONS, FREE | {"nv": 1e300})},
     "weights"),
    ("cost-matrices", {**COSTS, "labels": ["nv", "nv"], "weights": [[0.0, 1.0], [1.0, 0.0]]},
     "labels"),
    ("cost-matrices", {**COSTS, "labels": ["nv", "moon"], "weights": [[0.0, 1.0], [1.0, 0.0]]},
     "weights"),
    *(
        ("schedules", {**PLAN, "cron": cron}, "cron")
        for cron in ("* * * * * *", "61 * * * *", "0 0 31 2 *", "0 0 1 * 1", "x" * 200, "")
    ),
    ("schedules", {**PLAN, "zone": "Mars/Olympus"}, "zone"),
    ("schedules", {**PLAN, "zone": "../../etc/passwd"}, "zone"),
    ("schedules", {**PLAN, "name": LONG}, "name"),
    ("schedules", {**PLAN, "delivery": [{"folder": "../up"}]}, "folder"),
    ("schedules", {**PLAN, "delivery": [{"folder": "/etc"}]}, "folder"),
    ("schedules", {**PLAN, "delivery": [{"folder": "a", "email": "a@b.org"}]}, "delivery[0]"),
    ("schedules", {**PLAN, "delivery": [{"email": "a@b\r\nBcc: c@d"}]}, "email"),
    ("schedules", {**PLAN, "delivery": [{"webhook": "file:///etc/passwd"}]}, "webhook"),
    ("schedules", {**PLAN, "delivery": [{"webhook": "http://a@b/"}]}, "webhook"),
    ("schedules", {**PLAN, "delivery": [{"webhook": "http://ｅxample.org/"}]}, "webhook"),
    ("schedules", {**PLAN, "delivery": [{"webhook": "http://a\\@b/"}]}, "webhook"),
    ("schedules", {**PLAN, "delivery": [{"webhook": "http://a/\r\nHost: b"}]}, "webhook"),
    ("schedules", {**PLAN, "scope": {**SCOPE, "metrics": ["__class__"]}}, "metrics"),
    ("schedules", {**PLAN, "scope": {**SCOPE, "metrics": []}}, "metrics"),
    ("schedules", {**PLAN, "scope": {**SCOPE, "user__password": "x"}}, "scope.user__password"),
    ("whatif", {"runs": [f"r_{number:012}" for number in range(10_000)]}, "runs"),
]  # fmt: skip


@pytest.fixture
def lesions(client: PageClient, database: Database) -> PageClient:
    """A client of a registry with a dataset that schedules and costs may be about."""
    log_lesions(database)
    return client


def test_what_cannot_be_meant_is_refused_naming_the_field(
    lesions: PageClient, database: Database
) -> None:
    before = _rows(database)
    wrong: list[tuple[object, ...]] = []

    for route, body, field in MEANINGLESS:
        answer = lesions.post(f"/api/v1/{route}", json=body)
        told = answer.get_json().get("error", {})
        if (answer.status_code, told.get("field")) != (422, field):
            wrong.append((route, json.dumps(body)[-90:], answer.status_code, told))
        elif not told["hint"] or len(answer.data) > 2_000:
            wrong.append((route, field, "without a way out, or a novel", told))

    assert wrong == []
    assert _rows(database) == before


QUERIES = [
    *((f"limit={limit}", "limit") for limit in ("0", "-1", "1000000000", "x", "1e400", "")),
    ("page_token=x", "page_token"),
    ("filter=metrics.mcc%20%3E", "filter"),
    ("filter=owner.token%20%3D%20'x'", "filter"),
    ("filter=user__password%20%3D%20'x'", "filter"),
    ("filter=attributes.__class__%20%3D%20'x'", "filter"),
    ("filter=attributes.password%20%3D%20'x'", "filter"),
    ("filter=1%3D1;%20drop%20table%20run", "filter"),
    ("filter=" + "(" * 3_000, "filter"),
    ("filter=" + "x" * 5_000, "filter"),
    ("filter=tags.x%20%3D%20" + "9" * 3_900, "filter"),
    ("filter=tags.x%20%3D%201e999", "filter"),
    ("order_by=user__password", "order_by"),
    ("order_by=owner.token", "order_by"),
    ("order_by=name;%20drop%20table%20run", "order_by"),
    ("no_such_field=1", "no_such_field"),
]


def test_a_question_that_cannot_be_meant_is_refused(client: PageClient) -> None:
    for query, field in QUERIES:
        answer = client.get(f"/api/v1/runs?{query}")

        told = answer.get_json()["error"]
        is_unread = field in {"filter", "order_by", "page_token"}
        assert (answer.status_code, told["field"]) == (400 if is_unread else 422, field), query


NAMES = (
    *("..%2f..%2fetc%2fpasswd", "..%5c..%5cwin.ini", "%252e%252e%252fetc", "%23..%2f", ":key"),
    *("file:%2f%2f%2fetc%2fpasswd", "%2f%2fhost%2f", "a" * 3_000, "%ed%a0%80"),
    "%0d%0aSet-Cookie:x=1",
)
REFUSED_BY_POSTGRESQL = ("a%00b", "9" * 30)


def test_no_address_breaks_a_page_or_leads_to_a_file(
    client: PageClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every route that has a part to fill in, with names that have led other programs astray."""
    is_file = database.url.startswith("sqlite")
    client.application.testing = False
    rules = sorted(
        {rule.rule for method, rule in routes_of(client.application)
         if method == "GET" and "<" in rule.rule}
    )  # fmt: skip
    opened = _noted_files(monkeypatch)
    wrong = []

    for number, rule in enumerate(rules):
        names: tuple[str, ...] = NAMES if is_file else REFUSED_BY_POSTGRESQL
        if re.search(r"<(run|number|int)\b", rule):
            # No such part is an id or a number, so none of these goes further than to the rules.
            names = (names[number % len(names)],)
        for name in names:
            answer = client.get(path_of(rule, _Always(name)))
            if answer.status_code >= 500 or "Set-Cookie" in answer.headers:
                wrong.append((rule, name, answer.status_code))

    monkeypatch.undo()
    assert wrong == []
    assert not [path for path in opened if "passwd" in path or "win.ini" in path]


def test_no_query_breaks_a_page(client: PageClient, database: Database) -> None:
    client.application.testing = False
    run = log_lesions(database)
    keys = ("q", "sort", "filter", "after", "limit", "page", "runs", "run", "cost", "t", "focus",
            "show", "from", "order", "min", "norm", "of", "version", "class", "threshold", "c",
            "slice", "collapse", "next", "project", "dataset", "which", "example")  # fmt: skip
    paths = ("/", "/runs", "/runs.csv", f"/runs/{run}", f"/runs/{run}/classes", "/compare",
             f"/runs/{run}/examples", f"/runs/{run}/curves", f"/runs/{run}/history", "/costs",
             "/flags", "/datasets", "/reports", "/search", "/whatif", "/whatif/decisions",
             "/views", "/audit", "/jobs", "/costs/new", "/reports/new", "/sign-in",
             f"/runs/{run}/matrix/at", f"/runs/{run}/matrix.png")  # fmt: skip
    wrong = []

    for path in paths:
        for name in ("%00", "a" * 3_000, "9" * 30, "%ff", "1e999", "[[[", "'"):
            query = "&".join(f"{key}={name}" for key in keys)
            answer = client.get(f"{path}?{query}")
            if answer.status_code >= 500:
                wrong.append((path, name, answer.status_code))

    assert wrong == []


def test_no_form_breaks_a_page(client: PageClient, database: Database) -> None:
    app = client.application
    app.testing, app.config["WTF_CSRF_ENABLED"] = False, False
    log_lesions(database)
    fields = ("name", "password", "text", "note", "currency", "author", "table", "w0.1", "cron",
              "zone", "dataset", "model", "metrics", "slices", "alerts", "folder", "email", "role",
              "webhook", "reason", "until", "assignee", "comment", "query", "page", "project",
              "theme", "reader", "next", "days", "flag", "flags", "action", "run", "runs",
              "threshold", "baseline", "tags")  # fmt: skip
    rules = [rule.rule for method, rule in routes_of(app)
             if method == "POST" and not rule.rule.startswith("/api/")]  # fmt: skip
    wrong = []

    for rule in rules:
        for value in ("", "a\0b", "x" * 900, "9" * 30, "NaN"):
            path = path_of(rule, {"name": "derm-7", "number": "1"})
            answer = client.post(path, data=dict.fromkeys(fields, value))
            if answer.status_code >= 500:
                wrong.append((rule, value, answer.status_code))

    assert wrong == []


class _Always(dict[str, str]):
    """Whatever is asked for is the same."""

    def __init__(self, value: str) -> None:
        super().__init__()
        self.value = value

    def get(self, _key: object, _default: object = None) -> Any:
        return self.value


def _noted_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    import builtins

    opened: list[str] = []
    real = builtins.open

    def note(file: Any, *more: Any, **options: Any) -> Any:
        opened.append(str(file))
        return real(file, *more, **options)

    monkeypatch.setattr("builtins.open", note)
    return opened


def _rows(database: Database) -> dict[str, int]:
    """Rows of every table, but for what tells which processes there are."""
    with database.read() as session:
        return {
            name: session.scalar(select(func.count()).select_from(table)) or 0
            for name, table in Base.metadata.tables.items()
            if name != "heartbeat"
        }
