"""The files in `config/` are what those who read them expect, and name what exists."""

from __future__ import annotations

import ast
import re
import runpy
import shlex
import tomllib
from configparser import ConfigParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from gunicorn.config import Config

from offdiag.domain.access import Grant, Role
from offdiag.errors import InvalidInput
from offdiag.inputs.files.costs import read_weights
from offdiag.services.access.users import add_user
from offdiag.settings import load_settings
from offdiag.store.database import Database
from offdiag_web import wsgi
from support.command_lines import command_of
from support.deployed import require_setting

CONFIG = Path(__file__).parents[2] / "config"
UNITS = sorted((CONFIG / "systemd").iterdir())
SERVICES = [unit for unit in UNITS if unit.suffix == ".service"]
COMPOSE = yaml.safe_load((CONFIG.parent / "compose.yaml").read_text(encoding="utf-8"))
OURS = {
    name: service for name, service in COMPOSE["services"].items() if "offdiag" in str(service)
}


def unit(path: Path) -> dict[str, dict[str, str]]:
    """Sections of a unit. Raises `configparser.Error` for what is none."""
    parser = ConfigParser(strict=True, interpolation=None, comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as its manual says
    parser.read_string(path.read_text(encoding="utf-8"))
    return {name: dict(parser[name]) for name in parser.sections()}


@pytest.mark.parametrize("path", sorted(CONFIG.glob("*.toml")), ids=lambda path: path.name)
def test_toml_files_are_settings_or_costs(path: Path) -> None:
    content = tomllib.loads(path.read_text(encoding="utf-8"))

    if "weights" in content:
        assert set(read_weights(path).weights) == {"ill", "well"}
    else:
        load_settings({"OFFDIAG_CONFIG": str(path)}, folder=path.parent)


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.name)
def test_services_run_commands_that_exist_with_settings_that_exist(path: Path) -> None:
    service = unit(path)["Service"]

    words = shlex.split(service["ExecStart"].replace("%%", "%"))
    if words[0] == "/bin/sh":
        words = shlex.split(words[2].removeprefix("exec "))
    assert words[0].startswith("/opt/offdiag/bin/")
    program = words[0].rsplit("/", 1)[1]
    if program == "offdiag":
        assert command_of(words[1:]).callback is not None
    else:
        assert words[1:] == ["--config", "/etc/offdiag/gunicorn.conf.py"]
    require_setting(service["Environment"].partition("=")[0])
    assert service["User"] == "offdiag"


def test_the_timer_has_a_service_and_a_time() -> None:
    (timer,) = (path for path in UNITS if path.suffix == ".timer")

    assert timer.with_suffix(".service") in UNITS
    assert re.fullmatch(r"\*-\*-\* \d\d:\d\d:\d\d", unit(timer)["Timer"]["OnCalendar"])


def test_containers_run_commands_that_exist_in_an_order_that_works() -> None:
    for service in OURS.values():
        if "command" in service:
            program, *words = service["command"]
            assert program in {"offdiag", "gunicorn"}
            assert program == "gunicorn" or command_of(words).callback is not None
        for other, state in service.get("depends_on", {}).items():
            assert other in COMPOSE["services"]
            assert state["condition"] in {"service_healthy", "service_completed_successfully"}
        for variable in service.get("environment", {}):
            require_setting(variable) if "POSTGRES" not in variable else None
    assert set(COMPOSE["services"]["web"]["depends_on"]) == {"upgrade"}
    assert COMPOSE["services"]["web"]["ports"] == ["127.0.0.1:8642:8642"]
    assert COMPOSE["x-offdiag"]["build"] == "."


def test_a_team_server_has_its_public_address_and_the_word_of_its_proxy() -> None:
    kubernetes = CONFIG.parent / "deploy" / "kubernetes" / "settings.yaml"
    example = tomllib.loads((CONFIG / "team-postgres.example.toml").read_text(encoding="utf-8"))
    of_files = [
        yaml.safe_load(kubernetes.read_text(encoding="utf-8"))["data"],
        {f"OFFDIAG_SERVER__{name.upper()}": text for name, text in example["server"].items()},
    ]
    of_compose = COMPOSE["x-offdiag"]["environment"]

    for given in of_files:
        host = given["OFFDIAG_SERVER__TRUSTED_HOSTS"]
        assert given["OFFDIAG_SERVER__PUBLIC_URL"] == f"https://{host}"
    assert of_compose["OFFDIAG_SERVER__PUBLIC_URL"] == "${OFFDIAG_HOST:+https://${OFFDIAG_HOST}}"
    for given in (of_compose, *of_files):
        assert int(given["OFFDIAG_SERVER__TRUSTED_PROXIES"]) == 1
    # Gunicorn lets requests end for 30 seconds.
    assert COMPOSE["services"]["web"]["stop_grace_period"] == "45s"


def test_gunicorn_reads_its_file_and_finds_the_application() -> None:
    given: dict[str, Any] = {
        name: value
        for name, value in runpy.run_path(str(CONFIG / "gunicorn.conf.py.example")).items()
        if not name.startswith("__")
    }

    config = Config()
    for name, value in given.items():
        config.set(name, value)

    assert config.worker_class_str == "gthread"
    module, _, factory = given["wsgi_app"].partition(":")
    assert import_module(module) is wsgi
    assert factory == f"{wsgi.application.__name__}()"


def test_what_the_file_of_gunicorn_imports_later_is_there() -> None:
    tree = ast.parse((CONFIG / "gunicorn.conf.py.example").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]

    for node in imports:
        names = {each.name for each in node.names}
        assert names <= vars(import_module(node.module or "")).keys(), node.module
    assert any(node.module == "offdiag_web.shutdown" for node in imports)


def test_the_application_serves_the_configured_registry_to_those_who_sign_in(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_URL", sqlite_database.url)
    with pytest.raises(InvalidInput, match="there is no admin"):
        wsgi.application()
    add_user(sqlite_database, name="ada", password=None, grants=[Grant(Role.ADMIN)])

    client = wsgi.application().test_client()

    assert client.get("/healthz").status_code == 200
    assert client.get("/runs").status_code == 401
