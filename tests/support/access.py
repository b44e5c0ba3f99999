"""People with roles, sessions and tokens, and the dashboard that asks who they are."""

from __future__ import annotations

from datetime import timedelta

from argon2 import PasswordHasher
from flask import Flask
from werkzeug.test import TestResponse

from offdiag.domain.access import Grant, Role
from offdiag.services.access import users
from offdiag.services.access.sessions import SessionLife, begin_session, create_token
from offdiag.services.access.users import add_user
from offdiag.settings import AccessSettings, ServerSettings, Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from support.forms import send
from support.pages import Page, PageClient, client_for
from support.quick_apps import LentApp
from support.registries import serving

PASSWORD = "correct horse battery"
# Hashing takes longer than most requests, which is its purpose.
users._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
LIFE = SessionLife(idle=timedelta(hours=12), longest=timedelta(days=14))


def guarded(
    database: Database, *, server: ServerSettings | None = None, **access: str | float
) -> Flask:
    """The dashboard as it is where everybody has to sign in."""
    settings = Settings(
        server=server or serving(),
        access=AccessSettings.model_validate({"auth": "required", **access}),
    )
    app = create_app(settings, database)
    app.testing = True
    return app


GUARDED = LentApp(guarded)
"""That dashboard, over the database of one test after the other."""


def add_person(database: Database, name: str, *grants: Grant) -> int:
    """A user who signs in with `PASSWORD`."""
    return add_user(database, name=name, password=PASSWORD, grants=grants).id


def token_of(
    database: Database, owner: str, role: Role, *, project: str | None = None, **kinds: timedelta
) -> str:
    """The secret of a new token."""
    made = create_token(
        database,
        owner=owner,
        name=f"{role} token",
        scope=Grant(role, project),
        lifetime=kinds.get("lifetime"),
    )
    return made.secret


def bearer(secret: str) -> dict[str, str]:
    """The header that a program sends."""
    return {"Authorization": f"Bearer {secret}"}


def client_of(app: Flask, database: Database, user_id: int, name: str) -> PageClient:
    """A browser in which somebody is signed in, without the form."""
    secret = begin_session(database, user_id=user_id, name=name, life=LIFE)
    client = client_for(app)
    with client.session_transaction() as cookie:
        cookie["_user_id"] = secret
        cookie["_fresh"] = True
    return client


def sign_in(
    client: PageClient, name: str, password: str = PASSWORD, *, at: str = "/sign-in"
) -> TestResponse:
    """Send the form that stands at an address."""
    page = Page(client.get(at).text)
    form = page.one("form", action="/sign-in")
    return send(client, form, {"name": name, "password": password})
