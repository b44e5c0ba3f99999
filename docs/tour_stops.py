"""Where the tour stops: addresses of the dashboard over a registry that the demo has made."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

from offdiag.cli.operate.demo import demo_runs
from offdiag.demo.experiments import DIGITS, IN_USE, PROJECT, TUMOURS
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.store.database import Database
from offdiag.store.run_filter import FilterField, FilterTerm
from offdiag.store.run_list import run_overview
from offdiag_web.urls.costs import WhatIfAddress
from offdiag_web.urls.datasets import DatasetAddress

BLIND = "random forest, shallow"
"""An accurate run on the digits that never predicts one of them."""

BY_SIZE, WINE, SETS = "digits by training size", "wine by alcohol", "two digits"
"""Datasets of the second part."""


def addresses(database: Database) -> dict[str, str]:
    """The path of each stop by its name."""
    found = {(run.dataset, run.name): run.id for run in demo_runs(database)}
    newest = {"dataset": DIGITS, "newest": "champion", "project": PROJECT}
    return {
        "home": "/",
        "dataset": DatasetAddress(PROJECT, DIGITS).url(),
        "compare": "/compare?" + urlencode(newest),
        "problems": "/problems",
        "run-page": f"/runs/{found[DIGITS, BLIND]}",
        "what-if": "/whatif?" + urlencode({"dataset": TUMOURS, "project": PROJECT}),
        "decisions": WhatIfAddress().decisions_url(found[TUMOURS, IN_USE]),
    }


def own_addresses(database: Database) -> dict[str, str]:
    """The path of each stop of the second part over the registry that its code has made."""
    with database.read() as session:
        (wine,), (trees, neighbours) = (
            run_overview(session, terms=(FilterTerm(FilterField.DATASET, name),)).page.entries
            for name in (WINE, SETS)
        )
    digits = DatasetAddress(DEFAULT_PROJECT, BY_SIZE)
    return {
        "methods": digits.methods_url(),
        "reported": f"/runs/{wine.id}",
        "sets-compared": f"/compare?runs={neighbours.id},{trees.id}",
        "sets": f"/runs/{trees.id}",
        "label-costs": f"/runs/{trees.id}/label-costs?costs=8=5:1",
    }


def log_own_runs(folder: Path) -> tuple[Database, str]:
    """Run the code of the second part in a folder; its registry, and what it prints.

    It declares a metric, so it has a process of its own.
    """
    url = f"sqlite:///{folder / 'offdiag.db'}"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OFFDIAG_")}
    page = Path(__file__).with_name("tour.md").read_text(encoding="utf-8")
    code = "".join(re.findall(r"^```py\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE))
    done = subprocess.run(  # noqa: S603 - code of our own page
        [sys.executable, "-c", code],
        env={**kept, "OFFDIAG_URL": url},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return Database(url), done.stdout
