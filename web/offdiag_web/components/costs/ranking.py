"""Runs ranked by cost, compared with the cheapest constant prediction."""

from __future__ import annotations

from dataclasses import dataclass, replace

from markupsafe import Markup

from offdiag.comparison.texts import run_label
from offdiag.domain.number_text import Amounts, amounts_for
from offdiag.domain.values import MetricValue, reason_text
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.summary import expected_samples
from offdiag.metrics.many_runs.best_runs import FEWEST_SAMPLES
from offdiag.metrics.metric_text import PER_CASES
from offdiag.services.what_if.costs import PredictionCost, Verdict, WhatIf, rounding
from offdiag.services.what_if.scenario import Scenario
from offdiag_web.charts.marks import IN_LIST_SMALL, interval_mark, run_style
from offdiag_web.charts.svg import Scale, spanning
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.metric_values import extent_of, interval_name
from offdiag_web.urls.costs import WhatIfAddress
from offdiag_web.urls.run import run_url


@dataclass(frozen=True, slots=True)
class RankedRun:
    """One run. `total` is the exact total cost, to be compared with the browser's result."""

    id: str
    run_label: str
    css: str
    name: str
    model: str | None
    url: str
    remove_url: str | None
    decide_url: str | None
    rank: str
    moved: str
    accuracy_rank: int | None
    cost: str
    mark: Markup | None
    interval: str | None
    behind: str | None
    behind_interval: str | None
    behind_whom: str | None
    verdict: Verdict
    undefined: str | None
    cells: str
    n_cases: int
    total: str


