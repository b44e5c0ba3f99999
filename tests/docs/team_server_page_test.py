"""The page of the team server, executed as a script, and what `offdiag server init` refuses."""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql

from offdiag.cli.commands import run
from support.page_blocks import blocks
from support.postgres import PostgresServer, started_cluster

PASSWORD = "correct horse battery"
ADDRESS = "https://registry.example.org"
BIN = Path(sys.executable).parent

SYSTEMCTL = '''\
#!{python}
"""Starts the services of units as systemd would, and waits until the dashboard is ready."""
import os, shlex, subprocess, sys, time, urllib.request
from configparser import ConfigParser
from pathlib import Path

units, port, log = Path({units!r}), {port}, Path({log!r})
for name in sys.argv[3:]:
    unit = ConfigParser(interpolation=None, comment_prefixes=("#",))
    unit.optionxform = str
    assert unit.read(units / (name if "." in name else f"{{name}}.service"))
    if "Service" not in unit:
        continue
    service = unit["Service"]
    pairs = [service["Environment"]]
    pairs += Path(service["EnvironmentFile"]).read_text().splitlines()
    environment = {{key: text.strip("'") for key, _, text in (p.partition("=") for p in pairs)}}
    with log.open("ab") as stream:
        started = subprocess.Popen(
            shlex.split(service["ExecStart"]), cwd=log.parent, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
            env={{"PATH": os.environ["PATH"], "HOME": str(log.parent), **environment}},
        )
    with (log.parent / "pids").open("a") as pids:
        print(started.pid, file=pids)
give_up_at = time.monotonic() + 60
while True:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{{port}}/readyz", timeout=10)
        break
    except OSError:
        assert time.monotonic() < give_up_at, log.read_text()[-2000:]
        time.sleep(0.1)
'''


@pytest.fixture(scope="module")
def cluster() -> Iterator[PostgresServer]:
    """A server of its own that asks the role `offdiag` for a password."""
    with started_cluster() as started:
        server = PostgresServer(str(started.get_postmaster_info().socket_dir))
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE ROLE offdiag LOGIN PASSWORD {}").format(sql.Literal(PASSWORD))
            )
            connection.execute("CREATE DATABASE offdiag OWNER offdiag")
            rules = Path(str(started.pgdata)) / "pg_hba.conf"
            rules.write_text(
                f"local all offdiag scram-sha-256\n{rules.read_text(encoding='utf-8')}",
                encoding="utf-8",
            )
            connection.execute("SELECT pg_reload_conf()")
        yield server


