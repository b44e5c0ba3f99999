"""Every page: no complaint, no sideways scrolling, no accessibility violation in its themes."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.domain.texts import name_segment
from offdiag.services.flags.page import browse_flags
from offdiag.services.jobs.page import jobs_page
from offdiag.store.flag_conditions import FlagFilter
from offdiag_web.urls.datasets import DatasetAddress
from support.browser import CLEAN, cut_regions, expect_sound_page, violations_in_both_themes
from support.dashboard import HOSTILE_NAMES, LesionRegistry
from support.registries import names_of
from support.reported import HOSTILE_REPORT
from support.revised import HOSTILE_DATASET

pytestmark = pytest.mark.browser

HOSTILE = DatasetAddress("default", HOSTILE_DATASET)
HOSTILE_SAMPLES = f"/datasets/{name_segment(HOSTILE_NAMES[0])}"

WHOLE = {
    "registry": (
        *("/", "/_gallery", "/_gallery/matrices", "/_gallery/charts", "/problems?class=df"),
        *("/runs?q=dataset:derm-7&cols=acc,mcc,f1,cohen_kappa", "/runs/{plain}"),
        *("/audit?example=constant-answer", "/settings"),
        "/whatif?runs={binary},{majority}&cost=@0-1&set=*>*:x2",
    ),
    "reported": ("/reports/weekly/2",),
    "revised": ("/datasets/pets", "/datasets/pets/draft"),
    "scored": ("/runs/{event}/curves?prevalence=0.2",),
    "compared": ("/compare?runs={plain},{focal}",),
}
"""One at least for each stylesheet; they say the same without scripts and in both themes."""
OTHERS = {
    "registry": (
        *("/search?q=a", "/glossary", "/glossary/f1?share=0.1", "/costs", "/costs/triage"),
        *("/costs/new?dataset=derm-7", "/settings/rules", "/views?of=q%3Dflag:open"),
        *("/audit?table=nothing%20to%20see&classes=a", "/whatif", "/flags/{flag}", "/jobs/{job}"),
        *("/runs/{waiting}", "/runs/{many_classes}", "/runs/{hostile}/classes"),
        *("/runs/{hostile}/meta", "/runs/{plain}/advice"),
    ),
    "reported": ("/reports", "/reports/weekly", "/reports/new"),
    "revised": (
        *("/jobs", "/datasets", "/datasets/pets/data", "/datasets/pets/noise"),
        *("/datasets/pets/approve", HOSTILE.impact_url(2), HOSTILE.difference_url(1, 2)),
        *("/datasets/behind/truth/2/impact", "/runs/{seer}/history"),
    ),
    "scored": (
        *("/runs/{hostile}/examples", "/runs/{hostile}/curves", "/runs/{hostile}/slices"),
        "/whatif/decisions?run={hostile}&cost=@0-1",
        *(f"{HOSTILE_SAMPLES}/suspects", f"{HOSTILE_SAMPLES}/content"),
    ),
    "compared": (
        *("/compare?runs={plain},{focal},{almost}", "/compare?runs={part},{other_part}"),
        *("/compare", "/compare?runs={nine}"),
        "/compare/examples?runs={hostile},{more_hostile}&which=both_wrong",
    ),
}
"""They are accessible, and what is hostile may do harm and be long."""
OTHER_DATA = {
    "registry": (
        *("/runs/{hostile}", "/runs/{failed}"),
        "/whatif?runs={hostile},{majority}&cost=@0-1&set=*>*:x2",
        "/whatif?runs={many_classes},{majority}&cost=@0-1&set=*>*:x2",
    ),
    "reported": (HOSTILE_REPORT.edition_url(1),),
    "revised": (HOSTILE.url(),),
    "scored": ("/runs/{hostile}",),
    "compared": (*("/compare?runs={large},{larger}", "/compare?runs={hostile},{more_hostile}"),),
}
"""Templates of the others, with what is long or hostile."""

OPENED_BY = {
    "registry": "open_page",
    "reported": "open_reported",
    "revised": "open_revised",
    "scored": "open_scored",
    "compared": "open_compared",
}


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """The page of a test, with the ids of runs in its registry."""
    which, path = request.node.callspec.params["which"], request.node.callspec.params["path"]
    if "{" not in path:
        return str(path)
    registry = request.getfixturevalue(which)
    names = names_of(registry)
    if which == "registry":
        names |= others_of(registry)
    if which == "compared":
        names["nine"] = ",".join(registry.alike)
    return str(path.format(**names))


def others_of(registry: LesionRegistry) -> dict[str, str]:
    """A job, and a flag about a class with a hostile name."""
    wanted = FlagFilter(run_id=registry.hostile, rule="F12")
    flag = browse_flags(registry.database, wanted).entries[0].flag
    return {"flag": str(flag.id), "job": str(jobs_page(registry.database).jobs.entries[0].id)}


@pytest.mark.parametrize(
    ("which", "path", "is_whole", "is_accessible"),
    [
        (which, path, table is WHOLE, table is not OTHER_DATA)
        for table in (WHOLE, OTHERS, OTHER_DATA)
        for which, paths in table.items()
        for path in paths
    ],
)
def test_a_page_breaks_no_policy_says_the_same_without_scripts_is_accessible_and_fits(
    request: pytest.FixtureRequest,
    which: str,
    path: str,
    is_whole: bool,
    is_accessible: bool,
    address: str,
) -> None:
    open_page: Any = request.getfixturevalue(OPENED_BY[which])

    expect_sound_page(open_page, address, is_whole=is_whole, is_accessible=is_accessible)


ON_PHONES = {
    "registry": (
        *("/runs/{plain}/classes", "/runs/{binary}", "/runs/{plain}/advice", "/flags/{flag}"),
        *("/audit?example=constant-answer", "/glossary", "/settings/rules", "/jobs", "/datasets"),
        *("/costs", "/models/effnet-b3", "/datasets/derm-7/data"),
    ),
    "revised": ("/runs/{seer}/history", "/datasets/pets/data", "/datasets/pets/truth/2/impact"),
    "scored": (
        *("/runs/{event}/curves", "/runs/{several}/examples?view=list"),
        *("/runs/{many}/slices#fairness", "/whatif/decisions?run={several}&cost=@prevalence"),
    ),
}
"""Pages whose tables and tabs have lines of their own on phones; matrices scroll sideways."""


@pytest.mark.parametrize(
    ("which", "path"), [(which, path) for which, paths in ON_PHONES.items() for path in paths]
)
def test_tables_and_tabs_fit_a_phone(
    request: pytest.FixtureRequest, which: str, path: str, address: str
) -> None:
    page = request.getfixturevalue(OPENED_BY[which])(
        address, viewport={"width": 390, "height": 844}
    ).page

    assert [name for name in cut_regions(page) if name not in CUT_BY_NATURE] == []


CUT_BY_NATURE = {
    *("Pages of this run", "Pages of the dataset"),  # The next test is about them.
    *("Recall of each class in each slice", "Chart of cost against threshold"),
    *("Before: confusion matrix", "After: confusion matrix"),
}


@pytest.mark.parametrize(
    ("which", "path"),
    [
        ("registry", "/runs/{plain}"),
        ("registry", "/runs/{plain}/examples"),
        ("registry", "/runs/{plain}/meta"),
        ("registry", "/datasets/derm-7/data"),
    ],
)
def test_tabs_are_one_line_on_a_phone_that_begins_near_the_current_one(
    open_page: Any,
    which: str,
    path: str,
    address: str,
) -> None:
    page = open_page(address, viewport={"width": 390, "height": 844}).page

    places = page.evaluate(
        """() => {
            const tabs = document.querySelector(".tabs");
            const whole = [tabs, ...tabs.children].map(each => each.getBoundingClientRect());
            const current = tabs.querySelector("[aria-current]").getBoundingClientRect();
            return {
                lines: new Set(whole.slice(1).map(each => each.top)).size,
                left: current.left - whole[0].left,
                right: whole[0].right - current.right,
            };
        }"""
    )
    assert places["lines"] == 1
    assert places["left"] >= 0
    assert places["right"] >= 20  # Where it fades.


def test_error_pages_are_accessible(open_page: Any) -> None:
    checked = open_page("/runs/r_nosuchrun")

    assert violations_in_both_themes(checked) == CLEAN
