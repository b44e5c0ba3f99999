"""Settings from defaults, then a TOML file, then the environment; the later one wins.

Each layer is checked on its own before they are laid over each other, so that a message can
name the file or the variable that holds the bad value. A Python file is never read: a training
folder often has a `config.py` of its own.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from offdiag.errors import InvalidInput
from offdiag.settings.model import SECRETS, Settings

CONFIG_VARIABLE = "OFFDIAG_CONFIG"
CONFIG_FILE_NAME = "offdiag.toml"
FLAT_VARIABLES: Mapping[str, str] = {
    "OFFDIAG_URL": "database.url",
    "OFFDIAG_PROJECT": "project",
    "OFFDIAG_MODE": "client.mode",
    "OFFDIAG_ON_ERROR": "client.on_error",
    "OFFDIAG_TOKEN": "client.token",
    "OFFDIAG_SPOOL": "client.spool",
}
"""The short names; every other setting is `OFFDIAG_<SECTION>__<KEY>`."""

OLD_KEYS: Mapping[str, str] = {
    "client.patience_s": "client.retry_for_s",
    "server.drain_s": "server.shutdown_delay_s",
    "jobs.slots": "jobs.concurrency",
    "jobs.small_values": "jobs.small_job_values",
    "jobs.drain_s": "jobs.shutdown_timeout_s",
}
"""Keys of the version before, still read; the new one wins where a source has both."""

PREFIX = "OFFDIAG_"
_log = logging.getLogger(__name__)
DELIMITER = "__"


@dataclass(frozen=True, slots=True)
class SettingSource:
    """One setting, the value in force and where it came from."""

    key: str
    value: str | int | float
    source: str


@dataclass(frozen=True, slots=True)
class _Layer:
    """The values of one source, by dotted key, with the name of the source of each."""

    values: Mapping[str, Any]
    sources: Mapping[str, str]
    typed: bool
    """Whether values carry types (TOML) or are all text (environment)."""


def load_settings(
    environ: Mapping[str, str] | None = None, *, folder: Path | None = None
) -> Settings:
    """The settings in force: defaults, then the TOML file, then the environment.

    The file is the one `OFFDIAG_CONFIG` names, or `offdiag.toml` in the working directory if
    there is one. `environ` and `folder` stand for the process environment and the working
    directory.

    Raises `InvalidInput`, naming key, value and source, for unknown keys, wrong types, values
    out of range, and a file that is missing or is not TOML.
    """
    return _merged(_layers(environ, folder))


def describe_settings(
    environ: Mapping[str, str] | None = None, *, folder: Path | None = None
) -> list[SettingSource]:
    """Every setting with its value and its source, in the order of the model."""
    layers = _layers(environ, folder)
    sources = {key: source for layer in layers for key, source in layer.sources.items()}
    return [
        SettingSource(
            key=key,
            value=_presentable(key, value),
            source=sources.get(key, "default"),
        )
        for key, value in _leaves(_merged(layers))
    ]


def _presentable(key: str, value: Any) -> str | int | float:
    """A value as it may be shown: secrets only tell whether there is one."""
    if key in SECRETS:
        return "***" if value else ""
    return hide_password(value) if isinstance(value, str) else value


def hide_password(url: str) -> str:
    """The URL as it may be shown: stars in place of a password."""
    without_authority = re.sub(r"(://[^:/@]*):[^/]*@", r"\1:***@", url)
    return re.sub(r"([?&]password=)[^&]*", r"\1***", without_authority)


def config_file(environ: Mapping[str, str], folder: Path) -> Path | None:
    """The configuration file to read, if any."""
    named = environ.get(CONFIG_VARIABLE)
    if named:
        path = folder / Path(named).expanduser()
        if not path.is_file():
            raise InvalidInput(
                f"there is no file {str(path)!r}.",
                field=CONFIG_VARIABLE,
                hint="Correct the path, or unset the variable to use the defaults.",
            )
        return path
    path = folder / CONFIG_FILE_NAME
    return path if path.is_file() else None


def _current_folder() -> Path:
    """The current folder; if it was deleted while the program runs, no file is found in it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path()


def _layers(environ: Mapping[str, str] | None, folder: Path | None) -> list[_Layer]:
    environ = os.environ if environ is None else environ
    path = config_file(environ, folder or _current_folder())
    layers = [] if path is None else [_file_layer(path, *_read(path))]
    of_environment = _environment_layer(environ)
    _check(of_environment)
    return [*layers, of_environment]


