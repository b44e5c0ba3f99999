"""All matrices of whole numbers that fit, for two classes of known sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from offdiag.audit.feasible import FeasibleTables, Run
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import quoted_name

MOST_LISTED = 60
"""Lines on the page; each may hold a range. The JSON has the matrices one by one."""
_TO = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class FittingView:
    """`lines` are the four counts of the positive class, as numbers or ranges."""

    sentence: str
    heads: tuple[str, str, str, str]
    lines: tuple[tuple[str, str, str, str], ...]
    n_hidden: str | None


def fitting_view(tables: FeasibleTables, names: Sequence[str], positive: int) -> FittingView:
    """Present the matrices, seen from the class with the code `positive`."""
    sizes = tables.sizes if positive == 0 else (tables.sizes[1], tables.sizes[0])
    runs = (
        tables.runs
        if positive == 0
        else tuple(run.seen_from_the_other_class(tables.sizes) for run in tables.runs)
    )
    name = quoted_name(names[positive])
    lines = tuple(_lines(runs[:MOST_LISTED], sizes))
    hidden = len(runs) - len(lines)
    return FittingView(
        sentence=_sentence(tables, sizes),
        heads=(
            f"{name} found (TP)",
            f"{name} missed (FN)",
            f"False alarms for {name} (FP)",
            "Right rejections (TN)",
        ),
        lines=lines,
        n_hidden=f"{numbers.plural(hidden, 'more line')} in the JSON." if hidden > 0 else None,
    )


def _sentence(tables: FeasibleTables, sizes: Sequence[int]) -> str:
    of = f"of {numbers.count(sizes[0])} and {numbers.count(sizes[1])} cases"
    if not tables.is_complete:
        return f"There are too many matrices {of} to go through all of them."
    if tables.count == 0:
        return f"No matrix {of} gives these numbers."
    if tables.count == 1:
        return f"One matrix {of} gives these numbers, so this is the one behind them."
    return f"{numbers.count(tables.count)} matrices {of} give these numbers."


def _lines(runs: Sequence[Run], sizes: Sequence[int]) -> Iterator[tuple[str, str, str, str]]:
    first, second = sizes
    for run in runs:
        yield (
            _range(run.fewest_hits, run.most_hits),
            _range(first - run.most_hits, first - run.fewest_hits),
            _range(run.fewest_alarms, run.most_alarms),
            _range(second - run.most_alarms, second - run.fewest_alarms),
        )


def _range(low: int, high: int) -> str:
    if low == high:
        return numbers.count(low)
    return f"{numbers.count(low)} {_TO} {numbers.count(high)}"
