"""What a training job pays for `import offdiag`, checked in fresh interpreters."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import offdiag
from offdiag.extras import LIBRARIES
from support.once_for_all import made_once

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


CLIENT_PATH = """
import importlib, pkgutil, offdiag.records, offdiag.sdk
names = [found.name for package in (offdiag.records, offdiag.sdk)
         for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
         if ".integrations" not in found.name and ".sdk.embedded" not in found.name]
for name in names:
    importlib.import_module(name)
"""


def test_what_logs_to_a_server_loads_no_library_of_the_extra_local() -> None:
    loaded = modules_loaded_by(CLIENT_PATH)

    assert {"numpy", "httpx", "pydantic"} <= loaded
    assert not loaded & set(LIBRARIES["local"])


SERVER_THAT_TELLS = """
import gc, json, os, signal, socket, sys, threading, time, urllib.request
import click

begun = []
n_frozen = gc.get_freeze_count()  # More once the process settles, after all else is loaded.

def said(text):
    begun.extend(sys.modules)

def look():
    address = f"http://127.0.0.1:{port}/"
    while True:
        try:
            urllib.request.urlopen(address).read()
            break
        except OSError:
            time.sleep(0.02)
    while gc.get_freeze_count() <= n_frozen:
        time.sleep(0.02)
    print(json.dumps({"begun": begun, "idle": list(sys.modules)}))
    os.kill(os.getpid(), signal.SIGINT)

with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
threading.Thread(target=look, daemon=True).start()
sys.argv = ["offdiag", "serve", "--port", str(port), "--url", "sqlite:///registry.db"]
click.echo = said
from offdiag.cli import main
main()
"""


@pytest.fixture(scope="module")
def served(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The modules of `offdiag serve` when it says its address, and when it has settled.

    In between its home page has told which of two runs may be the best.
    """

    def make(folder: Path) -> None:
        shutil.copy(migrated_file, folder / "registry.db")
        y_true = ["benign", "malignant", "benign", "benign", "malignant", "benign"] * 20
        for name, shift in (("small", 1), ("large", 2)):
            offdiag.log_run(
                name=name,
                project="lesions",
                dataset="test",
                y_true=y_true,
                y_pred=y_true[shift:] + y_true[:shift],
                url=f"sqlite:///{folder / 'registry.db'}",
            ).evaluation()
        done = subprocess.run(
            [sys.executable, "-c", SERVER_THAT_TELLS],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            cwd=folder,
        )
        told = next(line for line in done.stdout.splitlines() if line.startswith("{"))
        (folder / "told.json").write_text(told, encoding="utf-8")

    told = (made_once(tmp_path_factory, "served", make) / "told.json").read_text(encoding="utf-8")
    return {moment: set(names) for moment, names in json.loads(told).items()}


def test_a_server_begins_before_it_has_loaded_its_views_and_its_worker(
    served: dict[str, set[str]],
) -> None:
    late = ("offdiag_web.pages.", "offdiag_workers.")

    for package in late:
        assert any(name.startswith(package) for name in served["idle"]), package
    assert not [name for name in served["begun"] if name.startswith((*late, "offdiag_web.api."))]


def test_an_idle_server_loads_no_library_that_only_some_requests_need(
    served: dict[str, set[str]],
) -> None:
    loaded = {name.partition(".")[0] for name in served["idle"]}

    assert {"flask", "sqlalchemy", "apscheduler"} <= loaded
    assert not loaded & {"alembic", "psycopg", "scipy", "httpx", "PIL", *FRAMES}


def test_this_check_sees_what_a_statement_loads() -> None:
    assert "pydantic" in modules_loaded_by("import offdiag.settings")
