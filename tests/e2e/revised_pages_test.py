"""Pages of a registry whose ground truth was corrected: accessible, narrow, without scripts."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag_web.urls.datasets import DatasetAddress
from support.browser import expect_sound_page
from support.revised import HOSTILE_DATASET, RevisedRegistry

pytestmark = pytest.mark.browser

HOSTILE = DatasetAddress("default", HOSTILE_DATASET)
PAGES = {
    "datasets": "/datasets",
    "a dataset": "/datasets/pets",
    "the data of a dataset": "/datasets/pets/data",
    "an empty draft": "/datasets/pets/draft",
    "label noise": "/datasets/pets/noise",
    "approving a run": "/datasets/pets/approve",
    "a dataset with late labels": "/datasets/late",
    "a dataset with stale runs": "/datasets/behind",
    "a hostile dataset": HOSTILE.url(),
    "a difference": "/datasets/pets/truth/1..2",
    "no difference": "/datasets/pets/truth/1..1",
    "an impact": "/datasets/pets/truth/2/impact",
    "an impact of late labels": "/datasets/late/truth/3/impact",
    "an impact that waits": "/datasets/behind/truth/2/impact",
    "no impact": "/datasets/pets/truth/1/impact",
    "a hostile impact": HOSTILE.impact_url(2),
    "jobs": "/jobs",
    "a hostile difference": HOSTILE.difference_url(1, 2),
}
RUN_PAGES = ("seer/history", "waiting/history", "partly")

ONE_OF_EACH_KIND = {
    *("datasets", "a dataset", "the data of a dataset", "an empty draft", "label noise"),
    *("approving a run", "a difference", "an impact", "an impact that waits", "seer/history"),
}
"""With other data, scripts do the same and the themes have the same colours."""
OTHER_DATA = {
    *("a dataset with late labels", "a dataset with stale runs", "no difference", "no impact"),
    *("an impact of late labels", "a hostile dataset", "a hostile impact", "a hostile difference"),
    *("waiting/history", "partly"),
}
"""Templates of the others; what is hostile may do harm, be long, and is as accessible."""


@pytest.fixture(params=[*PAGES, *RUN_PAGES])
def path(request: pytest.FixtureRequest, revised: RevisedRegistry) -> str:
    """Each page that answers 200."""
    if request.param in PAGES:
        return PAGES[request.param]
    kind, slash, tab = request.param.partition("/")
    return f"/runs/{getattr(revised, kind)}{slash}{tab}"


def test_a_page_breaks_no_policy_says_the_same_without_scripts_is_accessible_and_fits(
    open_revised: Any, path: str, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["path"]
    is_one = name in ONE_OF_EACH_KIND

    expect_sound_page(
        open_revised,
        path,
        also_without_scripts=is_one,
        also_dark=is_one,
        also_accessible=name not in OTHER_DATA,
    )
