"""`offdiag demo` as a stranger calls it, and the registry that it leaves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from offdiag.store.database import Database
from support.processes import clean_environment
from support.quick_starts import run_quickly

DEMO = [sys.executable, "-c", "from offdiag.cli import main; main()", "demo"]


def run_demo(folder: Path) -> str:
    """Call it once, without serving; returns what it prints."""
    done = run_quickly([*DEMO, "--no-serve"], cwd=folder, env=clean_environment())
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def registry_of(folder: Path) -> Iterator[Database]:
    """The registry of a folder in which it was called."""
    with closing(Database(f"sqlite:///{folder / 'demo-registry' / 'offdiag.db'}")) as database:
        yield database
