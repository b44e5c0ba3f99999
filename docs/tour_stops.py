"""Where the tour stops: addresses of the dashboard over a registry that the demo has made."""

from __future__ import annotations

from urllib.parse import urlencode

from offdiag.cli.operate.demo import demo_runs
from offdiag.demo.experiments import DIGITS, IN_USE, PROJECT, TUMOURS
from offdiag.store.database import Database
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.what_if import WhatIfAddress

BLIND = "random forest, shallow"
"""An accurate run on the digits that never predicts one of them."""


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
