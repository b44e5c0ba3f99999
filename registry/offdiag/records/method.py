"""Methods of a dataset: runs that differ by seed or by fold, taken together and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.records.base import ResponseBody, Value

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.services.methods import Method as FoundMethod
    from offdiag.services.methods import Methods as FoundMethods


class MethodRun(ResponseBody):
    """A run of a method with its value."""

    id: str
    name: str
    seed: str | None
    fold: str | None
    value: float


class Method(ResponseBody):
    """A method by one metric."""

    name: str = Field(description="The tag `group` of its runs.")
    design: str = Field(description='"seeds" on the same examples, or "folds".')
    n_runs: int
    mean: Value = Field(
        description="Mean over the runs, with an interval of training and samples."
    )
    spread: float | None = Field(description="Standard deviation of the runs.")
    from_training: float | None = Field(
        description="Share of the variance of the mean that comes from seeds or folds."
    )
    pooled: Value | None = Field(description="Value of the added matrices of all folds.")
    rank_status: str
    difference: Value | None = Field(
        description="To the best method, with an interval simultaneous over all pairs of methods."
    )
    p_adjusted: float | None
    why_not_compared: str | None
    runs: list[MethodRun]


class Methods(ResponseBody):
    """The methods of a dataset, best first."""

    project: str
    dataset: str
    metric: str
    methods: list[Method]


METHOD_COLUMNS = (
    *("method", "design", "n_runs", "mean", "ci_low", "ci_high", "spread", "from_training"),
    *("pooled", "rank_status", "difference", "difference_low", "difference_high", "p_adjusted"),
    "why_not_compared",
)
"""Columns of the methods in CSV and in frames."""


def methods_document(found: FoundMethods) -> Methods:
    """The methods of a dataset with their runs."""
    return Methods(
        project=found.dataset.project,
        dataset=found.dataset.name,
        metric=found.metric,
        methods=[_method(each) for each in found.methods],
    )


def method_row(method: Method) -> tuple[Cell, ...]:
    """A method as a line of CSV, by `METHOD_COLUMNS`."""
    mean, apart = method.mean, method.difference
    return (
        *(method.name, method.design, method.n_runs),
        *(mean.value, mean.ci_low, mean.ci_high, method.spread, method.from_training),
        *(None if method.pooled is None else method.pooled.value, method.rank_status),
        *((None, None, None) if apart is None else (apart.value, apart.ci_low, apart.ci_high)),
        *(method.p_adjusted, method.why_not_compared),
    )


def _method(found: FoundMethod) -> Method:
    return Method(
        name=found.name,
        design=found.design.value,
        n_runs=len(found.runs),
        mean=Value.of(found.mean),
        spread=found.spread,
        from_training=found.from_training,
        pooled=None if found.pooled is None else Value.of(found.pooled),
        rank_status=found.rank_status.value,
        difference=None if found.difference is None else Value.of(found.difference),
        p_adjusted=found.p_adjusted,
        why_not_compared=found.why_not_compared,
        runs=[
            MethodRun(
                id=run.id,
                name=run.name,
                seed=run.seed,
                fold=run.fold,
                value=run.value,
            )
            for run in found.runs
        ],
    )
