"""Each revision is run over data of its time, can be taken back, and leaves nothing behind.

`data/<revision>.py` defines `LOADED`, statements that fill the database as it was before the
revision, and `check`, which looks at what became of it.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, make_url

import offdiag_migrations
from offdiag.store.database import Database
from support.old_rows import execute
from support.postgres import PostgresServer
from support.schema_text import catalog_text, schema_text

CHANGES_ONLY_DATA = {"0007_costs_of_results"}
DATA = Path(__file__).parent / "data"


@pytest.fixture
def revisions_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no command of Alembic read all revisions anew, which takes longer than most of them."""
    scripts = ScriptDirectory(str(offdiag_migrations.FOLDER))
    monkeypatch.setattr(ScriptDirectory, "from_config", lambda _config: scripts)


def data_of(revision: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"data_{revision}", DATA / f"{revision}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def go_to(database: Database, revision: str, *, down: bool = False) -> str:
    """Migrate, and return the schema there."""
    with database.migrate() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(offdiag_migrations.FOLDER))
        (command.downgrade if down else command.upgrade)(config, revision)
        is_sqlite = connection.dialect.name == "sqlite"
        return schema_text(connection) if is_sqlite else catalog_text(connection)


@contextmanager
def copy_of(database: Database) -> Iterator[Database]:
    """The same database under another name, while the block lasts."""
    database.close()
    url = make_url(database.url)
    if database.path is not None:
        file = shutil.copy(database.path, database.path.with_name("copy.db"))
        with closing(Database(f"sqlite:///{file}")) as copy:
            yield copy
        return
    server = PostgresServer(str(url.query["host"]))
    with closing(Database(server.create("copy", template=str(url.database)))) as copy:
        yield copy
    server.drop("copy")


def table_names(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names()) - {"alembic_version"}


def test_every_revision_has_data_and_no_data_is_left_over() -> None:
    revisions, with_data = (
        {*offdiag_migrations.revisions()},
        {file.stem for file in DATA.glob("*.py")},
    )

    assert sorted(revisions - with_data) == [], f"write <revision>.py in {DATA}, like the others"
    assert sorted(with_data - revisions) == []


@pytest.mark.usefixtures("revisions_read_once")
def test_every_revision_keeps_data_and_up_down_and_up_again_ends_where_it_was(
    empty_database: Database,
) -> None:
    before, below = "base", go_to(empty_database, "base")
    unchanged = set()

    for revision in offdiag_migrations.revisions():
        data = data_of(revision)
        with copy_of(empty_database) as filled:
            with filled.write() as session:
                execute(session.connection(), *data.LOADED)
            go_to(filled, revision)
            with filled.write() as session:
                data.check(session.connection())

        above = go_to(empty_database, revision)
        assert go_to(empty_database, before, down=True) == below, revision
        assert go_to(empty_database, revision) == above, revision
        if above == below:
            unchanged.add(revision)
        before, below = revision, above

    assert unchanged == CHANGES_ONLY_DATA
    go_to(empty_database, "base", down=True)
    with empty_database.read() as session:
        assert table_names(session.connection()) == set()