def _read(path: Path) -> tuple[bytes, bool]:
    """The content of a file, and whether every user of this machine can read it."""
    try:
        return path.read_bytes(), bool(path.stat().st_mode & stat.S_IROTH)
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be read: {error.strerror}.",
            field="configuration",
            hint="Make the file readable for this user.",
        ) from error


@lru_cache(maxsize=1)
def _file_layer(path: Path, content: bytes, is_exposed: bool) -> _Layer:
    # A server asks for settings several times for each page: the same content is parsed, and
    # warned of, once.
    try:
        table = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{str(path)!r} is not valid TOML: {error}.",
            field="configuration",
            hint="Correct the file; config/default.toml shows every setting.",
        ) from error
    values = _current(dict(_flattened(table)))
    layer = _Layer(values=values, sources=dict.fromkeys(values, str(path)), typed=True)
    _check(layer)
    if is_exposed:
        _warn_of_secrets(path, values)
    return layer


def _warn_of_secrets(path: Path, values: Mapping[str, Any]) -> None:
    url = str(values.get("database.url", ""))
    held = [key for key in sorted(SECRETS) if values.get(key)]
    if hide_password(url) != url:
        held.insert(0, "a database password")
    if held:
        _log.warning(
            "%s holds %s and every user of this machine can read it; run: chmod 600 %s",
            path,
            " and ".join(held),
            path,
        )


def _environment_layer(environ: Mapping[str, str]) -> _Layer:
    """Nested names first, so that the short contract names win over them.

    A flat variable that no setting owns is left alone: Kubernetes puts OFFDIAG_PORT and
    OFFDIAG_SERVICE_HOST into every pod beside a service called offdiag.
    """
    nested = {
        name: name.removeprefix(PREFIX).replace(DELIMITER, ".").lower()
        for name in sorted(environ)
        if name.startswith(PREFIX) and DELIMITER in name
    }
    names = nested | {name: key for name, key in FLAT_VARIABLES.items() if name in environ}
    return _Layer(
        values=_current({key: environ[name] for name, key in names.items()}),
        sources=_current({key: name for name, key in names.items()}),
        typed=False,
    )


def _current(found: Mapping[str, Any]) -> dict[str, Any]:
    """The same under the present keys."""
    renamed = {new: found[old] for old, new in OLD_KEYS.items() if old in found}
    return renamed | {key: value for key, value in found.items() if key not in OLD_KEYS}


def _check(layer: _Layer) -> None:
    try:
        Settings.model_validate(_nested(layer.values), strict=layer.typed)
    except ValidationError as failure:
        first = failure.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        source = next(
            source for known, source in layer.sources.items() if f"{known}.".startswith(f"{key}.")
        )
        unknown = first["type"] == "extra_forbidden"
        raise InvalidInput(
            f"{source} holds it, but there is no such setting."
            if unknown
            else f"{source} says {_shown(key, first['input'])}: {_expected(key, first)}.",
            field=key,
            hint=_known_settings(key) if unknown else _default_of(key, given=first["input"]),
        ) from None


def _shown(key: str, value: Any) -> str:
    return "something secret" if key in SECRETS else repr(value)


def _expected(key: str, problem: ErrorDetails) -> str:
    """What is wrong with a value; a pattern is described in words."""
    if problem["type"] != "string_pattern_mismatch":
        return problem["msg"].lower()
    section, _, name = key.rpartition(".")
    return f"write {type(getattr(Settings(), section)).model_fields[name].description}"


def _known_settings(key: str) -> str:
    """Those of the same section, or all. The value is not shown: it may be a secret."""
    known = [name for name, _ in _leaves(Settings())]
    near = [name for name in known if name.startswith(f"{key.partition('.')[0]}.")]
    return f"Settings are: {', '.join(near or known)}."


def _default_of(key: str, *, given: Any) -> str:
    default = dict(_leaves(Settings())).get(key)
    if default is None:
        return f"[{key}] is a table of settings."
    # As a variable of a pipeline is, where its secret is missing.
    return f"{'Set or remove it. ' if given == '' else ''}Default: {default!r}."


def _merged(layers: list[_Layer]) -> Settings:
    values = {key: value for layer in layers for key, value in layer.values.items()}
    return Settings.model_validate(_nested(values))


def _flattened(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *sections, leaf = key.split(".")
        table = tree
        for section in sections:
            if not isinstance(table.get(section), dict):
                table[section] = {}
            table = table[section]
        table[leaf] = value
    return tree


def _leaves(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
