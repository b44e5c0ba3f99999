"""Reading the measurements of problems: the flag that says it, and the metric over the runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import PromotionRole, Task
from offdiag.domain.slices import parse_slice
from offdiag.filters.conditions import MetricField
from offdiag.flags.problems import Cause, Problem, SeenFlag
from offdiag.store.evaluations import counts_for_its_run
from offdiag.store.models import AGGREGATE, EvaluationRow, FlagRow, MetricValueRow, RunRow
from offdiag.store.problems import FoundProblems
from offdiag.store.ranked_runs import RankedRun, highest_runs, ranked_run
from offdiag.store.run_slices import best_on_slice, values_of_slices

MEASURED: Mapping[Cause, str] = {
    Cause.MISSED: "recall",
    Cause.DROP: "recall",
    Cause.IMPRECISE: "precision",
    Cause.WORTHLESS: "balanced_accuracy",
    Cause.HIDES: "balanced_accuracy",
}
"""The metric whose trend over the runs of the model is shown, for causes that always have one."""


def metric_of(problem: Problem, task: Task) -> str | None:
    """The metric whose trend over the runs of the model is shown; None for some causes."""
    if problem.key.cause is not Cause.SLICE:
        return MEASURED.get(problem.key.cause)
    if problem.key.class_label:
        return "recall"
    return "subset_accuracy" if task is Task.MULTILABEL else "overall_accuracy"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a flag of the newest run with a problem says, and the metric by run.

    `trend` goes from the oldest to the newest run considered; `run_id` is the run of the flag. A
    run has no value in it if it has sample weights and that of the flag has none, or vice versa. A
    run that `is_weighted` is not compared with any other.
    """

    flag_id: int
    run_id: str
    rule: str
    message: str
    evidence: Mapping[str, Any]
    is_weighted: bool
    trend: tuple[float | None, ...]


def measure(
    session: Session, found: FoundProblems, *, run_id: str | None = None
) -> dict[int, Measured]:
    """What was measured about some problems, by number, in two statements.

    The flag is that of the run `run_id` if the run has the problem. Problems on slices take a few
    statements more.
    """
    newest = {problem.number: _chosen(problem, run_id) for problem in found.problems}
    says = {
        row.id: row
        for row in session.execute(
            select(FlagRow.id, FlagRow.message, FlagRow.evidence, RunRow.is_weighted)
            .join(RunRow, RunRow.id == FlagRow.run_id)
            .where(FlagRow.id.in_([flag.id for flag in newest.values()]))
        )
    }
    contents = {number: says[flag.id] for number, flag in newest.items()}
    values, on_slices = _values(session, found), _on_slices(session, found)
    return {
        problem.number: Measured(
            flag_id=newest[problem.number].id,
            run_id=newest[problem.number].run_id,
            rule=newest[problem.number].rule,
            message=contents[problem.number].message,
            evidence=contents[problem.number].evidence,
            is_weighted=contents[problem.number].is_weighted,
            trend=_trend(
                [values.get((run.id, *_place(problem, found))) for run in problem.runs],
                is_weighted=contents[problem.number].is_weighted,
            )
            if problem.key.cause in MEASURED
            else on_slices.get(problem.number, ()),
        )
        for problem in found.problems
    }


def _trend(
    values: Sequence[tuple[float | None, bool] | None], *, is_weighted: bool
) -> tuple[float | None, ...]:
    """The trend of values given newest first, without those not comparable to the shown run."""
    return tuple(
        None if each is None or each[1] != is_weighted else each[0] for each in reversed(values)
    )


def best_run_on(
    session: Session, problem: Problem, found: FoundProblems, measured: Measured
) -> RankedRun | None:
    """The run, of any model, with the highest value of what is measured; None without a metric.

    Also None for a run with sample weights, whose value is not comparable to others.
    """
    if measured.is_weighted:
        return None
    if problem.key.cause is Cause.SLICE:
        best_here = best_on_slice(session, problem.key.dataset_id, _field(problem, found))
        return None if best_here is None else ranked_run(session, *best_here)
    if problem.key.cause not in MEASURED:
        return None
    key, class_index = _place(problem, found)
    best = highest_runs(session, problem.key.dataset_id, key, class_index, limit=1)
    return best[0] if best else None


