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


def without_a_check(metadata: MetaData) -> None:
    constraints = metadata.tables["run"].constraints
    constraints.remove(
        next(
            check
            for check in constraints
            if isinstance(check, CheckConstraint) and str(check.sqltext).startswith("state IN")
        )
    )


def with_another_check(metadata: MetaData) -> None:
    without_a_check(metadata)
    metadata.tables["run"].append_constraint(CheckConstraint("state <> ''", name="state"))


def without_an_index_predicate(metadata: MetaData) -> None:
    index = next(
        index for index in metadata.tables["work"].indexes if index.name == "uq_work_key_todo"
    )
    index.dialect_options["sqlite"]["where"] = None
    index.dialect_options["postgresql"]["where"] = None


def without_a_default(metadata: MetaData) -> None:
    metadata.tables["work"].c.attempts.server_default = None


def without_a_cascade(metadata: MetaData) -> None:
    (reference,) = metadata.tables["evaluation"].c.run_id.foreign_keys
    assert reference.constraint is not None
    reference.constraint.ondelete = None


def nullable(metadata: MetaData) -> None:
    metadata.tables["project"].c.name.nullable = True


def test_migrations_make_what_the_models_describe(empty_database: Database) -> None:
    by_models = created(empty_database, Base.metadata)

    assert migrated(empty_database) == by_models


def test_the_comparison_notices(empty_database: Database) -> None:
    by_models = created(empty_database, Base.metadata)

    for alter in (
        without_a_check,
        with_another_check,
        without_an_index_predicate,
        without_a_default,
        without_a_cascade,
        nullable,
    ):
        altered = MetaData(naming_convention=Base.metadata.naming_convention)
        for table in Base.metadata.tables.values():
            table.to_metadata(altered)
        alter(altered)

        assert created(empty_database, altered) != by_models, alter.__name__
