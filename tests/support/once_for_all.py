"""What one process of a test run has made, for all of them.

Each of several processes has session fixtures of its own. Filling the same registries in each
took longer than the tests that read them.
"""

from __future__ import annotations

import fcntl
import pickle
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

from offdiag.store.database import Database


class Filled(Protocol):
    """A dataclass of a registry and what is in it."""

    @property
    def database(self) -> Database: ...


Given = TypeVar("Given", bound=Filled)


def shared_folder(folders: pytest.TempPathFactory, name: str) -> Path:
    """A folder of all processes of this test run."""
    root = folders.getbasetemp()
    # Those of several processes lie beside each other.
    folder = (root.parent if root.name.startswith("popen-") else root) / f"shared {name}"
    folder.mkdir(exist_ok=True)
    return folder


def made_once(folders: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first process to ask fills, and that all of them only read."""
    folder = shared_folder(folders, name)
    done = folder / "done"
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make(folder)
            done.touch()
    return folder


def filled_for_all(
    folders: pytest.TempPathFactory,
    database: Database,
    fill: Callable[[Database], Given],
    kind: Callable[..., Given],
) -> Given:
    """What `fill` makes of an empty registry, a `kind`; of a file the first process fills it.

    Others get a copy of it and what it returned.
    """
    if database.path is None:
        return fill(database)

    def make(folder: Path) -> None:
        given = fill(database)
        # The last connection to be closed moves everything into the file itself.
        database.close()
        assert database.path is not None
        (folder / "registry.db").write_bytes(database.path.read_bytes())
        facts = {
            each.name: getattr(given, each.name)
            for each in fields(given)  # type: ignore[arg-type]  # a dataclass
            if each.name != "database"
        }
        (folder / "facts").write_bytes(pickle.dumps(facts))

    folder = made_once(folders, f"{fill.__module__}.{fill.__qualname__}", make)
    database.close()
    database.path.write_bytes((folder / "registry.db").read_bytes())
    return kind(database=database, **pickle.loads((folder / "facts").read_bytes()))
