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


def test_an_idle_server_loads_no_library_that_only_some_requests_need() -> None:
    """With all its pages, which are loaded after the first answer."""
    program = (
        "from offdiag.cli import serve, serving\n"
        "import offdiag_web.warm_up, offdiag_workers.process\n"
        "from offdiag.settings import Settings\n"
        "from offdiag.store.database import Database\n"
        "from offdiag_web.app.late_views import late_views\n"
        "app = offdiag_web.create_app(Settings(), Database('sqlite:///never-opened.db'))\n"
        "late_views(app).load_all(offdiag_web.warm_up.PAGES)"
    )

    loaded = modules_loaded_by(program)

    assert {"flask", "sqlalchemy", "apscheduler"} <= loaded
    assert not loaded & {"alembic", "psycopg", "scipy", "httpx", "spectree", "PIL", *FRAMES}


def test_a_server_starts_without_the_pages() -> None:
    program = (
        "from offdiag.cli import serve, serving\n"
        "import offdiag_web, offdiag_workers.process\n"
        "import sys\n"
        "raise SystemExit(sorted(name for name in sys.modules if name.startswith(\n"
        "    ('offdiag_web.pages.', 'offdiag_web.api.'))) or 0)"
    )

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_this_check_sees_what_a_statement_loads() -> None:
    assert "pydantic" in modules_loaded_by("import offdiag.settings")
