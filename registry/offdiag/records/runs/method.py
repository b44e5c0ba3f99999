"""Methods of a dataset: runs that differ by seed or fold, grouped and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.domain.texts import name_segment
from offdiag.records.base import Request, ResponseBody, Value

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.records.runs.run_list import LeadersQuery
    from offdiag.services.lru_cache import LruCache
    from offdiag.services.methods.compared import Methods as FoundMethods
    from offdiag.services.methods.estimates import KnownMoments
    from offdiag.store.database import Database


class MethodRun(ResponseBody):
    """A run of a method with its value."""

    id: str
    name: str
    seed: str | None
    fold: str | None
    train_size: float | None = None
    value: float | None
    reason: str | None = Field(default=None, description="Why there is no value.")


class Method(ResponseBody):
    """A method with its results by one metric."""

    name: str = Field(description="The tag `group` of its runs.")
    design: str = Field(description='"seeds" on the same examples, or "folds".')
    train_size: float | None = Field(
        default=None,
        description="Training examples of each run, or their share if at most 1: the tag "
        "`train_size`.",
    )
    n_runs: int
    mean: Value = Field(
        description="Mean over the runs, with an interval for training and sampling variation."
    )
    spread: float | None = Field(description="Standard deviation of the runs.")
    from_training: float | None = Field(
        description="Share of the variance of the mean that comes from seeds or folds."
    )
    pooled: Value | None = Field(description="Value of the summed matrices of all folds.")
    rank_status: str
    difference: Value | None = Field(
        description="Difference from the best method, with an interval simultaneous over all "
        "pairs of methods."
    )
    p_adjusted: float | None
    why_not_compared: str | None
    runs: list[MethodRun]


class CurvePoint(ResponseBody):
    """A method at one training size."""

    method: str
    train_size: float = Field(description="Training examples, or their share if at most 1.")
    design: str
    n_runs: int
    mean: Value
    spread: float | None
    pooled: Value | None
    why_no_interval: str | None
    runs: list[MethodRun]


class Methods(ResponseBody):
    """The methods of a dataset, best first."""

    project: str
    dataset: str
    metric: str
    methods: list[Method]
    learning_curves: list[CurvePoint] = Field(
        default_factory=list,
        description="Methods whose runs have the tag `train_size`, by method and size.",
    )
    n_without_size: int = Field(
        default=0,
        description="Number of runs of methods with a learning curve that do not give their "
        "training size.",
    )
    n_weighted: int = Field(
        default=0, description="Number of runs of methods left out because they have weights."
    )
    is_cut: bool = Field(
        default=False, description="Whether there are older runs than the newest 500, which count."
    )


METHOD_COLUMNS = (
    *("method", "design", "n_runs", "mean", "ci_low", "ci_high", "spread", "from_training"),
    *("pooled", "rank_status", "difference", "difference_low", "difference_high", "p_adjusted"),
    *("why_not_compared", "train_size"),
)
"""Columns of the methods in CSV and in frames."""
CURVE_COLUMNS = (
    *("method", "train_size", "design", "n_runs", "mean", "ci_low", "ci_high", "spread"),
    *("pooled", "why_no_interval"),
)
"""Columns of learning curves."""
RUN_COLUMNS = ("method", "train_size", "seed", "fold", "run_id", "name", "value", "reason")
"""Columns of the runs of methods."""


def asked_methods(
    database: Database,
    dataset: str,
    asked: LeadersQuery,
    kept: LruCache[KnownMoments] | None = None,
) -> Methods:
    """The methods of a dataset by a metric, the primary one by default."""
    from offdiag.services.methods.compared import methods_of

    return methods_document(
        methods_of(database, project=asked.project, name=dataset, metric=asked.metric, kept=kept)
    )


def methods_request(dataset: str, asked: LeadersQuery) -> Request[Methods]:
    return Request(
        f"/datasets/{name_segment(dataset)}/methods",
        Methods,
        lambda at: asked_methods(at, dataset, asked),
        asked,
    )


def methods_document(found: FoundMethods) -> Methods:
    """The methods of a dataset with their runs."""
    return Methods.made_of(
        found,
        project=found.dataset.project,
        dataset=found.dataset.name,
        methods=[Method.made_of(each, n_runs=len(each.runs)) for each in found.methods],
        learning_curves=[
            CurvePoint.made_of(
                each,
                method=each.name,
                train_size=each.train_size or 0.0,
                n_runs=len(each.runs),
                why_no_interval=each.why_not_compared,
            )
            for each in found.curves
        ],
    )


def method_row(method: Method) -> tuple[Cell, ...]:
    """A method as a line of CSV, in the order of `METHOD_COLUMNS`."""
    mean, apart = method.mean, method.difference
    return (
        *(method.name, method.design, method.n_runs),
        *(mean.value, mean.ci_low, mean.ci_high, method.spread, method.from_training),
        *(None if method.pooled is None else method.pooled.value, method.rank_status),
        *((None, None, None) if apart is None else (apart.value, apart.ci_low, apart.ci_high)),
        *(method.p_adjusted, method.why_not_compared, method.train_size),
    )


def curve_row(point: CurvePoint) -> tuple[Cell, ...]:
    """A point of a learning curve as a line of CSV, in the order of `CURVE_COLUMNS`."""
    mean = point.mean
    return (
        *(point.method, point.train_size, point.design, point.n_runs),
        *(mean.value, mean.ci_low, mean.ci_high, point.spread),
        *(None if point.pooled is None else point.pooled.value, point.why_no_interval),
    )


def run_rows(found: Methods) -> list[tuple[Cell, ...]]:
    """Every run of the methods at every training size, in the order of `RUN_COLUMNS`."""
    runs = [(each.name, run) for each in found.methods for run in each.runs]
    listed = {run.id for _, run in runs}
    runs += [
        (each.method, run)
        for each in found.learning_curves
        for run in each.runs
        if run.id not in listed
    ]
    order = {each.name: place for place, each in enumerate(found.methods)}
    runs.sort(key=lambda each: (order[each[0]], each[1].train_size or 0.0))
    return [
        (method, run.train_size, run.seed, run.fold, run.id, run.name, run.value, run.reason)
        for method, run in runs
    ]
