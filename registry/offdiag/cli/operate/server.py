"""`offdiag server init`: the files, the schema and the first admin of a team server."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

import offdiag
from offdiag.cli.options import help_text, json_option, read_password
from offdiag.cli.output import busy, print_json
from offdiag.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from offdiag.store.database import Database

WEB, WORKER, BACKUP = "offdiag-web.service", "offdiag-worker.service", "offdiag-backup.timer"
_UNITS = (WEB, WORKER, "offdiag-backup.service", BACKUP)
_GUNICORN = "gunicorn.conf.py"


@dataclass(frozen=True, slots=True)
class TeamServer:
    """The values in the files; `database_url` has no password."""

    database_url: str
    database_password: str | None
    host: str
    port: int
    folder: Path
    units: Path

    def files(self) -> Mapping[Path, str]:
        """The text of each file. Raises `InvalidInput` for a password that no file can contain."""
        written = {
            self.folder / "offdiag.toml": self._settings(),
            self.secrets_file: self._secrets(),
            self.folder / _GUNICORN: _example(f"{_GUNICORN}.example").replace(
                "127.0.0.1:8642", f"127.0.0.1:{self.port}"
            ),
        }
        return written | {
            self.units / name: self._at_home(_example(f"systemd/{name}")) for name in _UNITS
        }

    @property
    def secrets_file(self) -> Path:
        """The one file that only its owner can read."""
        return self.folder / "secrets.env"

    def _settings(self) -> str:
        return f"""\
# Written by `offdiag server init`. docs/configuration.md lists all settings.

[database]
# The password is in secrets.env.
url = {json.dumps(self.database_url)}

[server]
public_url = {json.dumps(f"https://{self.host}")}
trusted_hosts = {json.dumps(self.host)}
# The proxy with TLS in front of the server.
trusted_proxies = 1

[access]
auth = "required"
"""

    def _secrets(self) -> str:
        values = {"OFFDIAG_SERVER__SECRET_KEY": secrets.token_hex(32)}
        if self.database_password is not None:
            values["PGPASSWORD"] = self.database_password
        return "".join(f"{name}={_quoted(value)}\n" for name, value in values.items())

    def _at_home(self, unit: str) -> str:
        """The unit with the folders of this installation."""
        return unit.replace("/opt/offdiag/bin", str(Path(sys.prefix) / "bin")).replace(
            "/etc/offdiag", str(self.folder)
        )


def _quoted(value: str) -> str:
    """A value quoted for both systemd and a shell."""
    if "'" in value or "\n" in value:
        raise InvalidInput(
            "the password of the database has a single quote or a line break.",
            field="database",
            hint="Change it; environment files allow neither.",
        )
    return f"'{value}'"


def _example(name: str) -> str:
    """A file of `config/`, which is a separate folder in an installed package."""
    package = Path(offdiag.__file__).parent
    places = (package / "team" / name, package.parents[1] / "config" / name)
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")


def require_absent(files: Mapping[Path, str]) -> None:
    """Raise `InvalidInput`, naming the files that exist."""
    there = [str(file) for file in files if file.exists()]
    if there:
        raise InvalidInput(
            f"{', '.join(there)} exist, and nothing was changed.",
            field="folder",
            hint="Remove them to begin again, or name another --folder and --units.",
        )


def write_all(server: TeamServer, files: Mapping[Path, str]) -> None:
    """Write all files or none. Raises `InvalidInput`."""
    written: list[Path] = []
    try:
        for file in _with_folders(files):
            with file.open("x", encoding="utf-8") as stream:
                written.append(file)
                file.chmod(0o600 if file == server.secrets_file else 0o644)
                stream.write(files[file])
    except OSError as error:
        for file in written:
            file.unlink(missing_ok=True)
        raise InvalidInput(
            f"{error.filename} cannot be written: {error.strerror}; no file was left.",
            field="folder",
            hint="Run it as root, or name folders of yours with --folder and --units.",
        ) from error


def _with_folders(files: Mapping[Path, str]) -> Iterator[Path]:
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        yield file


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
    help="Local port to which the TLS proxy forwards requests.",
)
@click.option(
    "--folder",
    type=_FOLDER,
    default="/etc/offdiag",
    show_default=True,
    help="Folder of settings and secrets.",
)
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

    Everyone has to sign in. Existing files are listed and not replaced. An existing schema or
    admin is kept.
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
    """The team server, and its database URL with the password."""
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
            f"{host!r} is not a host name.", field="host", hint="Write it as registry.example.org."
        )
    password = url.password or os.environ.get("PGPASSWORD")
    whole = url.set(password=password)
    plain = whole._replace(password=None)  # `set` reads None as no change.
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
