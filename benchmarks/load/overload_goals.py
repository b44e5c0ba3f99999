"""What a server is held to that is asked far more than it can answer."""

from __future__ import annotations

from statistics import median, quantiles

from harness import Report

from load import observations
from load.overload import Overload, Overloaded

MOST_S = 1.0
"""At the 95th percentile of the pages that were answered at all."""
MOST_GROWTH = 1.1


def hold_overload(report: Report, plan: Overload, found: Overloaded) -> None:
    """Compare what readers saw, and what it cost, with what must be."""
    answered = [each.seconds for each in found.seen if 200 <= each.status < 400]
    name = f"overload, {plan.readers} readers"
    report.goal(
        f"{name}: answers but success, 429 and 503 that say when to come back",
        measured=sum(not each.is_expected for each in found.seen),
        wanted=0,
        at_least=False,
    )
    report.goal(
        f"{name}: answers of /healthz but success",
        measured=sum(not each.is_expected for each in found.alive),
        wanted=0,
        at_least=False,
    )
    report.goal(
        f"{name}: p95 of the pages that were answered, s",
        measured=quantiles(answered, n=20, method="inclusive")[-1],
        wanted=MOST_S,
        at_least=False,
    )
    report.goal(
        f"{name}: memory of the server at the end over that after {plan.warm_s:g} s",
        measured=found.growth,
        wanted=MOST_GROWTH,
        at_least=False,
    )
    report.fact(f"{name}: seconds", plan.seconds)
    report.fact(f"{name}: pages asked for a second", round(len(found.seen) / plan.seconds))
    report.fact(f"{name}: pages answered a second", round(len(answered) / plan.seconds, 1))
    report.fact(f"{name}: p50 of the pages that were answered, s", round(median(answered), 3))
    report.fact(
        f"{name}: slowest answer of /healthz, s",
        round(max(each.seconds for each in found.alive), 3),
    )
    report.fact(f"{name}: memory at the end, MiB", round(found.memory_mib[-1]))
    statuses = observations.statuses(found.seen)
    report.fact(f"{name}: answers", ", ".join(f"{n} x {status}" for status, n in statuses.items()))
