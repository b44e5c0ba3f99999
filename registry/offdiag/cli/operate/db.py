"""`offdiag db …`: upgrade, check, back up, restore and copy the database."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, database_options, database_url
from offdiag.cli.options import help_text, json_option
from offdiag.cli.output import busy, measured, note, print_json

if TYPE_CHECKING:
    from offdiag.store.archive.file import Manifest
    from offdiag.store.database import Database
    from offdiag.store.schema import SchemaState

_FILE = click.Path(path_type=Path)


@click.group()
def db() -> None:
    """Upgrade, check, back up, restore and copy the database."""


@help_text("db upgrade", "db upgrade --json", see=("db check", "db backup"))
@db.command()
@database_options
def upgrade(call: Call) -> None:
    """Upgrade the schema to this version; create it in an empty database."""
    from offdiag.store import schema
    from offdiag.store.database import Database

    with closing(Database(database_url(call.settings))) as database:
        before = schema.check(database)
        with busy(f"Upgrading {database.place}"):
            after = schema.upgrade(database)
    done = "was current already" if before.current == after.current else "is current now"
    call.print(
        {"database": database.place, "before": before.current, "current": after.current},
        f"{database.place} {done}: schema {after.current}",
    )


@help_text(
    "db check",
    "db check --json",
    see=("db upgrade", "doctor"),
    no="the schema is not current",
)
@db.command()
@database_options
@click.pass_context
def check(context: click.Context, call: Call) -> None:
    """Check the schema version of the database."""
    from offdiag.store import schema
    from offdiag.store.database import Database

    with closing(Database(database_url(call.settings))) as database:
        state = schema.check(database)
    call.print(
        {
            "database": database.place,
            "current": state.current,
            "head": state.head,
            "is_current": state.is_current,
            "is_newer": state.is_newer,
        },
        f"{database.place}: {_verdict(state)}",
    )
    if not state.is_current:
        context.exit(1)


@help_text(
    "db backup registry.zip",
    see=("db restore", "verify"),
    arguments={"file": "File to write; it must not exist yet."},
)
@db.command()
@click.argument("file", type=_FILE)
@database_options
def backup(*, file: Path, call: Call) -> None:
    """Back up the whole registry to FILE, in a consistent state.

    Others can keep working meanwhile. FILE must not exist yet. Only you can read it, because it
    contains all data of all projects.
    """
    from offdiag.cli.log.archive_text import archive_dict, backup_sentence
    from offdiag.services.retention.backups import back_up
    from offdiag.store.database import Database

    with (
        closing(Database(database_url(call.settings))) as database,
        measured(f"Backing up {database.place}") as progress,
    ):
        manifest = back_up(database, file, progress=progress)
    call.print(archive_dict(file, manifest), backup_sentence(file, manifest))


@help_text(
    "db restore registry.zip --url sqlite:///restored.db",
    see=("db backup", "verify"),
    arguments={"file": "Backup that `offdiag db backup` wrote."},
)
@db.command()
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Replace a registry in the database without asking.")
@database_options
def restore(*, file: Path, force: bool, call: Call) -> None:
    """Restore the backup in FILE into an empty database, SQLite or PostgreSQL.

    If it fails, the database stays as it was. A database that is not empty is replaced only
    after confirmation, or with --force.
    """
    from offdiag.cli.log.archive_text import archive_dict, restored_sentence
    from offdiag.services.retention.backups import read_backup
    from offdiag.services.retention.backups import restore as restore_backup
    from offdiag.store.database import Database

    found = read_backup(file)
    with closing(Database(database_url(call.settings))) as database:
        replace = force or _agreed(database, found)
        with measured(f"Restoring {database.place}") as progress:
            manifest = restore_backup(database, file, force=replace, progress=progress)
    if call.as_json:
        print_json({"database": database.place, **archive_dict(file, manifest)})
    else:
        click.echo(restored_sentence(database.place, manifest))
        note("`offdiag verify` recomputes its results and compares them.")


@help_text(
    "db copy sqlite:///offdiag.db postgresql+psycopg://db.example.org/offdiag",
    see=("db backup", "verify"),
    arguments={"source": "URL of the database to read.", "target": "URL of an empty database."},
)
@db.command()
@click.argument("source")
@click.argument("target")
@click.option("--force", is_flag=True, help="Replace a registry in the target.")
@json_option
def copy(*, source: str, target: str, force: bool, as_json: bool) -> None:
    """Copy the registry at the database URL SOURCE to TARGET, e.g. from SQLite to PostgreSQL.

    Every row is read back and compared by digest before anything is committed. TARGET must be
    empty, unless --force replaces it. SOURCE does not change. First stop all clients that log to
    SOURCE: runs logged after the copy starts are not copied.
    """
    from offdiag.cli.log.archive_text import counts_in_words
    from offdiag.services.retention.backups import copy_registry
    from offdiag.store.database import Database

    with (
        closing(Database(source)) as old,
        closing(Database(target)) as new,
        measured(f"Copying {old.place}") as progress,
    ):
        manifest = copy_registry(old, new, force=force, progress=progress)
    if as_json:
        print_json(
            {
                "source": old.place,
                "target": new.place,
                "schema": manifest.schema,
                "rows": dict(manifest.rows_by_table),
            }
        )
        return
    click.echo(
        f"{new.place} contains {counts_in_words(manifest.rows_by_table)}; every row was compared."
    )
    note("Name it in OFFDIAG_URL or offdiag.toml; `offdiag verify` recomputes its results.")


@help_text("db views --reader metabase", "db views --remove", see=("sql", "db upgrade"))
@db.command()
@click.option("--reader", "given", multiple=True, metavar="ROLE", help="Grant a role read access.")
@click.option("--remove", is_flag=True, help="Remove the views.")
@database_options
def views(*, given: tuple[str, ...], remove: bool, call: Call) -> None:
    """Create views for BI tools in a PostgreSQL database.

    The views are in the schema offdiag_bi. An existing ROLE gets read access to the views and
    nothing else. Upgrading and restoring the registry keep the views and the access.
    """
    from offdiag.store.bi_views import SCHEMA, publish_views, remove_views
    from offdiag.store.database import Database
    from offdiag.store.schema import require_schema

    if remove and given:
        raise click.UsageError("--remove and --reader exclude each other.")
    with closing(Database(database_url(call.settings))) as database:
        require_schema(database)
        if remove:
            remove_views(database)
            call.print(
                {"database": database.place, "schema": None}, f"{database.place} has no views now."
            )
            return
        published = publish_views(database, given)
    if call.as_json:
        print_json({"database": database.place, "schema": SCHEMA, **published.to_dict()})
        return
    names = ", ".join(published.views)
    readers = ", ".join(published.readers) or "no role yet; name a --reader"
    click.echo(f"{database.place} has the views {names} in the schema {SCHEMA}.")
    click.echo(f"Read access: {readers}.")
    for statement in published.left_to_do:
        note(f"An administrator of the server should run: {statement};")


def _agreed(database: Database, found: Manifest) -> bool:
    """Ask whether to replace the registry, if there is one and a terminal for the question."""
    from offdiag.cli.log.archive_text import replacing_question
    from offdiag.services.retention.backups import holds_a_registry

    if not (sys.stdin.isatty() and sys.stderr.isatty() and holds_a_registry(database)):
        return False
    return click.confirm(replacing_question(database.place, found), err=True)


def _verdict(state: SchemaState) -> str:
    if state.is_current:
        return f"schema {state.current} is current"
    if state.is_newer:
        return f"schema {state.current} is newer than this offdiag; install a newer one"
    found = "empty" if state.current is None else f"schema {state.current}"
    return f"{found}, required: {state.head}. Run: offdiag db upgrade"
