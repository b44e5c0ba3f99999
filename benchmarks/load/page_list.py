"""Which pages are asked for in a large registry, and how long each may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from load.subjects import Subjects
from offdiag.store.run_order import Cursor, Group, Place
from offdiag_web.urls.run_list import RunListAddress

RUNS, RUN, FLAGS, COMPARE, WHAT_IF, PICTURE = 150.0, 100.0, 80.0, 80.0, 60.0, 50.0
"""Milliseconds at the 95th percentile, whatever the size of the registry."""
UNLIMITED = float("inf")


@dataclass(frozen=True, slots=True)
class AskedPage:
    """A path, and the limit of its 95th percentile in milliseconds."""

    path: str
    limit_ms: float


def page_list(subjects: Subjects) -> Mapping[str, AskedPage]:
    """The pages by name, the list of runs in all its orders first."""
    run = f"/runs/{subjects.one}"
    pair = f"{subjects.one},{subjects.other}"
    middle = Cursor(Place(Group.DEFINED, subjects.middle_at, subjects.middle))
    lists = {
        "runs": "/runs",
        "runs, from the middle on": RunListAddress(cursor=middle).url(),
        "runs by MCC": "/runs?sort=-mcc",
        "runs by worst class": "/runs?sort=-worst",
        "runs by flags": "/runs?sort=-flags",
        "runs by name": "/runs?sort=name",
        "runs of a dataset": _found(f'dataset:"{subjects.dataset}"'),
        "runs of a dataset by MCC": _found(f'dataset:"{subjects.dataset}"', sort="-mcc"),
        "runs of a project": _found(f'project:"{subjects.project}"'),
        "runs of a model by MCC": _found('model:"logistic regression"', sort="-mcc"),
        "runs as JSON": "/runs.json",
        "runs, interface": f"/api/v1/runs?order_by={quote('metrics.mcc desc')}&limit=50",
    }
    others = {
        "home": ("/", RUNS),
        "datasets": ("/datasets", RUNS),
        "a dataset": (
            f"/datasets/{quote(subjects.dataset)}?project={quote(subjects.project)}",
            RUNS,
        ),
        "a model": (f"/models/{quote('logistic regression')}", RUNS),
        "jobs": ("/jobs", RUNS),
        "a run": (run, RUN),
        "classes of a run": (f"{run}/classes", RUN),
        "history of a run": (f"{run}/history", RUN),
        "examples of a run": (f"{run}/examples?show=all", RUN),
        "a run, interface": (f"/api/v1{run}/evaluation", RUN),
        "matrix as a picture": (f"{run}/matrix.png", PICTURE),
        "matrix as JSON": (f"{run}/matrix.json", RUN),
        "problems": ("/problems", FLAGS),
        "a flag": (f"/flags/{subjects.flag}", FLAGS),
        "compare two runs": (f"/compare?runs={pair}", COMPARE),
        "what-if, two runs": (f"/whatif?runs={pair}&cost=@0-1", WHAT_IF),
    }
    return {name: AskedPage(path, RUNS) for name, path in lists.items()} | {
        name: AskedPage(*page) for name, page in others.items()
    }


def searches() -> Mapping[str, AskedPage]:
    """Conditions that are looked at run by run: the rarer they hold, the more runs."""
    return {
        "runs by a part of their name": AskedPage(_found("003-01"), RUNS),
        "runs with a tag": AskedPage(_found('tag:team="team 1"'), RUNS),
        "runs with a flag": AskedPage(_found("flag:any"), RUNS),
        "runs above a value": AskedPage(_found("mcc:>0.9"), RUNS),
        "go to": AskedPage("/search?q=forest", RUNS),
    }


def _found(query: str, *, sort: str | None = None) -> str:
    path = f"/runs?q={quote(query)}"
    return path if sort is None else f"{path}&sort={sort}"
