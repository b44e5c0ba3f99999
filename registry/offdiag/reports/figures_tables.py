"""Tables of the figures themselves: runs, slices, classes, confusions."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.metrics.intervals.bounds import difference_bounds
from offdiag.reports import wording
from offdiag.reports.ranking import ranks
from offdiag.reports.report import Report
from offdiag.reports.scope import CLASS_METRICS, COST_METRIC, spec_of
from offdiag.reports.snapshot import MOST_SLICED, ClassFigures, RunFigures
from offdiag.reports.table import Table, table_of

_WORST_OF_BEST = 8


def runs_table(report: Report) -> Table | None:
    metrics = report.scope.metrics
    new = set(report.findings.new_runs)
    baseline = _baseline(report)
    columns = ("place", "run", "id", "model", "logged", "cases", *map(wording.title, metrics))
    places = _places_by_cost(report)
    if places:
        columns = (*columns, "place by cost")
    if baseline is not None:
        by = wording.title(report.scope.ranking_metric)
        columns = (*columns, f"{by} against {wording.name(baseline.name)}")
    rows = []
    for place, run in enumerate(report.ranking, start=1):
        row = (
            str(place),
            f"{run.name} (new)" if run.id in new else run.name,
            run.id,
            run.model or "",
            f"{run.logged_at:%Y-%m-%d}",
            _cases(run),
            *(wording.metric_text(key, run.metrics[key]) for key in metrics),
            *((str(places.get(run.id, "")),) if places else ()),
        )
        against = () if baseline is None else (_against(report, baseline, run),)
        rows.append((*row, *against))
    return table_of(
        f"Runs, best by {wording.title_inside(report.scope.ranking_metric)} first",
        columns,
        rows,
        "Intervals hold the true value in 95 of 100 such reports; overlapping ones leave the "
        f"order open.{_yardstick(report)}",
    )


def _places_by_cost(report: Report) -> dict[str, int]:
    """Place of each run by mean cost, unless that is the ranking itself or is not known."""
    scope = report.scope
    if COST_METRIC not in scope.metrics or scope.ranking_metric == COST_METRIC:
        return {}
    return ranks(report.ranking, COST_METRIC)


def _yardstick(report: Report) -> str:
    """What costs are measured by, and the least that a run has to beat."""
    costs = report.snapshot.costs
    if costs is None:
        return ""
    unit = "" if costs.currency is None else f" in {costs.currency}"
    text = f" Costs{unit} are by {wording.name(costs.name)}@{costs.version}"
    if costs.constant is None:
        return f"{text}."
    answer = wording.name(costs.constant.label)
    constant = wording.number(costs.constant.mean_cost * wording.PER_CASES)
    return (
        f"{text}; always answering {answer} would cost {constant} per {wording.PER_CASES:,} cases."
    )


def _baseline(report: Report) -> RunFigures | None:
    wanted = report.scope.baseline
    return next((run for run in report.snapshot.runs if run.id == wanted), None)


def _against(report: Report, baseline: RunFigures, run: RunFigures) -> str:
    if run.id == baseline.id:
        return "baseline"
    key = report.scope.ranking_metric
    spec = spec_of(key, of_class=False)
    before, after = baseline.metrics[key], run.metrics[key]
    bounds = difference_bounds(before, after)
    if before.value is None or after.value is None or bounds is None:
        return "not comparable"
    low, high = (wording.difference(bound, spec).removesuffix(" pp") for bound in bounds)
    return f"{wording.difference(after.value - before.value, spec)} ({low} to {high})"


def slices_table(report: Report) -> Table | None:
    order = {run.id: place for place, run in enumerate(report.ranking)}
    runs = sorted(
        report.snapshot.slices, key=lambda run: (run.slice or "", order.get(run.id, len(order)))
    )
    return table_of(
        "Slices",
        ("slice", "run", "cases", *map(wording.title, report.scope.metrics)),
        [
            (
                run.slice or "",
                run.name,
                _cases(run),
                *(wording.metric_text(key, run.metrics[key]) for key in report.scope.metrics),
            )
            for run in runs
        ],
        f"Slices of the best {MOST_SLICED} runs." if len(order) > MOST_SLICED else "",
    )


def worst_classes_table(report: Report) -> Table | None:
    if not report.ranking:
        return None
    best = report.ranking[0]
    return table_of(
        f"Worst classes of {wording.name(best.name)}",
        ("class", "cases", *(spec_of(key, of_class=True).title for key in CLASS_METRICS)),
        [
            (
                figures.label,
                f"{figures.support:,}",
                *(wording.with_interval(figures.values[key]) for key in CLASS_METRICS),
            )
            for figures in worst_first(best)[:_WORST_OF_BEST]
        ],
    )


def worst_of_each_table(report: Report) -> Table | None:
    worst = [(run, worst_first(run)[:1]) for run in report.ranking]
    return table_of(
        "Worst class of each run",
        ("run", "class", "cases", "Recall"),
        [
            (
                run.name,
                figures.label,
                f"{figures.support:,}",
                wording.with_interval(figures.values["recall"]),
            )
            for run, found in worst
            for figures in found
        ],
    )


def worst_first(run: RunFigures) -> Sequence[ClassFigures]:
    """Classes that have cases, lowest recall first; of equal ones the larger class."""
    with_cases = [each for each in run.classes if each.values["recall"].value is not None]
    return sorted(with_cases, key=lambda each: (each.values["recall"].value, -each.support))


def confusions_table(report: Report) -> Table | None:
    leader = report.snapshot.leader
    if leader is None:
        return None
    return table_of(
        f"Most frequent confusions of {wording.name(report.ranking[0].name)}",
        ("actual", "predicted", "cases", "share of the actual class"),
        [
            (
                each.actual,
                each.predicted,
                f"{each.count:,}",
                f"{100 * each.count / each.support:.1f} %",
            )
            for each in leader.confusions
        ],
    )


def _cases(run: RunFigures) -> str:
    if run.n_scored == run.n_cases:
        return f"{run.n_cases:,}"
    return f"{run.n_scored:,} labelled of {run.n_cases:,}"
