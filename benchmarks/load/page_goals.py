"""What the pages of a large registry are held to."""

from __future__ import annotations

from harness import Report

from load.page_list import UNLIMITED
from load.pages import LIST, RENDERING, Pages

MOST_STATEMENTS = 6
MOST_OVER_RENDERING = {"sqlite": 3.0, "postgresql": 4.0}
"""How many times as long as rendering alone a list may take, at the median."""
MOST_GROWTH = 1.2
"""Of the list of runs, from a tenth of the registry to all of it.

The two are measured minutes apart, in which a machine may become faster or slower. So each is
taken as a multiple of rendering, which is the same for both and measured between their turns.
"""
GROWING = (LIST, "runs by MCC")


def hold_pages(report: Report, base: str, small: Pages, large: Pages) -> None:
    """Compare pages with their limits, and with those of a registry a tenth as large."""
    for name, times in large.items():
        if times.limit_ms != UNLIMITED:
            report.goal(
                f"{name}, p95, ms", measured=times.p95_ms, wanted=times.limit_ms, at_least=False
            )
    report.goal(
        "statements of a page, at most",
        measured=max(times.n_statements for times in large.values()),
        wanted=MOST_STATEMENTS,
        at_least=False,
    )
    for name in GROWING:
        over_rendering = _over_rendering(large, name)
        report.goal(
            f"{name}, p50 over rendering alone",
            measured=over_rendering,
            wanted=MOST_OVER_RENDERING[base],
            at_least=False,
        )
        report.goal(
            f"{name}, p50 over rendering, at 100,000 runs over 10,000",
            measured=over_rendering / _over_rendering(small, name),
            wanted=MOST_GROWTH,
            at_least=False,
        )
    report.tables["pages"] = [
        {
            "page": name,
            "p50 of few, ms": small[name].p50_ms,
            "p50, ms": times.p50_ms,
            "p95, ms": times.p95_ms,
            "limit, ms": None if times.limit_ms == UNLIMITED else times.limit_ms,
            "statements": times.n_statements,
        }
        for name, times in large.items()
    ]


def _over_rendering(pages: Pages, name: str) -> float:
    return pages[name].p50_ms / pages[RENDERING].p50_ms
