"""The page of the HTTP interface: its requests are answered, its table holds every status."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.test import EnvironBuilder

from offdiag.store.database import Database
from offdiag_web.app.errors import API_STATUS_OF
from support.dashboard import log_lesions
from support.registries import dashboard

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
RUN = "r_0000000000aa"
REFERENCES = """
SELECT tables.name, keys."from" FROM sqlite_master AS tables
JOIN pragma_foreign_key_list(tables.name) AS keys
WHERE tables.type = 'table' AND keys."table" = 'run'
"""


@pytest.fixture
def documented(migrated_file: Path, tmp_path: Path) -> Iterator[FlaskClient]:
    """A client of the registry that the page tells of."""
    database = Database(f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}")
    run_id = log_lesions(database)
    with database.migrate() as connection:
        connection.execute(text("PRAGMA defer_foreign_keys = ON"))
        for table, column in (("run", "id"), *_references(database)):
            statement = f"UPDATE {table} SET {column} = :new WHERE {column} = :old"
            connection.execute(text(statement), {"new": RUN, "old": run_id})
    yield dashboard(database).test_client()
    database.close()


def _references(database: Database) -> list[tuple[str, str]]:
    """Every column that names a run."""
    with database.read() as session:
        found = session.execute(text(REFERENCES))
        return [(table, column) for table, column in found]


def test_every_request_of_the_page_is_answered(documented: FlaskClient) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    commands = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    assert len(commands) > 10
    for command in commands:
        answer = documented.open(_request(shlex.split(command)))
        assert answer.status_code in {200, 201}, (command, answer.get_json())


def _request(words: list[str]) -> EnvironBuilder:
    """What curl would send."""
    assert words.pop(0) == "curl"
    method, body, url = None, None, ""
    headers: dict[str, str] = {}
    query: list[tuple[str, str]] = []
    while words:
        word = words.pop(0)
        if word == "-X":
            method = words.pop(0)
        elif word == "-d":
            body = words.pop(0)
        elif word == "-H":
            name, _, value = words.pop(0).partition(": ")
            headers[name] = value
        elif word == "--data-urlencode":
            name, _, value = words.pop(0).partition("=")
            query.append((name, value))
        elif word != "-G":
            url = word
    parts = urlsplit(url)
    return EnvironBuilder(
        path=parts.path,
        query_string="&".join(filter(None, (parts.query, urlencode(query)))),
        method=method or ("GET" if body is None else "POST"),
        data=body,
        headers=list(headers.items()),
    )


def test_the_page_tells_every_status() -> None:
    told = {int(status) for status in re.findall(r"\b[45]\d\d\b", PAGE.read_text())}
    assert set(API_STATUS_OF.values()) <= told
    assert all(HTTPStatus(status) for status in told)
