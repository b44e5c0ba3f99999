"""`offdiag db upgrade` and `offdiag db check`."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import busy, print_json

if TYPE_CHECKING:
    from offdiag.store.schema import SchemaState


@click.group()
def db() -> None:
    """Look after the schema of the database."""


@db.command()
@url_option
def upgrade(url: str | None) -> None:
    """Bring the database to the schema of this version; create it if it is empty."""
    from offdiag.store import schema
    from offdiag.store.database import Database

    with closing(Database(settings_for(url).database.url)) as database:
        before = schema.check(database)
        with busy(f"Upgrading {database.place}"):
            after = schema.upgrade(database)
    done = "was current already" if before.current == after.current else "is current now"
    click.echo(f"{database.place} {done}: schema {after.current}")


@db.command()
@url_option
@json_option
@click.pass_context
def check(context: click.Context, url: str | None, as_json: bool) -> None:
    """Say which schema the database has. Exit code 1 if it is not the one that is needed."""
    from offdiag.store import schema
    from offdiag.store.database import Database

    with closing(Database(settings_for(url).database.url)) as database:
        state = schema.check(database)
    if as_json:
        print_json(
            {
                "database": database.place,
                "current": state.current,
                "head": state.head,
                "is_current": state.is_current,
                "is_newer": state.is_newer,
            }
        )
    else:
        click.echo(f"{database.place}: {_verdict(state)}")
    if not state.is_current:
        context.exit(1)


def _verdict(state: SchemaState) -> str:
    if state.is_current:
        return f"schema {state.current} is current"
    if state.is_newer:
        return f"schema {state.current} is newer than this offdiag; install a newer one"
    found = "empty" if state.current is None else f"schema {state.current}"
    return f"{found}, needed is {state.head}; run: offdiag db upgrade"
