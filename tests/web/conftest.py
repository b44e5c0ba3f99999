"""A client of the dashboard over a database of its own."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app


@pytest.fixture
def app(sqlite_database: Database) -> Flask:
    """The dashboard over an empty registry; errors of handlers reach the test."""
    application = create_app(Settings(), sqlite_database)
    application.testing = True
    return application


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()
