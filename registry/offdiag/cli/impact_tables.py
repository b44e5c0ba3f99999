"""What corrections of ground truth did to runs, as sentences, a table and JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import open_table
from offdiag.cli.text import number, printable
from offdiag.cli.truth_tables import changes_in_words
from offdiag.errors import InvalidInput
from offdiag.reports import wording
from offdiag.reports.scope import DEFAULT_METRICS, METRICS_OF_SETS, spec_of
from offdiag.services.truth.impact import MOST_RUNS, MovedRun, TruthImpact
from offdiag.services.truth.impact_record import impact_record, values_beyond
from offdiag.store.truth_impact import ScoredRun

_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})")


def read_range(text: str) -> tuple[int, int]:
    """The two versions of `OLD..NEW`. Raises `InvalidInput`."""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise InvalidInput(
            f"{text!r} are no two versions.", field="version", hint="Write for example 1..2."
        )
    return int(found[1]), int(found[2])


def require_ranking_metric(metric: str) -> None:
    """Raise `InvalidInput` unless runs are ranked by this metric here."""
    known = dict.fromkeys((*DEFAULT_METRICS, *METRICS_OF_SETS))
    if metric not in known:
        raise InvalidInput(
            f"runs are not ranked by {metric!r} here.",
            field="metric",
            hint=f"Use one of {', '.join(known)}.",
        )


def impact_dict(impact: TruthImpact) -> dict[str, Any]:
    """The whole impact for programs."""
    assert impact.older is not None  # noqa: S101  # A range has two ends.
    return {
        "before": impact.older.number,
        "after": impact.version.number,
        **impact_record(impact),
    }


def impact_tables(impact: TruthImpact, *, metric: str, limit: int) -> Iterable[Table | Text]:
    """What was corrected and what that moved, then the runs, those that moved farthest first.

    Where the runs do not have the metric, their own first one takes its place.
    """
    metric = metric if metric in impact.metrics else impact.metrics[0]
    yield Text("\n".join(_sentences(impact, metric)))
    if impact.moved and limit:
        yield _runs_table(impact, metric, limit)


def _sentences(impact: TruthImpact, metric: str) -> Iterable[str]:
    assert impact.older is not None  # noqa: S101  # As above.
    assert impact.difference is not None  # noqa: S101  # As above.
    made = changes_in_words(
        impact.difference.n_corrected,
        impact.difference.n_newly_labelled,
        impact.difference.n_unlabelled,
    )
    yield f"Version {impact.older.number} to version {impact.version.number}: {made}."
    if impact.moved:
        n_beyond = len({change.run_id for change in impact.beyond})
        compared = wording.count(len(impact.moved), "run")
        n_ranks = impact.n_reranked[metric]
        places = f"{wording.count(n_ranks, 'run')} changed places" if n_ranks else "no run moved"
        yield (
            f"{n_beyond} of {compared} left the interval of a value; by "
            f"{wording.title_inside(metric)} {places}."
        )
    else:
        yield "No run was scored on both sides."
    if impact.is_cut:
        yield f"Only the newest {MOST_RUNS} runs are compared."
    for runs, what in (
        (impact.waiting, "waits to be scored"),
        (impact.failed, "could not be scored"),
        (impact.new, "was scored with the newer side only"),
    ):
        if runs:
            yield f"{_names(runs)}: {what}."


def _names(runs: tuple[ScoredRun, ...]) -> str:
    return wording.listed([wording.name(run.name) for run in runs])


def _runs_table(impact: TruthImpact, metric: str, limit: int) -> Table:
    beyond = values_beyond(impact)
    left_out = len(impact.moved) - limit
    table = open_table(
        title=wording.title(metric),
        caption=f"{left_out} more; --limit or --json shows them." if left_out > 0 else None,
    )
    table.add_column("run", no_wrap=True)
    table.add_column("name", overflow="fold")
    for name in ("before", "after", "difference"):
        table.add_column(name, justify="right")
    for name in ("verdict", "rank"):
        table.add_column(name)
    for moved in sorted(impact.moved, key=lambda each: -_distance(each, metric))[:limit]:
        before, after = moved.values_of(metric)
        table.add_row(
            moved.run.id,
            Text(printable(moved.run.name)),
            Text(number(metric, before)),
            Text(number(metric, after, with_interval=False)),
            _difference(moved, metric),
            _verdict(moved, metric, is_beyond=(moved.run.id, metric) in beyond),
            _rank(*moved.places[metric]),
        )
    return table


def _distance(moved: MovedRun, metric: str) -> float:
    difference = moved.difference_of(metric)
    if difference is None:
        before, after = moved.values_of(metric)
        return 0.0 if before.is_defined == after.is_defined else math.inf
    return abs(difference)


def _difference(moved: MovedRun, metric: str) -> str:
    difference = moved.difference_of(metric)
    if difference is None:
        return ""
    return wording.difference(difference, spec_of(metric, of_class=False))


def _verdict(moved: MovedRun, metric: str, *, is_beyond: bool) -> Text:
    before, after = moved.values_of(metric)
    if before.is_defined != after.is_defined:
        return Text("became defined" if after.is_defined else "became undefined", style="bold")
    if not before.is_defined:
        return Text("undefined both times")
    if before.ci_low is None:
        return Text("had no interval")
    return Text("beyond its interval", style="bold") if is_beyond else Text("within its interval")


def _rank(before: int | None, after: int | None) -> str:
    if before == after:
        return "none" if after is None else str(after)
    return f"{before or 'none'} → {after or 'none'}"
