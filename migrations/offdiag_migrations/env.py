"""The Alembic environment: runs inside the transaction it is given, and silently.

`offdiag.store.schema` passes an open connection, so that a whole upgrade is one transaction
under one lock. On the command line of Alembic, which only authors of revisions use,
`-x url=…` names the database.
"""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from offdiag.store.database import Database
from offdiag.store.models import Base


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        transactional_ddl=True,
        # SQLite alters tables by making new ones.
        render_as_batch=connection.dialect.name == "sqlite",
        # Without these, comparing models with a database overlooks defaults and named checks.
        compare_server_default=True,
        autogenerate_plugins=["alembic.autogenerate.*", "alembic.ext.checkconstraint_byname"],
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    database = Database(context.get_x_argument(as_dictionary=True)["url"])
    with database.migrate() as own:
        run(own)
    database.close()
