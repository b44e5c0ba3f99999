"""What a load run is held to: nothing lost, nothing twice, no error, everything evaluated."""

from __future__ import annotations

from dataclasses import asdict

from harness import Report

from load import observations
from load.storm import Aftermath, Storm


def hold_storm(report: Report, storm: Storm, after: Aftermath) -> None:
    """Compare the books with what must be, and show what clients saw."""
    books, seen = after.books, after.seen
    report.goal(
        "runs acknowledged, at least one a client",
        measured=books.acknowledged,
        wanted=storm.clients,
    )
    for name, number in (
        ("acknowledged runs lost", books.lost),
        ("runs stored twice", books.doubled),
        ("runs without a result", books.unevaluated),
        ("runs evaluated more than once", books.evaluated_again),
        ("runs that are not what was sent, or whose result is wrong", after.wrong),
        ("answers that are errors", sum(not each.is_expected for each in seen)),
    ):
        report.goal(name, measured=number, wanted=0, at_least=False)
    report.fact("training clients", storm.clients)
    report.fact("readers", storm.readers)
    report.fact("workers", storm.workers)
    report.fact("seconds", storm.seconds)
    report.fact("runs logged meanwhile", books.stored)
    report.fact("predictions logged meanwhile", books.predictions)
    report.fact("from the end of a run to its result, p50, s", books.waited_p50_s)
    report.fact("from the end of a run to its result, p95, s", books.waited_p95_s)
    statuses = observations.statuses(seen)
    report.fact(
        "answers", ", ".join(f"{number} x {status}" for status, number in statuses.items())
    )
    report.tables["requests"] = [asdict(each) for each in observations.summarised(seen)]
