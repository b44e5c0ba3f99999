"""Where the dashboard listens, and where it refuses to."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from offdiag.cli.operate.serve import require_admin
from offdiag.domain.access import Grant, Role
from offdiag.errors import InvalidInput
from offdiag.services.access.users import add_user, set_disabled
from offdiag.settings import AccessSettings, ServerSettings, Settings
from offdiag.store.database import Database

Command = Callable[..., Any]


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def at(host: str) -> Settings:
    return Settings(server=ServerSettings(host=host))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine_alone_may_be_served_without_users(
    sqlite_database: Database, host: str
) -> None:
    require_admin(sqlite_database, at(host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "registry.example.org"])
def test_a_network_is_refused_while_there_is_no_admin(
    sqlite_database: Database, host: str
) -> None:
    with pytest.raises(InvalidInput, match="other machines") as caught:
        require_admin(sqlite_database, at(host))

    assert caught.value.hint
    assert "offdiag user add NAME --role admin" in caught.value.hint


def test_demanded_sign_in_needs_an_admin_too(sqlite_database: Database) -> None:
    with pytest.raises(InvalidInput, match="no admin"):
        require_admin(sqlite_database, Settings(access=AccessSettings(auth="required")))


@pytest.mark.parametrize(
    "grant", [Grant(Role.EDITOR), Grant(Role.ADMIN, "default")], ids=["editor", "of one project"]
)
def test_only_an_admin_of_everything_counts(sqlite_database: Database, grant: Grant) -> None:
    with sqlite_database.write() as session:
        from offdiag.store.datasets import create_project

        create_project(session, "default", sqlite_database.clock())
    add_user(sqlite_database, name="ana", password="correct horse battery", grants=[grant])

    with pytest.raises(InvalidInput):
        require_admin(sqlite_database, at("0.0.0.0"))


def test_with_an_admin_a_network_is_served(sqlite_database: Database) -> None:
    for name in ("ana", "bo"):
        add_user(
            sqlite_database,
            name=name,
            password="correct horse battery",
            grants=[Grant(Role.ADMIN)],
        )
    set_disabled(sqlite_database, name="bo", disabled=True)

    require_admin(sqlite_database, at("0.0.0.0"))


def test_serve_says_which_port_is_taken_and_what_to_do(offdiag: Command, taken_port: int) -> None:
    answer = offdiag("serve", "--port", str(taken_port))

    assert answer.code == 2
    assert f"{taken_port} on 127.0.0.1 is used" in answer.err
    assert "--port 0" in answer.err


def test_serve_refuses_to_be_open_to_a_network(offdiag: Command) -> None:
    answer = offdiag("serve", "--host", "0.0.0.0", "--port", "0")

    assert answer.code == 2
    assert "offdiag user add NAME --role admin" in answer.err