def url_of(cluster: PostgresServer, *, user: str = "offdiag", name: str = "offdiag") -> str:
    return f"postgresql://{user}@/{name}?host={cluster.socket_folder}"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder for everything; the processes that the script started end with the test."""
    yield tmp_path
    pids = tmp_path / "pids"
    for line in pids.read_text().splitlines() if pids.exists() else ():
        with suppress(ProcessLookupError):
            os.killpg(int(line), signal.SIGKILL)


def script_of_the_page(folder: Path, database_url: str, port: int) -> str:
    """The commands of the page, with the places of this machine in place of its own."""
    wanted = [
        block.text
        for block in blocks("console")
        if block.page == "docs/team-server.md"
        and any(word in block.text for word in ("server init", "token create", "OFFDIAG_TOKEN"))
    ]
    text = "\n".join(re.sub(r"^\$ ", "", block, flags=re.MULTILINE) for block in wanted)
    etc = folder / "etc"
    places = f"--folder {etc} --units {folder / 'units'}"
    for of_the_page, here in (
        ("PGPASSWORD=…", f"PGPASSWORD={shlex.quote(PASSWORD)}"),
        (
            "--admin ada",
            f"--admin ada {places} --port {port} --password-stdin <<< {shlex.quote(PASSWORD)}",
        ),
        ("postgresql://offdiag@db.example.org/offdiag", shlex.quote(database_url)),
        ("/etc/offdiag", str(etc)),
        ("/opt/offdiag/bin", str(BIN)),
        (f"{BIN}/offdiag token create nightly --user ada", "MADE=$({0})"),
        ("OFFDIAG_TOKEN=…", "OFFDIAG_TOKEN=$MADE"),
        (f"OFFDIAG_URL={ADDRESS}", f"OFFDIAG_URL=http://127.0.0.1:{port}"),
    ):
        assert of_the_page in text, of_the_page
        text = text.replace(of_the_page, here.replace("{0}", of_the_page))
    return f"set -eu\n{text}\n"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def clean_environment(folder: Path) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if "OFFDIAG" not in name}
    return {**kept, "PATH": f"{folder / 'bin'}:{BIN}:{os.environ['PATH']}", "HOME": str(folder)}


@dataclass(frozen=True)
class Refusal:
    """The exit code of a call and what it said to the person who made it."""

    code: int
    said: str


@pytest.fixture
def init(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Refusal]:
    """`offdiag server init` with a password from the standard input."""
    for name in [name for name in os.environ if "OFFDIAG" in name]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(folder)

    def call(
        url: str, *, host: str = "registry.example.org", pgpassword: str = PASSWORD
    ) -> Refusal:
        monkeypatch.setenv("PGPASSWORD", pgpassword)
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
        capfd.readouterr()
        code = run(
            [
                *("server", "init", "--database", url, "--host", host, "--admin", "bo"),
                *("--folder", str(folder / "etc"), "--units", str(folder / "units")),
                "--password-stdin",
            ]
        )
        return Refusal(code, capfd.readouterr().err)

    return call


def test_the_page_brings_up_a_server_that_takes_runs_and_asks_people_to_sign_in(
    cluster: PostgresServer, folder: Path, init: Callable[..., Refusal]
) -> None:
    port = free_port()
    (folder / "bin").mkdir()
    (folder / "predictions.csv").write_text("y_true,y_pred\na,a\nb,a\n", encoding="utf-8")
    systemctl = folder / "bin" / "systemctl"
    systemctl.write_text(
        SYSTEMCTL.format(
            python=sys.executable,
            units=str(folder / "units"),
            port=port,
            log=str(folder / "services.log"),
        ),
        encoding="utf-8",
    )
    systemctl.chmod(0o755)
    script = script_of_the_page(folder, url_of(cluster), port)

    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=clean_environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )

    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    listed = [line.split() for line in done.stdout.splitlines() if "holdout" in line.split()]
    assert [line[1] for line in listed] == ["first"]
    page = httpx.get(f"http://127.0.0.1:{port}/", headers={"Host": "registry.example.org"})
    assert page.status_code == 401
    assert 'name="password"' in page.text
    assert httpx.get(f"http://127.0.0.1:{port}/api/v1/runs").status_code == 401
    secrets = folder / "etc" / "secrets.env"
    assert secrets.stat().st_mode & 0o777 == 0o600
    assert PASSWORD in secrets.read_text(encoding="utf-8")
    others = [file for file in (folder / "etc").iterdir() if file != secrets and file.is_file()]
    assert all(PASSWORD not in file.read_text(encoding="utf-8") for file in others)
    assert PASSWORD not in done.stdout + done.stderr

    # A second call names what exists, and changes nothing.
    before = {file: file.read_text() for file in (secrets, *others)}
    (folder / "units" / "offdiag-web.service").unlink()
    second = init(url_of(cluster))
    assert second.code == 2
    assert str(folder / "etc" / "offdiag.toml") in second.said
    assert "nothing was changed" in second.said
    assert not (folder / "units" / "offdiag-web.service").exists()
    assert {file: file.read_text() for file in (secrets, *others)} == before


def test_wrong_host_wrong_password_and_missing_database_are_three_errors(
    cluster: PostgresServer, folder: Path, init: Callable[..., Refusal]
) -> None:
    host = init("postgresql://offdiag@no-such-host.invalid/offdiag")
    password = init(url_of(cluster), pgpassword="wrong")
    user = init(url_of(cluster, user="nobody"))
    database = init(url_of(cluster, name="elsewhere"))
    kind = init("sqlite:///team.db")
    name = init(url_of(cluster), host=ADDRESS)

    assert {each.code for each in (host, password, user, database, kind, name)} == {2}
    assert "the host name is unknown" in host.said
    for refused in (password, user):
        assert "refuses this user or password" in refused.said
        assert "PGPASSWORD" in refused.said
    assert "no such database" in database.said
    assert "createdb" in database.said
    assert "needs a PostgreSQL database" in kind.said
    assert "is not a host name" in name.said
    assert not (folder / "etc").exists()
