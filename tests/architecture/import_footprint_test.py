"""What a training job pays for `import offdiag`, checked in fresh interpreters."""

from __future__ import annotations

import subprocess
import sys

import pytest

DATABASE = {"sqlalchemy", "alembic", "psycopg", "sqlite3"}
SERVER = {"flask", "werkzeug", "apscheduler", "waitress"}
FRAMES = {"pandas", "pyarrow", "polars"}
EVERYTHING_HEAVY = DATABASE | SERVER | FRAMES | {"numpy", "scipy", "pydantic", "rich", "click"}


def modules_loaded_by(statement: str) -> set[str]:
    """Top-level names in `sys.modules` after a statement, in an interpreter of its own."""
    program = (
        f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_importing_offdiag_loads_no_library() -> None:
    assert not modules_loaded_by("import offdiag") & EVERYTHING_HEAVY


@pytest.mark.parametrize("module", ["offdiag.domain.values", "offdiag.errors"])
def test_the_values_of_the_domain_need_no_library(module: str) -> None:
    assert not modules_loaded_by(f"import {module}") & EVERYTHING_HEAVY


def test_the_metric_core_loads_neither_database_nor_frames_nor_server() -> None:
    program = (
        "import importlib, pkgutil, offdiag.metrics\n"
        "for found in pkgutil.walk_packages(offdiag.metrics.__path__, 'offdiag.metrics.'):\n"
        "    importlib.import_module(found.name)"
    )

    loaded = modules_loaded_by(program)

    assert "numpy" in loaded
    assert not loaded & (DATABASE | SERVER | FRAMES | {"pydantic", "scipy"})


def test_this_check_sees_what_a_statement_loads() -> None:
    assert "pydantic" in modules_loaded_by("import offdiag.settings")
