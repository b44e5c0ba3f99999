"""Each revision is run over data of its time.

`data/<revision>.py` defines `LOADED`, statements that fill the database as it was before the
revision, and `check`, which looks at what became of it.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

import offdiag_migrations
from offdiag.store.database import Database
from support.old_rows import execute

pytestmark = pytest.mark.usefixtures("revisions_read_once")

DATA = Path(__file__).parent / "data"


def data_of(revision: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"data_{revision}", DATA / f"{revision}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def upgrade_to(connection: Connection, revision: str) -> None:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(offdiag_migrations.FOLDER))
    command.upgrade(config, revision)


def test_every_revision_has_data_and_no_data_is_left_over() -> None:
    assert sorted(file.stem for file in DATA.glob("*.py")) == list(offdiag_migrations.revisions())


@pytest.mark.parametrize("revision", offdiag_migrations.revisions())
def test_data_survives_a_revision(database_before: Database, revision: str) -> None:
    data = data_of(revision)
    with database_before.write() as session:
        execute(session.connection(), *data.LOADED)

    with database_before.migrate() as connection:
        upgrade_to(connection, revision)

    with database_before.write() as session:
        data.check(session.connection())