@dataclass(frozen=True, slots=True)
class ConstantLine:
    """The cheapest constant prediction."""

    label: str
    cost: str
    support: str
    drawn: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """Runs, the cheapest first. `ends` are those of the axis of the marks."""

    rows: tuple[RankedRun, ...]
    constant: ConstantLine | None
    ends: tuple[str, str]
    note: str


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What all rows share: decimals, axis, and the cost of the best constant prediction."""

    amounts: Amounts
    scale: Scale
    constant: float | None


def amounts_of(found: WhatIf) -> Amounts:
    """The number format of costs, with enough digits to distinguish the runs."""
    means = [each.mean.value for each in found.answers if each.mean.value is not None]
    if found.constant is not None:
        means.append(found.constant.mean)
    # Without the ends of intervals, because the browser has to find the same decimals without
    # them.
    return amounts_for(mean * PER_CASES for mean in means)


def interval_text(mean: MetricValue, amounts: Amounts) -> str | None:
    """ "1,103 – 1,149" per 1,000 examples, None if there is no interval."""
    if mean.ci_low is None or mean.ci_high is None:
        return None
    return amounts.interval(mean.ci_low * PER_CASES, mean.ci_high * PER_CASES)


def ranking(found: WhatIf, address: WhatIfAddress) -> Ranking:
    extents = [extent_of(each.mean, times=PER_CASES) for each in found.answers]
    ends = [end for e in extents if e is not None for end in (e.lowest, e.highest)]
    constant = None if found.constant is None else found.constant.mean * PER_CASES
    amounts = amounts_of(found)
    # If runs are no cheaper than the constant prediction, the marks show by how much; if none
    # costs anything, nothing else sets the length of the scale.
    if constant is not None and (constant < min(ends, default=0.0) or not any(ends)):
        ends.append(constant)
    scale = spanning(ends)
    drawn = _Drawn(amounts, scale, constant)
    rows = [
        _row(found, place, address, drawn, url=run_url(each.run.id))
        for place, each in enumerate(found.answers)
    ]
    order = sorted(
        range(len(rows)), key=lambda place: (found.answers[place].rank or len(rows) + 1, place)
    )
    return Ranking(
        rows=tuple(rows[place] for place in order),
        constant=None
        if found.constant is None or constant is None
        else ConstantLine(
            found.frame.runs[0].matrix.labels.names[found.constant.code],
            amounts.text(constant),
            _support(found),
            "dashed" if scale.fraction(constant) <= 1 else "above the scale",
        ),
        ends=scale.ends,
        note=_note(found),
    )


def _row(
    found: WhatIf, place: int, address: WhatIfAddress, drawn: _Drawn, *, url: str
) -> RankedRun:
    each, amounts = found.answers[place], drawn.amounts
    run, mean = each.run, each.mean.value
    behind, rival = each.place.behind, each.place.compared_with
    others = tuple(other for other in address.runs if other != run.id)
    extent = extent_of(each.mean, times=PER_CASES)
    interval = interval_text(each.mean, amounts)
    mark = None
    if extent is not None:
        mark = interval_mark(
            extent,
            scale=drawn.scale,
            name=f"Cost of {run_label(place)}: {interval_name(interval)}",
            baseline=drawn.constant,
            canvas=IN_LIST_SMALL,
        )
    return RankedRun(
        id=run.id,
        run_label=run_label(place),
        css=run_style(place).css_class,
        name=run.name,
        model=run.model,
        url=url,
        remove_url=replace(address, runs=others).url() if others else None,
        decide_url=address.decisions_url(run.id) if run.score_columns else None,
        rank="–" if each.rank is None else str(each.rank),
        moved=moved_text(each.rank, each.rank_by_accuracy),
        accuracy_rank=each.rank_by_accuracy,
        cost="undefined" if mean is None else amounts.text(mean * PER_CASES),
        mark=mark,
        interval=interval,
        behind=None if behind.value is None else amounts.signed(behind.value * PER_CASES),
        behind_interval=_behind_interval(behind, amounts),
        behind_whom=None
        if rival is None or found.answers[rival].place.verdict == "cheapest"
        else run_label(rival),
        verdict=each.place.verdict,
        undefined=None if mean is not None else reason_text(each.mean.reason or "no_cases"),
        cells=_cells(found, each),
        n_cases=run.matrix.total,
        total="" if each.total.value is None else repr(each.total.value),
    )


def moved_text(rank: int | None, before: int | None) -> str:
    """How a rank differs from that by accuracy: "↑ 3"; a sign for none would look like a tie."""
    if rank is None or before is None or rank == before:
        return ""
    return f"{'↑' if rank < before else '↓'}\N{NO-BREAK SPACE}{abs(rank - before)}"


def rank_sentence(found: WhatIf) -> str:
    """Which runs cost least, as far as the intervals of the differences show."""
    if found.cheapest is None:
        return "No run has a cost here."
    groups: dict[Verdict, list[str]] = {}
    for place, each in enumerate(found.answers):
        groups.setdefault(each.place.verdict, []).append(run_label(place))
    cheapest = _named(found, found.cheapest)
    if len(found.answers) == 1:
        return f"{cheapest} is the only run here."
    least = groups["cheapest"]
    if len(least) > 1:
        parts = [f"{numbers.listed(least)} share the lowest cost on these examples."]
    else:
        parts = [f"{cheapest} costs least on these examples."]
    if "open" in groups:
        show = "shows" if len(groups["open"]) == 1 else "show"
        it = "it" if len(least) == 1 else "them"
        parts.append(
            f"{numbers.listed(groups['open'])} {show} no significant difference from {it}."
        )
    if "dearer" in groups:
        costs = "costs" if len(groups["dearer"]) == 1 else "cost"
        parts.append(f"{numbers.listed(groups['dearer'])} {costs} significantly more.")
    if "not tested" in groups:
        parts.append(
            f"{numbers.listed(groups['not tested'])} cannot be tested: a class has fewer than "
            f"{FEWEST_SAMPLES} examples."
        )
    if "not paired" in groups:
        parts.append(
            f"{numbers.listed(groups['not paired'])} cannot be paired with it by example, so "
            "whether the difference is chance is not known."
        )
    return " ".join(parts)


def constant_sentence(found: WhatIf) -> str | None:
    """A sentence on runs that cost no less than always predicting one class; None if none do."""
    if found.constant is None:
        return None
    reach = rounding(found.scenario.effective)
    more = {
        run_label(place): each.mean.value
        - _constant_cost(found.scenario, found.constant.code, each.run.matrix)
        for place, each in enumerate(found.answers)
        if each.mean.value is not None
    }
    losing = [label for label, gap in more.items() if gap >= -reach]
    if not losing:
        return None
    costs_more = any(gap > reach for gap in more.values())
    label = quoted_name(found.frame.runs[0].matrix.labels.names[found.constant.code])
    costs = "costs" if len(losing) == 1 else "cost"
    than = "no less than" if costs_more else "as much as"
    return f"On these examples {numbers.listed(losing)} {costs} {than} always predicting {label}."


def _constant_cost(scenario: Scenario, code: int, matrix: ConfusionMatrix) -> float:
    """The cost per sample of always predicting a class, on the samples of a run."""
    _, support = expected_samples(matrix.counts, prevalence=scenario.prevalence)
    return float(support @ scenario.effective.weights[:, code]) / matrix.total


def _named(found: WhatIf, place: int) -> str:
    return f"{run_label(place)} {quoted_name(found.answers[place].run.name)}"


def _behind_interval(behind: MetricValue, amounts: Amounts) -> str | None:
    if behind.ci_low is None or behind.ci_high is None:
        return None
    low, high = (amounts.signed(end * PER_CASES) for end in (behind.ci_low, behind.ci_high))
    return f"{low} to {high}"


def _cells(found: WhatIf, each: PredictionCost) -> str:
    """The samples of a run for the browser: index in row order and count of non-empty cells."""
    cases, _ = expected_samples(each.run.matrix.counts, prevalence=found.scenario.prevalence)
    return " ".join(f"{place}:{_exact(n)}" for place, n in enumerate(cases.ravel()) if n)


def _support(found: WhatIf) -> str:
    """The samples of each class of the first run, for the browser."""
    _, support = expected_samples(
        found.frame.runs[0].matrix.counts, prevalence=found.scenario.prevalence
    )
    return " ".join(map(_exact, support))


def _exact(number: float) -> str:
    plain = float(number)
    return str(int(plain)) if plain.is_integer() else repr(plain)


def _note(found: WhatIf) -> str:
    pairs = found.frame.pairs
    if pairs is None or len(found.answers) < 2:
        return ""
    return (
        "Differences to the cheapest run are paired, and their 95 % intervals count all runs "
        "that are compared."
    )