def _field(problem: Problem, found: FoundProblems) -> MetricField:
    """The metric field of a problem on a slice."""
    key = problem.key
    metric = metric_of(problem, found.datasets[key.dataset_id].task)
    return MetricField(str(metric), key.class_label or None, part=parse_slice(key.slice))


def _on_slices(session: Session, found: FoundProblems) -> dict[int, tuple[float | None, ...]]:
    """The trends of problems on slices, by number."""
    fields = {
        problem.number: _field(problem, found)
        for problem in found.problems
        if problem.key.cause is Cause.SLICE
    }
    run_ids = {run.id for each in found.problems if each.number in fields for run in each.runs}
    values = values_of_slices(session, set(fields.values()), run_ids)
    return {
        problem.number: tuple(
            None if value is None else value.value
            for value in (
                values.get((run.id, fields[problem.number])) for run in reversed(problem.runs)
            )
        )
        for problem in found.problems
        if problem.number in fields
    }


def _chosen(problem: Problem, run_id: str | None) -> SeenFlag:
    """The flag to show: of the given run, else the champion, else the newest run.

    Within that run the flag that says the most about a class comes first.
    """
    asked_for = [flag for flag in problem.flags if flag.run_id == run_id]
    shown = asked_for or problem.current or problem.flags
    roles = {run.id for run in problem.runs if run.role is PromotionRole.CHAMPION}
    of_role = [flag for flag in shown if flag.run_id in roles]
    run_id = (of_role or shown)[0].run_id
    return min(
        (flag for flag in shown if flag.run_id == run_id),
        key=lambda flag: (_MOST_TELLING.get(flag.rule, 0), -flag.status.severity.rank, flag.id),
    )


_MOST_TELLING = {"F10": 2, "F2": 1}
"""Flags about how often a class is predicted, which says less than how often it is found."""


def _place(problem: Problem, found: FoundProblems) -> tuple[str, int]:
    names = found.datasets[problem.key.dataset_id].labels
    label = problem.key.class_label
    index = names.index(label) if label in names else AGGREGATE
    return MEASURED[problem.key.cause], index


def _values(
    session: Session, found: FoundProblems
) -> dict[tuple[str, str, int], tuple[float | None, bool]]:
    """Values, and whether they are weighted, by run, metric and class."""
    wanted: dict[int, set[tuple[str, int]]] = defaultdict(set)
    runs: dict[int, set[str]] = defaultdict(set)
    for problem in found.problems:
        if problem.key.cause in MEASURED:
            wanted[problem.key.dataset_id].add(_place(problem, found))
            runs[problem.key.dataset_id] |= {run.id for run in problem.runs}
    if not wanted:
        return {}
    rows = session.execute(
        select(
            EvaluationRow.run_id,
            MetricValueRow.key,
            MetricValueRow.class_index,
            MetricValueRow.value,
            RunRow.is_weighted,
        )
        .join(MetricValueRow, MetricValueRow.evaluation_id == EvaluationRow.id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .where(counts_for_its_run(), or_(*_of_datasets(wanted, runs)))
    )
    return {
        (run_id, key, index): (value, weighted) for run_id, key, index, value, weighted in rows
    }


def _of_datasets(
    wanted: Mapping[int, Iterable[tuple[str, int]]], runs: Mapping[int, Collection[str]]
) -> Iterable[Any]:
    # Grouped by equal classes: each row is tested against one condition after the other.
    alike: dict[tuple[str, frozenset[int]], set[str]] = defaultdict(set)
    for dataset_id, places in wanted.items():
        by_key: dict[str, list[int]] = defaultdict(list)
        for key, index in places:
            by_key[key].append(index)
        for key, indices in by_key.items():
            alike[key, frozenset(indices)].update(runs[dataset_id])
    for (key, classes), run_ids in alike.items():
        yield and_(
            EvaluationRow.run_id.in_(run_ids),
            MetricValueRow.key == key,
            MetricValueRow.class_index.in_(classes),
        )
