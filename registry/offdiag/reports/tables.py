"""The tables of figures of a report, in reading order, and the matrix of the first run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from offdiag.domain import number_text, sentences
from offdiag.domain.number_text import number, percent
from offdiag.domain.runs import Task
from offdiag.domain.values import worst_first
from offdiag.metrics import metric_text
from offdiag.metrics.intervals.bounds import difference_bounds
from offdiag.metrics.metric_text import COST_METRIC, spec_of
from offdiag.reports.changes import ranks
from offdiag.reports.report import Report
from offdiag.reports.scope import CLASS_METRICS
from offdiag.reports.snapshot import MOST_SLICED, ClassFigures, RunFigures

MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` are the column titles; a `note` says what a reader could misunderstand."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    @property
    def header_column(self) -> int:
        """The column that names a row: the run, else the first one."""
        return next((i for i, title in enumerate(self.columns) if title.lower() == "run"), 0)


def table_of(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], note: str = ""
) -> Table | None:
    """A table of the first `MOST_ROWS` rows, None if there are none."""
    if not rows:
        return None
    if len(rows) > MOST_ROWS:
        cut = f"{MOST_ROWS} of {len(rows):,} lines; all are in the CSV and JSON files."
        note = f"{note} {cut}".strip()
    return Table(title, columns, tuple(rows[:MOST_ROWS]), note)


CORNER = "actual ↓ predicted →"


@dataclass(frozen=True, slots=True)
class LeaderMatrix:
    """Each of `rows` is an actual class with its samples by predicted class, in label order."""

    title: str
    corner: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


def leader_matrix(report: Report) -> LeaderMatrix | None:
    """The matrix with both axes named, None if there is no run or there are too many classes."""
    leader = report.snapshot.leader
    if leader is None or leader.matrix is None:
        return None
    matrix = leader.matrix
    total = sum(map(sum, matrix.counts))
    name = sentences.name(report.ranking[0].name)
    return LeaderMatrix(
        title=f"Confusion matrix of {name}: actual class down, predicted class across, "
        f"{number_text.count(total, 'example')}",
        corner=CORNER,
        labels=matrix.labels,
        rows=tuple(zip(matrix.labels, matrix.counts, strict=True)),
    )


_WORST_OF_BEST = 8


def runs_table(report: Report) -> Table | None:
    metrics = report.scope.metrics
    new = set(report.findings.new_runs)
    baseline = _baseline(report)
    champion = None if report.snapshot.champion is None else report.snapshot.champion.id
    columns = (
        "place",
        "run",
        "id",
        "model",
        "logged",
        "examples",
        *map(metric_text.title, metrics),
    )
    places = _places_by_cost(report)
    if places:
        columns = (*columns, "place by cost")
    if baseline is not None:
        by = metric_text.title(report.scope.ranking_metric)
        columns = (*columns, f"{by} against {sentences.name(baseline.name)}")
    rows = []
    places_by_value = ranks(report.ranking, report.scope.ranking_metric)
    for run in report.ranking:
        marks = (
            *(["champion"] if run.id == champion else []),
            *(["new"] if run.id in new else []),
        )
        row = (
            str(places_by_value.get(run.id, "")),
            marked_name(run, *marks),
            run.id,
            run.model or "",
            f"{run.logged_at:%Y-%m-%d}",
            _cases(run),
            *(metric_text.value_text(key, run.metrics[key]) for key in metrics),
            *((str(places.get(run.id, "")),) if places else ()),
        )
        against = () if baseline is None else (_against(report, baseline, run),)
        rows.append((*row, *against))
    return table_of(
        f"Runs, best by {metric_text.title_inside(report.scope.ranking_metric)} first",
        columns,
        rows,
        "Intervals hold the true value in 95 of 100 such reports; overlapping ones leave the "
        f"order open.{_of_weights(report)}{_yardstick(report)}",
    )


def marked_name(run: RunFigures, *marks: str) -> str:
    """The name of a run with marks in brackets; one mark says that its values are weighted."""
    all_marks = (*marks, "weighted") if run.has_weights else marks
    return f"{run.name} ({', '.join(all_marks)})" if all_marks else run.name


def _of_weights(report: Report) -> str:
    if not any(run.has_weights for run in report.snapshot.runs):
        return ""
    return (
        " Runs with sample weights have no place and are compared with none but the one before of "
        "the same name and weights."
    )


def _places_by_cost(report: Report) -> dict[str, int]:
    """Place of each run by mean cost, unless that is the ranking itself or unknown."""
    scope = report.scope
    if COST_METRIC not in scope.metrics or scope.ranking_metric == COST_METRIC:
        return {}
    return ranks(report.ranking, COST_METRIC)


def _yardstick(report: Report) -> str:
    """How costs are measured, and the least cost that a run has to beat."""
    costs = report.snapshot.costs
    if costs is None:
        return ""
    unit = "" if costs.currency is None else f" in {costs.currency}"
    text = f" Costs{unit} are by {sentences.name(costs.name)}@{costs.version}"
    if costs.constant is None:
        return f"{text}."
    answer = sentences.name(costs.constant.label)
    constant = number(costs.constant.mean_cost * metric_text.PER_CASES)
    per = f"per {metric_text.PER_CASES:,} examples"
    return f"{text}; always predicting {answer} would cost {constant} {per}."


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
    has_weights = baseline.has_weights or run.has_weights
    if before.value is None or after.value is None or bounds is None or has_weights:
        return "not comparable"
    low, high = (metric_text.difference(bound, spec).removesuffix(" pp") for bound in bounds)
    return f"{metric_text.difference(after.value - before.value, spec)} ({low} to {high})"


def slices_table(report: Report) -> Table | None:
    order = {run.id: place for place, run in enumerate(report.ranking)}
    n_hidden = report.snapshot.n_suppressed
    runs = sorted(
        report.snapshot.slices, key=lambda run: (run.slice or "", order.get(run.id, len(order)))
    )
    return table_of(
        "Slices",
        ("slice", "run", "examples", *map(metric_text.title, report.scope.metrics)),
        [
            (
                run.slice or "",
                marked_name(run),
                _cases(run),
                *(metric_text.value_text(key, run.metrics[key]) for key in report.scope.metrics),
            )
            for run in runs
        ],
        " ".join(
            (f"Slices of the best {MOST_SLICED} runs.",) * (len(order) > MOST_SLICED)
            + (f"Too small to be shown: {number_text.count(n_hidden, 'slice')}.",) * bool(n_hidden)
        ),
    )


def worst_classes_table(report: Report) -> Table | None:
    if not report.ranking:
        return None
    best, (one, many) = report.ranking[0], things_of(report)
    return table_of(
        f"Worst {many} of {sentences.name(best.name)}",
        (one, "examples", *(spec_of(key, of_class=True).title for key in CLASS_METRICS)),
        [
            (
                figures.label,
                _size(best, figures),
                *(metric_text.with_interval(figures.values[key]) for key in CLASS_METRICS),
            )
            for figures in worst_classes(best)[:_WORST_OF_BEST]
        ],
    )


def worst_of_each_table(report: Report) -> Table | None:
    worst, (one, _) = [(run, worst_classes(run)[:1]) for run in report.ranking], things_of(report)
    return table_of(
        f"Worst {one} of each run",
        ("run", one, "examples", "Recall"),
        [
            (
                marked_name(run),
                figures.label,
                _size(run, figures),
                metric_text.with_interval(figures.values["recall"]),
            )
            for run, found in worst
            for figures in found
        ],
    )


def things_of(report: Report) -> tuple[str, str]:
    """The noun for what the runs predict, singular and plural."""
    if report.snapshot.task == Task.MULTILABEL:
        return "label", "labels"
    return "class", "classes"


def _size(run: RunFigures, figures: ClassFigures) -> str:
    """ "112", or "weight 30.25": a sum of weights is not a number of examples."""
    is_whole = figures.support == round(figures.support)
    support = f"{figures.support:,.0f}" if is_whole else number(figures.support)
    return f"weight {support}" if run.has_weights else support


def worst_classes(run: RunFigures) -> Sequence[ClassFigures]:
    """Classes that have samples, the worst first."""
    known = [each for each in run.classes if each.values["recall"].is_defined]
    recalls = [each.values["recall"] for each in known]
    return [known[at] for at in worst_first(recalls, [each.support for each in known])]


def confusions_table(report: Report) -> Table | None:
    leader = report.snapshot.leader
    if leader is None:
        return None
    return table_of(
        f"Most frequent confusions of {sentences.name(report.ranking[0].name)}",
        ("actual", "predicted", "examples", "share of the actual class"),
        [
            (
                each.actual,
                each.predicted,
                f"{each.count:,}",
                percent(each.count / each.support, 1),
            )
            for each in leader.confusions
        ],
    )


def _cases(run: RunFigures) -> str:
    if run.n_scored == run.n_cases:
        return f"{run.n_cases:,}"
    return f"{run.n_scored:,} labelled of {run.n_cases:,}"


def absent_table(report: Report) -> Table | None:
    snapshot = report.snapshot
    rows = [(name, "no longer in scope") for name in report.findings.gone]
    rows += [(run.name, "not evaluated yet") for run in snapshot.waiting]
    rows += [(run.name, "could not be evaluated") for run in snapshot.failed]
    return table_of("Runs without figures", ("run", "why"), rows)


Maker = Callable[[Report], Table | None]

_FIGURES: Sequence[Maker] = (
    runs_table,
    slices_table,
    worst_classes_table,
    worst_of_each_table,
    confusions_table,
    absent_table,
)


def tables_of_figures(report: Report) -> tuple[Table, ...]:
    """The figures themselves; tables without rows are left out."""
    return made_tables(_FIGURES, report)


def made_tables(makers: Sequence[Maker], report: Report) -> tuple[Table, ...]:
    """The tables that have rows."""
    made = (make(report) for make in makers)
    return tuple(table for table in made if table is not None)
