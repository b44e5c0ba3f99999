"""Which bell is rung: the one that the setting `jobs.engine` names."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from offdiag.errors import InvalidInput
from offdiag.services.work.bell import LOCAL_BELL, Bell
from offdiag.settings import load_settings

GROUP = "offdiag.bells"
"""Entry points of distributions that bring a bell; the value is an object with `ring`."""

_FIELD = "jobs.engine"


def bell_in_force() -> Bell:
    """The bell of the settings, read now. Raises `InvalidInput` where there is none."""
    return bell_of(load_settings().jobs.engine)


@lru_cache(maxsize=8)
def bell_of(engine: str) -> Bell:
    """The bell with a name: "local", an entry point, or an object as "package.module:object".

    Raises `InvalidInput` for a name that nothing is known by, and for what cannot be rung.
    """
    if engine == "local":
        return LOCAL_BELL
    found = _object_at(engine) if ":" in engine else _entry_point(engine)
    if not isinstance(found, Bell):
        raise InvalidInput(
            f"{engine!r} is {type(found).__name__}, which cannot be rung.",
            field=_FIELD,
            hint="A bell has the method ring(session, work_ids).",
        )
    return found


def _entry_point(name: str) -> object:
    known = {each.name: each for each in entry_points(group=GROUP)}
    if name not in known:
        raise InvalidInput(
            f"there is no engine {name!r}.",
            field=_FIELD,
            hint=f"Installed are: {', '.join(sorted({'local', *known}))}.",
        )
    return _loaded(known[name])


def _object_at(path: str) -> object:
    module, _, attribute = path.partition(":")
    try:
        found: object = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise _unusable(path, error) from error
    return found


def _loaded(point: EntryPoint) -> object:
    try:
        found: object = point.load()
    except (ImportError, AttributeError) as error:
        raise _unusable(point.name, error) from error
    return found


def _unusable(engine: str, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"engine {engine!r} cannot be loaded: {error}.",
        field=_FIELD,
        hint='Install the distribution it comes with, or use "local".',
    )
