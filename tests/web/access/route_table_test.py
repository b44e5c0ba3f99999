"""Every route is in the table, and needs what the table says it needs."""

from __future__ import annotations

from inspect import signature

import pytest
from flask import Flask

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.api.operations import EXTRAS
from offdiag_web.api.requests import JSON
from offdiag_web.app.context import rate_of, requirement_of
from offdiag_web.app.dispatch import lazy_views
from support.pages import client_for
from support.registries import serving
from support.routes import path_of, route_table, routes_of, spelled


@pytest.fixture
def app(database: Database) -> Flask:
    """What is served to people, without the gallery that tests add."""
    app = create_app(Settings(server=serving()), database)
    app.testing = True
    lazy_views(app).load_all()
    return app


def test_every_route_has_a_line_and_every_line_a_route(app: Flask) -> None:
    served = {(method, spelled(rule)) for method, rule in routes_of(app)}
    listed = set(route_table())

    assert sorted(served - listed) == [], "add a line to tests/web/access/routes.txt"
    assert sorted(listed - served) == [], "take the line out of tests/web/access/routes.txt"


def test_every_route_counts_against_the_limit_in_the_table(app: Flask) -> None:
    table = route_table()
    wrong = [
        f"{method} {rule.rule}: {found}, not {wanted}"
        for method, rule in routes_of(app)
        if (
            found := rate_of(
                requirement_of(app.view_functions[rule.endpoint], method),
                method,
                is_api=rule.rule.startswith("/api/v1/"),
            )
        )
        != (wanted := table[method, spelled(rule)].rate)
    ]

    assert wrong == []


def test_nothing_larger_than_the_table_says_can_be_sent(app: Flask) -> None:
    """A form that says it is a byte too long is refused unread; one of the size is not."""
    client, wrong = client_for(app), []
    for route in route_table().values():
        if route.method == "GET" or route.rule.startswith("/api/"):
            continue
        for size, is_too_large in ((route.most_bytes + 1, True), (route.most_bytes, False)):
            answer = client.open(
                path_of(route.rule, {"run_id": "r_none"}),
                method=route.method,
                data={"name": "x"},
                environ_overrides={"CONTENT_LENGTH": str(size)},
            )
            if (answer.status_code == 413) != is_too_large:
                wrong.append(f"{route.method} {route.rule} {size}: {answer.status_code}")

    assert wrong == []


def test_no_program_sends_more_than_the_table_says(app: Flask) -> None:
    """A body that says it is a byte too long is refused unread; one of the size is not."""
    client, wrong = client_for(app), []
    table = route_table()
    for method, rule in routes_of(app):
        extras = EXTRAS.get(rule.endpoint)
        takes = signature(app.view_functions[rule.endpoint]).parameters
        if extras is None or not ("json" in takes or extras.sent):
            continue
        most = table[method, spelled(rule)].most_bytes
        for size, is_too_large in ((most + 1, True), (most, False)):
            answer = client.open(
                path_of(rule.rule, {"run_id": "r_none"}),
                method=method,
                data=b"{}",
                content_type=(*extras.sent, JSON)[-1],
                environ_overrides={"CONTENT_LENGTH": str(size)},
            )
            if (answer.status_code == 413) != is_too_large and answer.status_code != 404:
                wrong.append(f"{method} {rule.rule} {size}: {answer.status_code}")

    assert wrong == []


def test_forms_have_explicit_limits(app: Flask) -> None:
    assert app.config["MAX_CONTENT_LENGTH"]
    assert app.config["MAX_FORM_MEMORY_SIZE"]
    assert app.config["MAX_FORM_PARTS"]


def test_a_view_that_says_nothing_is_closed_to_whoever_has_no_role() -> None:
    def view() -> str:
        return ""

    assert requirement_of(view, "GET").role == "viewer"
    assert requirement_of(view, "POST").role == "editor"
    assert requirement_of(view, "FROBNICATE").role == "editor"
