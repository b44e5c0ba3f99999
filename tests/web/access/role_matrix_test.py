"""Every route against nobody, the role it needs, the one below, and credentials worth nothing.

That each role may do what the ones below it may is tested with the roles. Views are replaced by
ones that only say that they were reached, so what is tried is the door and nothing behind it. What
is expected follows from the table alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property, wraps
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from offdiag.domain.access import Grant, Role
from offdiag.services.access.sessions import create_token, revoke_token
from offdiag.store.database import Database
from offdiag.store.models import FlagRow, TokenRow
from offdiag_web.app.dispatch import lazy_views
from support.access import add_person, bearer, client_of, guarded, token_of
from support.dashboard import LESION_COUNTS, LESIONS, log_counts
from support.kinds import Kind
from support.pages import PageClient, client_for
from support.reporting import SCOPE, weekly
from support.routes import Route, path_of, route_table, routes_of, spelled

REACHED = "reached"
ROLES = tuple(role.value for role in Role)
SPOILT = ("expired", "revoked", "of somebody locked out", "one character changed", "empty")


@dataclass(frozen=True)
class House:
    """A guarded dashboard with a run in `alpha`, and somebody of every kind."""

    app: Flask
    database: Database
    things: dict[str, str]
    people: dict[str, PageClient]
    tokens: dict[str, str]

    @cached_property
    def routes(self) -> list[Route]:
        """The lines of the table; that they are all served is tested beside this."""
        table = route_table()
        return [
            table[method, spelled(rule)]
            for method, rule in routes_of(self.app)
            if (method, spelled(rule)) in table
        ]


@pytest.fixture(scope="module")
def house(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with databases.new(tmp_path_factory.mktemp("house")) as database:
        things = fill(database)
        app = guarded(
            database,
            read_limit="1000000 per second",
            write_limit="1000000 per second",
            api_limit="1000000 per second",
            sign_in_limit="1000000 per second",
        )
        app.config["WTF_CSRF_ENABLED"] = False
        lazy_views(app).load_all()
        for endpoint, view in app.view_functions.items():
            app.view_functions[endpoint] = reached_instead_of(view)
        people, tokens = {}, {}
        for role in Role:
            user_id = add_person(database, role.value, Grant(role))
            people[role.value] = client_of(app, database, user_id, role.value)
            tokens[role.value] = token_of(database, role.value, role)
        add_person(database, "bo", Grant(Role.ADMIN, "alpha"), Grant(Role.ADMIN, "beta"))
        tokens["of another project"] = token_of(database, "bo", Role.ADMIN, project="beta")
        tokens["of this project"] = token_of(database, "bo", Role.ADMIN, project="alpha")
        yield House(app, database, things, people, tokens)


def fill(database: Database) -> dict[str, str]:
    """One thing of each kind in `alpha`, and something in `beta`; names by part of an address."""
    run_id = log_counts(
        database, LESION_COUNTS, LESIONS, name="a", dataset="lesions", project="alpha"
    )
    log_counts(database, [[5, 1], [2, 3]], ("x", "y"), name="b", dataset="other", project="beta")
    price(database, "alpha", "lesions")
    weekly(database, scope=replace(SCOPE, project="alpha", dataset="lesions"))
    with database.read() as session:
        flag_id = session.scalar(select(FlagRow.id).where(FlagRow.run_id == run_id).limit(1))
    return {
        "run_id": run_id,
        "flags/number": str(flag_id),
        "datasets/name": "lesions",
        "costs/name": "prices",
        "cost-matrices/name": "prices",
        "reports/name": "weekly",
        "schedules/name": "weekly",
    }


def price(database: Database, project: str, dataset: str) -> None:
    from offdiag.services.cost_matrices import add_costs

    weights = {a: {p: float(a != p) for p in LESIONS} for a in LESIONS}
    add_costs(
        database, project=project, dataset=dataset, name="prices", weights=weights, author="ana"
    )


def reached_instead_of(view: Callable[..., Any]) -> Callable[..., str]:
    @wraps(view)
    def reached(**_parts: object) -> str:
        return REACHED

    return reached


def ask(house: House, route: Route, client: PageClient, secret: str | None = None) -> int:
    """The status of one request about the things in `alpha`, 200 where the view was reached."""
    path = path_of(route.rule, house.things)
    query = {"project": "alpha"} if route.about == "project" else {}
    answer = client.open(
        path,
        method=route.method,
        query_string=query,
        headers={} if secret is None else bearer(secret),
    )
    assert (answer.status_code == 200) == (answer.text == REACHED), path
    return answer.status_code


def disagreements(
    house: House,
    expected: Callable[[Route], int],
    client: PageClient,
    secret: str | None = None,
    routes: Sequence[Route] | None = None,
) -> list[str]:
    return [
        f"{route.method} {route.rule}: {found}, not {expected(route)}"
        for route in (house.routes if routes is None else routes)
        if (found := ask(house, route, client, secret)) != expected(route)
    ]


def decided_by(house: House, role: str) -> list[Route]:
    """The routes that a role is just enough for, and those that it is just too little for."""
    at = ROLES.index(role)
    deciding = {*ROLES[at : at + 2], *(["public"] if at == 0 else [])}
    return [route for route in house.routes if route.role in deciding]


def of_role(role: str) -> Callable[[Route], int]:
    def expected(route: Route) -> int:
        enough = route.role == "public" or ROLES.index(role) >= ROLES.index(route.role)
        return 200 if enough else 403

    return expected


def test_the_things_are_there(house: House) -> None:
    assert all(value not in {"", "None"} for value in house.things.values())
    assert len(house.routes) > 150


def test_nobody_is_let_in_but_where_anybody_is(house: House) -> None:
    client = client_for(house.app)

    wrong = disagreements(house, lambda route: 200 if route.role == "public" else 401, client)

    assert wrong == []


@pytest.mark.parametrize("role", ROLES)
def test_somebody_who_signed_in_may_do_what_their_role_may(house: House, role: str) -> None:
    def expected(route: Route) -> int:
        # Cookies alone change nothing over the interface for programs: any page could send them.
        by_cookie = route.rule.startswith("/api/") and route.method != "GET"
        return 403 if by_cookie else of_role(role)(route)

    client, routes = house.people[role], decided_by(house, role)

    assert disagreements(house, expected, client, routes=routes) == []


@pytest.mark.parametrize("role", ROLES)
def test_a_token_may_do_what_its_role_may_but_nothing_in_person(house: House, role: str) -> None:
    def expected(route: Route) -> int:
        return 403 if route.how == "person" else of_role(role)(route)

    client, routes = client_for(house.app), decided_by(house, role)

    assert disagreements(house, expected, client, house.tokens[role], routes) == []


def test_a_token_of_another_project_opens_nothing_of_this_one(house: House) -> None:
    def expected(route: Route) -> int:
        if route.role == "public":
            return 200
        return 200 if route.about == "any" and route.how != "person" else 403

    secret = house.tokens["of another project"]

    assert disagreements(house, expected, client_for(house.app), secret) == []


def test_a_token_of_this_project_opens_all_of_it_and_nothing_of_the_registry(house: House) -> None:
    def expected(route: Route) -> int:
        if route.role == "public":
            return 200
        return 403 if route.about == "registry" or route.how == "person" else 200

    secret = house.tokens["of this project"]

    assert disagreements(house, expected, client_for(house.app), secret) == []


@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_token_that_is_worth_nothing_opens_nothing(house: House, spoilt: str) -> None:
    secret = worthless(house.database, spoilt)
    # Whose token it is, is asked before any view: each kind is tried on its share of the routes.
    routes = house.routes[SPOILT.index(spoilt) :: len(SPOILT)]

    def expected(route: Route) -> int:
        return 200 if route.role == "public" else 401

    assert disagreements(house, expected, client_for(house.app), secret, routes) == []


def worthless(database: Database, spoilt: str) -> str:
    """The secret of an admin's token that went bad in one way."""
    if spoilt == "empty":
        return ""
    if spoilt == "of somebody locked out":
        from offdiag.services.access.users import set_disabled

        add_person(database, "gone", Grant(Role.ADMIN))
        secret = token_of(database, "gone", Role.ADMIN)
        set_disabled(database, name="gone", disabled=True)
        return secret
    made = create_token(
        database, owner="admin", name=spoilt, scope=Grant(Role.ADMIN), lifetime=timedelta(days=1)
    )
    if spoilt == "revoked":
        revoke_token(database, made.record.id)
    if spoilt == "expired":
        with database.write() as session:
            session.execute(
                update(TokenRow)
                .where(TokenRow.id == made.record.id)
                .values(expires_at=database.clock() - timedelta(seconds=1))
            )
    if spoilt == "one character changed":
        last = made.secret[-1]
        return made.secret[:-1] + ("A" if last != "A" else "B")
    return made.secret
