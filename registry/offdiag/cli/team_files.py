"""The files of a team server: settings, secrets, gunicorn and systemd units."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import offdiag
from offdiag.errors import InvalidInput

WEB, WORKER, BACKUP = "offdiag-web.service", "offdiag-worker.service", "offdiag-backup.timer"
_UNITS = (WEB, WORKER, "offdiag-backup.service", BACKUP)
_GUNICORN = "gunicorn.conf.py"


@dataclass(frozen=True, slots=True)
class TeamServer:
    """What the files are about; `database_url` has no password."""

    database_url: str
    database_password: str | None
    host: str
    port: int
    folder: Path
    units: Path

    def files(self) -> Mapping[Path, str]:
        """The text of each file. Raises `InvalidInput` for a password no file can have."""
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
        """The one file that only its owner may read."""
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
    """A value that systemd and a shell read alike."""
    if "'" in value or "\n" in value:
        raise InvalidInput(
            "the password of the database has a single quote or a line break.",
            field="database",
            hint="Change it; no file of variables can have one.",
        )
    return f"'{value}'"


def _example(name: str) -> str:
    """A file of `config/`, which an installed package has in a folder of its own."""
    package = Path(offdiag.__file__).parent
    places = (package / "team" / name, package.parents[1] / "config" / name)
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")


def require_absent(files: Mapping[Path, str]) -> None:
    """Raise `InvalidInput` that names the files that exist."""
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
