"""`offdiag db …`: look after the database as a whole."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.help_text import help_text
from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import busy, measured, note, print_json

if TYPE_CHECKING:
    from offdiag.store.archive.file import Manifest
    from offdiag.store.database import Database
    from offdiag.store.schema import SchemaState

_FILE = click.Path(path_type=Path)


@click.group()
def db() -> None:
    """Look after the database: its schema, backups of it, and registries out of backups."""


@help_text("db upgrade", "db upgrade --json", see=("db check", "db backup"))
@db.command()
@url_option
@json_option
def upgrade(url: str | None, as_json: bool) -> None:
    """Bring the database to the schema of this version; create it if it is empty."""
    from offdiag.store import schema
    from offdiag.store.database import Database

    with closing(Database(settings_for(url).database.url)) as database:
        before = schema.check(database)
        with busy(f"Upgrading {database.place}"):
            after = schema.upgrade(database)
    if as_json:
        print_json(
            {"database": database.place, "before": before.current, "current": after.current}
        )
        return
    done = "was current already" if before.current == after.current else "is current now"
    click.echo(f"{database.place} {done}: schema {after.current}")


@help_text(
    "db check",
    "db check --json",
    see=("db upgrade", "doctor"),
    no="the schema is not the one that is needed",
)
@db.command()
@url_option
@json_option
@click.pass_context
def check(context: click.Context, url: str | None, as_json: bool) -> None:
    """Say which schema the database has."""
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


@help_text(
    "db backup registry.zip",
    see=("db restore", "verify"),
    arguments={"file": "File to write; it must not exist yet."},
)
@db.command()
@click.argument("file", type=_FILE)
@url_option
@json_option
def backup(*, file: Path, url: str | None, as_json: bool) -> None:
    """Write the whole registry into FILE, as it is at one moment.

    Others go on working meanwhile. FILE must not exist yet, and only you will be able to read
    it: it holds everything, of every project.
    """
    from offdiag.cli.archive_text import archive_dict, backup_sentence
    from offdiag.services.retention.backups import back_up
    from offdiag.store.database import Database

    with (
        closing(Database(settings_for(url).database.url)) as database,
        measured(f"Backing up {database.place}") as progress,
    ):
        manifest = back_up(database, file, progress=progress)
    if as_json:
        print_json(archive_dict(file, manifest))
    else:
        click.echo(backup_sentence(file, manifest))


@help_text(
    "db restore registry.zip --url sqlite:///restored.db",
    see=("db backup", "verify"),
    arguments={"file": "Backup that `offdiag db backup` wrote."},
)
@db.command()
@click.argument("file", type=_FILE)
@click.option("--force", is_flag=True, help="Replace what the database holds, without asking.")
@url_option
@json_option
def restore(*, file: Path, force: bool, url: str | None, as_json: bool) -> None:
    """Fill an empty database with the backup in FILE, of whichever kind it was made.

    Whatever goes wrong, the database stays as it was. One that holds something is replaced only
    after a question, or with --force.
    """
    from offdiag.cli.archive_text import archive_dict, restored_sentence
    from offdiag.services.retention.backups import read_backup
    from offdiag.services.retention.backups import restore as restore_backup
    from offdiag.store.database import Database

    found = read_backup(file)
    with closing(Database(settings_for(url).database.url)) as database:
        replace = force or _agreed(database, found)
        with measured(f"Restoring {database.place}") as progress:
            manifest = restore_backup(database, file, force=replace, progress=progress)
    if as_json:
        print_json({"database": database.place, **archive_dict(file, manifest)})
    else:
        click.echo(restored_sentence(database.place, manifest))
        note("`offdiag verify` computes its results again and compares them.")


@help_text(
    "db copy sqlite:///offdiag.db postgresql+psycopg://db.example.org/offdiag",
    see=("db backup", "verify"),
    arguments={"source": "URL of the database to read.", "target": "URL of an empty one."},
)
@db.command()
@click.argument("source")
@click.argument("target")
@click.option("--force", is_flag=True, help="Replace what the target holds.")
@json_option
def copy(*, source: str, target: str, force: bool, as_json: bool) -> None:
    """Copy the registry at the database URL SOURCE to TARGET, as from SQLite to PostgreSQL.

    Every row is read back and compared by digest before anything is committed. TARGET must be
    empty, or is replaced with --force. SOURCE stays as it is: stop those who log to it first,
    because what comes after the moment of the copy is not in it.
    """
    from offdiag.cli.archive_text import counts_in_words
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
    click.echo(f"{new.place} holds {counts_in_words(manifest.rows_by_table)}, every row compared.")
    note("Name it in OFFDIAG_URL or offdiag.toml; `offdiag verify` computes its results again.")


@help_text("db views --reader metabase", "db views --remove", see=("sql", "db upgrade"))
@db.command()
@click.option("--reader", "given", multiple=True, metavar="ROLE", help="Let a role read them.")
@click.option("--remove", is_flag=True, help="Remove them instead.")
@url_option
@json_option
def views(*, given: tuple[str, ...], remove: bool, url: str | None, as_json: bool) -> None:
    """Make the views that dashboards of others read, in a PostgreSQL database.

    They lie in the schema offdiag_bi. A ROLE that was given them can read them and nothing else;
    it has to exist. Upgrading and restoring the registry keep both.
    """
    from offdiag.store.bi import SCHEMA, publish_views, remove_views
    from offdiag.store.database import Database
    from offdiag.store.schema import require_schema

    if remove and given:
        raise click.UsageError("--remove and --reader exclude each other.")
    with closing(Database(settings_for(url).database.url)) as database:
        require_schema(database)
        if remove:
            remove_views(database)
            if as_json:
                print_json({"database": database.place, "schema": None})
            else:
                click.echo(f"{database.place} has no views any more.")
            return
        published = publish_views(database, given)
    if as_json:
        print_json({"database": database.place, "schema": SCHEMA, **published.to_dict()})
        return
    names = ", ".join(published.views)
    readers = ", ".join(published.readers) or "nobody yet; name a --reader"
    click.echo(f"{database.place} has the views {names} in the schema {SCHEMA}.")
    click.echo(f"They are read by {readers}.")
    for statement in published.left_to_do:
        note(f"An administrator of the server should run: {statement};")


def _agreed(database: Database, found: Manifest) -> bool:
    """Ask whether to replace a registry, if there is one and somebody who can answer."""
    from offdiag.cli.archive_text import replacing_question
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
    return f"{found}, needed is {state.head}; run: offdiag db upgrade"
