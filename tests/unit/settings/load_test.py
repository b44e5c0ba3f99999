"""Where settings come from, and what is refused with which words."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from offdiag.errors import InvalidInput
from offdiag.settings import Settings, describe_settings, load_settings
from offdiag.settings.load import OLD_KEYS


def write_config(folder: Path, text: str, name: str = "offdiag.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_without_file_and_environment_the_defaults_hold(tmp_path: Path) -> None:
    settings = load_settings({}, folder=tmp_path)

    assert settings == Settings()
    assert settings.database.url == "sqlite:///offdiag.db"


def test_the_file_in_the_working_directory_is_read_without_being_named(tmp_path: Path) -> None:
    write_config(tmp_path, "[server]\nport = 9001\n")

    settings = load_settings({}, folder=tmp_path)

    assert settings.server.port == 9001
    assert settings.server.host == "127.0.0.1"


def test_a_named_file_replaces_the_one_in_the_working_directory(tmp_path: Path) -> None:
    write_config(tmp_path, "[server]\nport = 9001\n")
    named = write_config(tmp_path, "[jobs]\nmax_attempts = 2\n", name="other.toml")

    settings = load_settings({"OFFDIAG_CONFIG": str(named)}, folder=tmp_path)

    assert settings.jobs.max_attempts == 2
    assert settings.server.port == 8642


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    write_config(tmp_path, 'project = "a"\n[database]\nurl = "sqlite:///a.db"\n')
    environ = {
        "OFFDIAG_PROJECT": "b",
        "OFFDIAG_URL": "sqlite:///b.db",
        "OFFDIAG_SERVER__PORT": "9002",
        "OFFDIAG_JOBS__LEASE_S": "2.5",
    }

    settings = load_settings(environ, folder=tmp_path)

    assert settings.project == "b"
    assert settings.database.url == "sqlite:///b.db"
    assert settings.server.port == 9002
    assert settings.jobs.lease_s == 2.5


def test_the_short_name_wins_over_the_long_one(tmp_path: Path) -> None:
    environ = {"OFFDIAG_URL": "sqlite:///short.db", "OFFDIAG_DATABASE__URL": "sqlite:///long.db"}

    settings = load_settings(environ, folder=tmp_path)

    assert settings.database.url == "sqlite:///short.db"


@pytest.mark.parametrize(("old", "new"), OLD_KEYS.items())
def test_a_key_of_the_version_before_is_read(old: str, new: str, tmp_path: Path) -> None:
    section, name = old.split(".")
    (tmp_path / "offdiag.toml").write_text(f"[{section}]\n{name} = 7\n")
    of_file = {each.key: each.value for each in describe_settings({}, folder=tmp_path)}
    variable = f"OFFDIAG_{section.upper()}__{name.upper()}"
    of_environment = {
        each.key: each for each in describe_settings({variable: "9"}, folder=tmp_path)
    }

    assert of_file[new] == 7
    assert (of_environment[new].value, of_environment[new].source) == (9, variable)


def test_a_python_file_called_config_is_never_read(tmp_path: Path) -> None:
    write_config(tmp_path, "raise SystemExit('config.py was run')\n", name="config.py")

    assert load_settings({}, folder=tmp_path) == Settings()


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        ("[server]\nprot = 1\n", "server.prot", "no such setting"),
        ("colour = 1\n", "colour", "no such setting"),
        ("[sever]\nport = 1\n", "sever", "no such setting"),
        ('[server]\nport = "9000"\n', "server.port", "'9000'"),
        ("[server]\nport = 99999\n", "server.port", "99999"),
        ("[server]\nport = true\n", "server.port", "True"),
        ("server = 9000\n", "server", "9000"),
        ('[jobs]\nengine = ""\n', "jobs.engine", "''"),
        ('[backup]\nevery = "week"\n', "backup.every", "'week'"),
        ("[jobs]\nlease_s = nan\n", "jobs.lease_s", "nan"),
        ('project = ""\n', "project", "''"),
        ("[jobs.lease_s]\nx = 1\n", "jobs.lease_s", "{'x': 1}"),
    ],
)
def test_a_bad_setting_in_a_file_is_refused_naming_key_value_and_file(
    tmp_path: Path, text: str, key: str, says: str
) -> None:
    path = write_config(tmp_path, text)

    with pytest.raises(InvalidInput) as caught:
        load_settings({}, folder=tmp_path)

    assert caught.value.field == key
    assert says in caught.value.message
    assert str(path) in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("OFFDIAG_SERVER__PROT", "1", "server.prot"),
        ("OFFDIAG_SEVER__PORT", "1", "sever"),
        ("OFFDIAG_SERVER__PORT", "nine", "server.port"),
        ("OFFDIAG_JOBS__MAX_ATTEMPTS", "0", "jobs.max_attempts"),
        ("OFFDIAG_URL", "", "database.url"),
    ],
)
def test_a_bad_setting_in_the_environment_is_refused_naming_the_variable(
    tmp_path: Path, name: str, value: str, key: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_settings({name: value}, folder=tmp_path)

    assert caught.value.field == key
    assert name in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("OFFDIAG_SERVER__PUBLIC_URL", "registry.example.org", "https://registry.example.org"),
        ("OFFDIAG_SERVER__TRUSTED_HOSTS", "https://a.example.org", "names without https://"),
        ("OFFDIAG_SERVER__CONTENT_HOSTS", "https://a.example.org/", "hosts without https://"),
        ("OFFDIAG_ACCESS__API_LIMIT", "1200", "600 per minute"),
    ],
)
def test_a_value_in_another_form_is_refused_with_an_example(
    tmp_path: Path, name: str, value: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_settings({name: value}, folder=tmp_path)

    assert f"{name} says {value!r}: write " in caught.value.message
    assert says in caught.value.message


def test_a_file_may_begin_with_the_mark_that_windows_editors_write(tmp_path: Path) -> None:
    (tmp_path / "offdiag.toml").write_bytes(b"\xef\xbb\xbf[server]\nport = 9000\n")

    assert load_settings({}, folder=tmp_path).server.port == 9000


def test_the_value_of_an_unknown_key_is_not_shown_for_it_may_be_a_secret(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_settings({"OFFDIAG_DATABASE__PASSWORD": "hunter2"}, folder=tmp_path)

    assert "hunter2" not in str(caught.value)
    assert "database.url" in str(caught.value)


def test_variables_that_kubernetes_sets_for_a_service_called_offdiag_do_no_harm(
    tmp_path: Path,
) -> None:
    environ = {"OFFDIAG_PORT": "tcp://10.0.0.1:80", "OFFDIAG_SERVICE_HOST": "10.0.0.1"}

    assert load_settings(environ, folder=tmp_path) == Settings()


def test_a_named_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="OFFDIAG_CONFIG: there is no file"):
        load_settings({"OFFDIAG_CONFIG": "missing.toml"}, folder=tmp_path)


@pytest.mark.parametrize("content", [b"[server\n", b"\xff\xfe"])
def test_a_file_that_is_not_toml_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "offdiag.toml"
    path.write_bytes(content)

    with pytest.raises(InvalidInput, match="not valid TOML") as caught:
        load_settings({}, folder=tmp_path)

    assert str(path) in str(caught.value)


def test_each_setting_is_described_with_its_source_and_without_passwords(tmp_path: Path) -> None:
    path = write_config(tmp_path, "[server]\nport = 9001\n")
    environ = {"OFFDIAG_URL": "postgresql+psycopg://ann:hunter2@db/registry"}

    described = {row.key: row for row in describe_settings(environ, folder=tmp_path)}

    assert described["server.port"].source == str(path)
    assert described["server.port"].value == 9001
    assert described["server.host"].source == "default"
    assert described["database.url"].source == "OFFDIAG_URL"
    assert described["database.url"].value == "postgresql+psycopg://ann:***@db/registry"


@pytest.mark.parametrize(("mode", "warned"), [(0o644, True), (0o600, False)])
def test_a_password_in_a_file_that_everybody_can_read_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, warned: bool
) -> None:
    path = write_config(tmp_path, '[database]\nurl = "postgresql+psycopg://a:hunter2@db/r"\n')
    path.chmod(mode)

    with caplog.at_level(logging.WARNING):
        # Services ask for settings again and again.
        first, again = (load_settings({}, folder=tmp_path) for _ in range(2))

    assert len(caplog.messages) == warned
    assert "hunter2" not in caplog.text
    assert first == again
    write_config(tmp_path, '[database]\nurl = "postgresql+psycopg://b:hunter2@db/r"\n')
    assert load_settings({}, folder=tmp_path).database.url.startswith("postgresql+psycopg://b:")


@pytest.mark.parametrize("variable", ["OFFDIAG_SMTP__PASSWORD", "OFFDIAG_WEBHOOK__SECRET"])
def test_a_secret_is_shown_nowhere(variable: str, tmp_path: Path) -> None:
    environ = {variable: "hunter2"}

    shown = [row.value for row in describe_settings(environ, folder=tmp_path)]

    assert "***" in shown
    assert "hunter2" not in repr((shown, load_settings(environ, folder=tmp_path)))


def test_a_secret_of_the_wrong_type_is_not_repeated(tmp_path: Path) -> None:
    write_config(tmp_path, "[smtp]\npassword = 123456\n")

    with pytest.raises(InvalidInput) as refused:
        load_settings({}, folder=tmp_path)

    assert refused.value.field == "smtp.password"
    assert "123456" not in str(refused.value)


def test_an_empty_variable_is_refused_with_both_ways_out(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        load_settings({"OFFDIAG_URL": ""}, folder=tmp_path)

    assert refused.value.message.startswith("OFFDIAG_URL says ''")
    assert refused.value.hint == "Set or remove it. Default: 'sqlite:///offdiag.db'."


def test_a_deleted_current_folder_has_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    assert load_settings().jobs.lease_s == 30.0
