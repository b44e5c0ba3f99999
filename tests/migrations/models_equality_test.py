"""The tables that migrations make are the tables that the models describe, to the last check.

Alembic's own comparison overlooks the text of checks and the predicates of partial indexes, so
this one reads what the database itself says.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, MetaData

from offdiag.store.database import Database
from offdiag.store.models import Base
from offdiag.store.schema import upgrade
from support.schema_text import schema_parts


def migrated(database: Database) -> dict[str, list[str]]:
    """The schema after all migrations."""
    upgrade(database)
    with database.read() as session:
        return schema_parts(session.connection())


def created(database: Database, metadata: MetaData) -> dict[str, list[str]]:
    """The schema of a metadata in an empty database, which is empty again afterwards."""
    with database.migrate() as connection, connection.begin_nested() as made:
        metadata.create_all(connection)
        parts = schema_parts(connection)
        made.rollback()
        return parts


def altered() -> MetaData:
    """The models with a change of each kind that could be overlooked, in `CHANGED`."""
    metadata = MetaData(naming_convention=Base.metadata.naming_convention)
    for table in Base.metadata.tables.values():
        table.to_metadata(metadata)
    run, work = metadata.tables["run"], metadata.tables["work"]
    run.constraints.remove(
        next(
            check
            for check in run.constraints
            if isinstance(check, CheckConstraint) and str(check.sqltext).startswith("state IN")
        )
    )
    run.append_constraint(CheckConstraint("state <> ''", name="state"))
    (index,) = (index for index in work.indexes if index.name == "uq_work_key_todo")
    index.dialect_options["sqlite"]["where"] = None
    index.dialect_options["postgresql"]["where"] = None
    work.c.attempts.server_default = None
    (reference,) = metadata.tables["evaluation"].c.run_id.foreign_keys
    assert reference.constraint is not None
    reference.constraint.ondelete = None
    metadata.tables["project"].c.name.nullable = True
    return metadata


CHANGED = ("ck_run_state", "uq_work_key_todo", "attempts", "fk_evaluation_run_id", "name ")


def test_migrations_make_what_the_models_describe(empty_database: Database) -> None:
    by_models = created(empty_database, Base.metadata)

    assert migrated(empty_database) == by_models


def test_the_comparison_notices(empty_database: Database) -> None:
    before, after = (
        {(head, part) for head, parts in found.items() for part in (head, *parts)}
        for found in (
            created(empty_database, Base.metadata),
            created(empty_database, altered()),
        )
    )

    for gone in (before - after, after - before):
        assert len(gone) == len(CHANGED), gone
        assert all(any(name in part for _, part in gone) for name in CHANGED), gone
