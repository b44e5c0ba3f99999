"""Every page in every theme: no complaint, no sideways scrolling, no accessibility violation."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.services.flags.page import browse_flags
from offdiag.services.jobs.page import jobs_page
from offdiag.store.flags import FlagFilter
from support.browser import CLEAN, expect_sound_page, violations_in_both_themes
from support.dashboard import LesionRegistry
from support.reported import HOSTILE_REPORT

pytestmark = pytest.mark.browser

LISTS = {
    "home": "/",
    "runs": "/runs?q=dataset:derm-7&cols=acc,mcc,f1,cohen_kappa",
    "runs of several datasets": "/runs",
    "no match": "/runs?q=dataset:derm-7 nothing foo:bar",
    "gallery": "/_gallery",
    "gallery of matrices": "/_gallery/matrices",
    "gallery of charts": "/_gallery/charts",
    "glossary": "/glossary",
    "metric": "/glossary/f1?share=0.1",
    "go to": "/search?q=a",
    "settings": "/settings",
    "saved views": "/views?of=q%3Dflag:open",
    "problems": "/problems?class=df",
    "rules": "/settings/rules",
    "costs": "/costs",
    "costs in versions": "/costs/triage",
    "new costs": "/costs/new?dataset=derm-7",
    "what-if of any dataset": "/whatif",
    "audit": "/audit",
    "audit of a published table": "/audit?example=constant-answer",
    "audit refused": "/audit?table=nothing%20to%20see&classes=a",
}
REPORTS = {
    "reports": "/reports",
    "report": "/reports/weekly",
    "issue": "/reports/weekly/2",
    "new report": "/reports/new",
    "report of hostile names": HOSTILE_REPORT.edition_url(1),
}
RUN_PAGES = (
    *("plain", "majority", "swapped", "many_classes", "hostile", "waiting", "failed"),
    *("majority/classes", "hostile/classes", "waiting/classes"),
    *("plain/examples", "columns/examples", "plain/curves"),
    *("plain/slices", "swapped/meta", "hostile/meta", "plain/advice"),
)
FLAGS = ("flag of hostile",)
WHAT_IFS = tuple(f"what-if of {kind}" for kind in ("binary", "hostile", "many_classes"))


ONE_OF_EACH_KIND = {
    *("home", "runs", "gallery", "metric", "go to", "problems", "costs in versions", "new costs"),
    *("report", "issue", "new report", "audit", "audit of a published table", "plain"),
    *("waiting", "majority/classes", "plain/examples", "plain/curves", "plain/slices"),
    *("swapped/meta", "plain/advice", "flag of hostile", "what-if of binary", "job"),
}
"""With other data, scripts do the same and the themes have the same colours."""
OTHER_DATA = {
    *(
        "runs of several datasets",
        "failed",
        "no match",
        "report of hostile names",
        "majority",
        "swapped",
    ),
    *("hostile", "hostile/classes", "hostile/meta", "columns/examples", "waiting/classes"),
    "failed",
    *("what-if of hostile", "what-if of many_classes"),
}
"""Templates of the others; what is hostile may do harm, be long, and is as accessible."""


@pytest.fixture(params=[*LISTS, *REPORTS, *RUN_PAGES, *FLAGS, *WHAT_IFS, "job"])
def path(request: pytest.FixtureRequest, registry: LesionRegistry) -> str:
    """Each page that answers 200."""
    if found := LISTS.get(request.param) or REPORTS.get(request.param):
        return found
    if request.param == "job":
        return f"/jobs/{jobs_page(registry.database).jobs.entries[0].id}"
    if request.param in FLAGS:
        return _flag_of(registry, request.param.partition(" of ")[2])
    if request.param in WHAT_IFS:
        run_id = getattr(registry, request.param.partition(" of ")[2])
        return f"/whatif?runs={run_id},{registry.majority}&cost=@0-1&set=*>*:x2"
    kind, slash, tab = request.param.partition("/")
    return f"/runs/{getattr(registry, kind)}{slash}{tab}"


def test_a_page_breaks_no_policy_says_the_same_without_scripts_is_accessible_and_fits(
    open_page: Any, open_reported: Any, path: str, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["path"]
    is_one = name in ONE_OF_EACH_KIND

    expect_sound_page(
        open_reported if name in REPORTS else open_page,
        path,
        also_without_scripts=is_one,
        also_dark=is_one,
        also_accessible=name not in OTHER_DATA,
    )


def test_error_pages_are_accessible(open_page: Any) -> None:
    checked = open_page("/runs/r_nosuchrun")

    assert violations_in_both_themes(checked) == CLEAN


def _flag_of(registry: LesionRegistry, which: str) -> str:
    """The page of a flag about a class of a run."""
    wanted = FlagFilter(run_id=getattr(registry, which), rule="F12")
    return f"/flags/{browse_flags(registry.database, wanted).entries[0].flag.id}"
