"""`offdiag server init`: the files, the schema and the first admin of a team server."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.access import read_password
from offdiag.cli.options import help_text, json_option
from offdiag.cli.output import busy, print_json
from offdiag.cli.team_files import (
    BACKUP,
    WEB,
    WORKER,
    TeamServer,
    require_absent,
    write_all,
)
from offdiag.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from offdiag.store.database import Database

_FOLDER = click.Path(path_type=Path, file_okay=False)
_START = f"systemctl daemon-reload && systemctl enable --now {WEB} {WORKER} {BACKUP}"


@click.group()
def server() -> None:
    """Set up a team server."""


@help_text(
    "server init --database postgresql://offdiag@db.example.org/offdiag "
    "--host registry.example.org --admin ada",
    see=("user add", "token create", "doctor"),
)
@server.command()
@click.option(
    "--database",
    "database_url",
    required=True,
    metavar="URL",
    help="PostgreSQL database, as postgresql://user@host/name; the password may be in PGPASSWORD.",
)
@click.option("--host", required=True, metavar="NAME", help="Public host name of the server.")
@click.option("--admin", required=True, metavar="NAME", help="First admin; asks for a password.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8642,
    show_default=True,
    help="Local port that the proxy with TLS passes requests to.",
)
@click.option("--folder", type=_FOLDER, default="/etc/offdiag", show_default=True)
@click.option(
    "--units",
    type=_FOLDER,
    default="/etc/systemd/system",
    show_default=True,
    help="Folder of systemd units.",
)
@click.option(
    "--password-stdin", is_flag=True, help="Read the password of the admin from standard input."
)
@json_option
def init(
    *,
    database_url: str,
    host: str,
    admin: str,
    port: int,
    folder: Path,
    units: Path,
    password_stdin: bool,
    as_json: bool,
) -> None:
    """Write settings, secrets and systemd units, and create schema and first admin.

    Everyone has to sign in. Files that exist are named and not replaced. A schema or an admin
    that exists is kept.
    """
    from offdiag.store import schema
    from offdiag.store.database import Database

    team, whole_url = _team_server(database_url, host, port, folder.absolute(), units.absolute())
    files = team.files()
    require_absent(files)
    with closing(Database(whole_url)) as database:
        schema.check(database)
        with busy(f"Creating the schema in {database.place}"):
            schema.upgrade(database)
        is_new = _is_new(database, admin)
        if is_new:
            _add_admin(database, admin, read_password(from_stdin=password_stdin))
        write_all(team, files)
        place = database.place
    if as_json:
        print_json(
            {
                "database": place,
                "admin": admin,
                "admin_created": is_new,
                "files": [str(file) for file in files],
                "start": _START,
            }
        )
        return
    click.echo(f"{place} has the schema, and {admin} {'is' if is_new else 'was already'} there.")
    for file in files:
        click.echo(f"  {file}")
    click.echo(f"Start: {_START}")
    click.echo(f"The proxy with TLS for https://{host} passes requests to 127.0.0.1:{port}.")


def _team_server(
    database_url: str, host: str, port: int, folder: Path, units: Path
) -> tuple[TeamServer, str]:
    """What is set up, and the URL of its database with the password."""
    from offdiag.store.address import parse_url

    url = parse_url(database_url)
    if url.get_backend_name() != "postgresql":
        raise InvalidInput(
            "a team server needs a PostgreSQL database.",
            field="database",
            hint="Write postgresql://user@host/name; `offdiag serve` uses a file.",
        )
    if "/" in host or ":" in host or not host.strip():
        raise InvalidInput(
            f"{host!r} is no host name.", field="host", hint="Write it as registry.example.org."
        )
    password = url.password or os.environ.get("PGPASSWORD")
    whole = url.set(password=password)
    plain = whole._replace(password=None)  # `set` takes None for no change.
    team = TeamServer(plain.render_as_string(), password, host.strip(), port, folder, units)
    return team, whole.render_as_string(hide_password=False)


def _is_new(database: Database, admin: str) -> bool:
    from offdiag.services.access.users import find_user

    try:
        find_user(database, admin)
    except NotFound:
        return True
    return False


def _add_admin(database: Database, name: str, password: str) -> None:
    from offdiag.domain.access import Grant, Role
    from offdiag.services.access.users import add_user

    add_user(database, name=name, password=password, grants=(Grant(Role.ADMIN),))
