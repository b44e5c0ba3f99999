"""Where the tour stops: addresses of the dashboard over a registry that the demo has made."""

from __future__ import annotations

from urllib.parse import urlencode

from offdiag.cli.demonstration import demo_runs
from offdiag.comparison.pair import PairedOutcome
from offdiag.demo.costs_and_reports import DIGITS, IN_USE, REPORT, TUMOURS
from offdiag.demo.experiments import PROJECT
from offdiag.store.database import Database
from offdiag_web.urls.compare import CompareAddress
from offdiag_web.urls.reports import ReportAddress
from offdiag_web.urls.what_if import WhatIfAddress

CANDIDATE = "logistic regression"
JUDGED_BY_COST = (CANDIDATE, "random forest", "random forest, cautious")


def addresses(database: Database) -> dict[str, str]:
    """The path of each stop by its name."""
    found = {(run.dataset, run.name): run.id for run in demo_runs(database)}
    compared = CompareAddress((found[DIGITS, IN_USE], found[DIGITS, CANDIDATE]))
    return {
        "runs": "/runs?" + urlencode({"q": f'dataset:"{DIGITS}"', "sort": "-mcc"}),
        "run-page": f"/runs/{found[DIGITS, CANDIDATE]}",
        "compare": compared.url(),
        "examples": compared.examples_url(PairedOutcome.ONLY_B),
        "broken": compared.examples_url(PairedOutcome.ONLY_A),
        "what-if": WhatIfAddress(tuple(found[TUMOURS, name] for name in JUDGED_BY_COST)).url(),
        "decisions": WhatIfAddress().decisions_url(found[TUMOURS, IN_USE]),
        "flags": "/flags?" + urlencode({"dataset": DIGITS}),
        "report": ReportAddress(PROJECT, REPORT).edition_url(1),
    }
