"""Documents of the results of a run, and of the definitions of metrics."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from offdiag.domain.orientation import SourceOrientation
from offdiag.metrics.spec import Scope
from offdiag.records.base import RequestBody, ResponseBody, Value, values_of
from offdiag.records.runs.run import (
    IsOutdated,
    Labels,
    Run,
    labels_document,
    outdated_document,
    run_document,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from offdiag.domain.texts import Cell as CsvCell
    from offdiag.flags.assessment import Assessment
    from offdiag.metrics.counted import Counted
    from offdiag.services.evaluation.compute import CollapsedEvaluation
    from offdiag.services.evaluation.history import HistoryEntry
    from offdiag.store.database import Database
    from offdiag.store.evaluations import StoredEvaluation
    from offdiag.store.flags import FlagRecord
    from offdiag.store.run_page import RunDetail


class WeightedBody(ResponseBody):
    """Sums for examples with weights; all matrices have actual classes as rows."""

    matrix: list[list[float]] = Field(
        description="Sums of weights, from which metrics are computed."
    )
    counts: list[list[int]] = Field(description="Numbers of examples, whatever their weights.")
    squares: list[list[float]] = Field(description="Sums of squared weights.")
    n_effective: float = Field(
        description="Kish's effective sample size: the number of equally weighted examples that "
        "carry the same information."
    )


SumsOfWeights = Annotated[
    WeightedBody | None,
    Field(
        description="Present if examples have weights; then all metrics and intervals are "
        "weighted."
    ),
]


def weighted_body(counted: Counted) -> WeightedBody | None:
    """The sums of weighted samples, None for unweighted ones."""
    from offdiag.metrics.weighted.counts import WeightedCounts

    if not isinstance(counted, WeightedCounts):
        return None
    return WeightedBody(
        matrix=counted.sums.tolist(),
        counts=counted.samples.tolist(),
        squares=counted.squares.tolist(),
        n_effective=counted.n_effective,
    )


class RaisedFlag(ResponseBody):
    """A raised flag, with its evidence."""

    rule: str
    severity: str
    class_label: str | None = Field(description="Null for rules about the run as a whole.")
    slice: str | None = Field(default=None, description="Null for rules about all examples.")
    message: str
    evidence: dict[str, Any]
    state: str


class EvaluationQuery(RequestBody):
    """Which samples of a run to evaluate, and which of its classes to merge."""

    slice: str | None = Field(
        default=None,
        max_length=1_000,
        description="Only the examples in this slice.",
        examples=["country=DE"],
    )
    collapse: list[str] = Field(
        default=[],
        max_length=1_000,
        description="Class groups to evaluate as one class each; `*` for all outermost groups.",
        examples=[["animal", "vehicle"]],
    )


class CollapsedGroups(ResponseBody):
    """Class groups that were evaluated as one class each."""

    classes: Labels = Field(description="All classes of the dataset.")
    groups: dict[str, Any] = Field(description="The collapsed groups with their classes.")


class EvaluationResponse(ResponseBody):
    """A confusion matrix with all metrics and flags."""

    run: str
    slice: str | None
    labels: Labels = Field(description="Includes groups if some are collapsed.")
    collapse: CollapsedGroups | None = Field(
        default=None, description="Null if no group is collapsed."
    )
    orientation: SourceOrientation = Field(
        description="Always actual_rows: actual classes down, predicted classes across."
    )
    matrix: list[list[int]] | None = Field(
        description="Null if examples have weights, or if they have sets of labels, which a "
        "matrix of classes cannot represent."
    )
    weighted: SumsOfWeights = None
    set_counts: list[int] | None = Field(
        default=None,
        description="Present if examples have sets of labels: all counts as integers, which the "
        "SDK reads back exactly; null for single classes.",
    )
    n_cases: int
    n_unlabelled: int
    aggregate: dict[str, Value]
    per_class: dict[str, list[Value]] = Field(description="By key, in label order.")
    costs: dict[str, Value] = Field(
        description="Empty if the dataset has no costs, and for groups."
    )
    flags: list[RaisedFlag] = Field(description="Raised flags, most severe first.")
    badge: bool = Field(description="Whether accuracy hides a minority class.")
    may_hide: bool = Field(
        default=False,
        description="Whether accuracy may hide one: a large gap in recall is possible, but not "
        "confirmed.",
    )
    suite_version: int
    engine_version: str
    input_digest: str
    matrix_digest: str
    computed_at: datetime


class RunWithResults(Run):
    """A run with its matrix and all metrics, which are null until it is evaluated."""

    metrics: dict[str, Value] | None
    costs: dict[str, Any] | None = Field(description="Null if the dataset had no costs.")
    per_class: dict[str, list[Value]] | None = Field(description="By key, in label order.")
    confusion_matrix: dict[str, Any] | None = Field(
        description="`matrix` with its `labels`, `axes` and `orientation`; null for label sets "
        "and for weighted examples."
    )
    weighted: SumsOfWeights = None
    set_counts: list[int] | None = Field(
        default=None,
        description="Present if examples have sets of labels: their counts as integers.",
    )


class Normalization(StrEnum):
    """What counts are divided by: the total of their row or column in the response, or the total
    of all."""

    NONE = "none"
    ROW = "row"
    COLUMN = "column"
    ALL = "all"


class Laid(StrEnum):
    """How a matrix is laid out."""

    ACTUAL_ROWS = "actual_rows"
    ACTUAL_COLUMNS = "actual_columns"


class MatrixQuery(RequestBody):
    """The format of a matrix."""

    normalize: Normalization = Normalization.NONE
    orientation: Laid = Laid.ACTUAL_ROWS


class Cell(ResponseBody):
    """A cell of a matrix that has samples."""

    actual: str
    predicted: str
    count: int


class MatrixResponse(ResponseBody):
    """A confusion matrix. Shares are null if there is nothing to divide by."""

    run: str
    labels: list[str]
    orientation: Laid
    axes: list[str] = Field(description="The vertical axis, then the horizontal axis.")
    normalize: Normalization
    divided_by: str | None = Field(
        description='The axis by whose totals counts were divided: "actual", "predicted", "all".'
    )
    n_cases: int
    matrix: list[list[int | float | None]] | None = Field(
        description="Null for more than 1,000 classes; then `cells` has the counts."
    )
    cells: list[Cell] | None
    matrix_digest: str
    outdated: IsOutdated = None


class RunCostResponse(ResponseBody):
    """What the errors of a run cost under the cost matrix version it was evaluated with."""

    run: str
    name: str | None = Field(description="Null if the dataset had no costs.")
    version: int | None
    currency: str | None
    values: dict[str, Value]
    outdated: IsOutdated = None


class PastEvaluationResponse(ResponseBody):
    """One evaluation of a run."""

    id: int
    slice: str | None
    truth_version: int | None
    suite_version: int
    engine_version: str
    n_cases: int
    n_labelled: int
    is_current: bool
    computed_at: datetime
    metrics: dict[str, Value]
    differences: list[str] = Field(
        description="How it differs from the previous evaluation, in words."
    )


class HistoryResponse(ResponseBody):
    """All evaluations of a run, oldest first."""

    run: str
    evaluations: list[PastEvaluationResponse]


class Definition(ResponseBody):
    """What a metric key means in one scope."""

    key: str
    scope: str
    version: int = Field(description="Increases when the definition changes.")
    title: str
    symbol: str
    formula: str
    low: float | None = Field(description="Lowest possible value; null if unbounded.")
    high: float | None = Field(description="Highest possible value; null if unbounded.")
    direction: str = Field(description="Whether higher or lower values are better.")
    undefined_when: dict[str, str] = Field(description="By reason: the condition in words.")
    ignores: list[str]
    other_names: dict[str, str] = Field(description="By library: its name there.")
    source: str
    notes: str


class Definitions(ResponseBody):
    """The definitions of metrics, in the order of the catalogue."""

    metrics: list[Definition]


class DefinitionsQuery(RequestBody):
    """Filters for definitions."""

    scope: Scope | None = Field(default=None, description="Only definitions of this scope.")


def evaluation_answer(
    stored: StoredEvaluation, flags: list[RaisedFlag], *, badge: bool, may_hide: bool
) -> EvaluationResponse:
    """A matrix with all metrics and raised flags."""
    from offdiag.metrics.confusion import ConfusionMatrix

    counted = stored.counted
    return EvaluationResponse.made_of(
        stored,
        run=stored.run_id,
        labels=labels_document(counted.labels),
        orientation=SourceOrientation.ACTUAL_ROWS,
        matrix=counted.counts.tolist() if isinstance(counted, ConfusionMatrix) else None,
        weighted=weighted_body(counted),
        set_counts=_set_counts(counted),
        n_cases=stored.n_labelled,
        n_unlabelled=stored.n_cases - stored.n_labelled,
        collapse=None,
        flags=flags,
        badge=badge,
        may_hide=may_hide,
    )


def _set_counts(counted: Counted) -> list[int] | None:
    from offdiag.metrics.counted import CountedSets
    from offdiag.metrics.multilabel.tally import tally_numbers

    return tally_numbers(counted.tally).tolist() if isinstance(counted, CountedSets) else None


def asked_run_with_results(database: Database, run_id: str) -> RunWithResults:
    """Everything about a run, with its results. Raises `NotFound`."""
    from offdiag.store.run_page import read_run

    with database.read() as session:
        return run_with_results(read_run(session, run_id))


def run_with_results(detail: RunDetail) -> RunWithResults:
    from offdiag.metrics.confusion import ConfusionMatrix

    known, results = dict(run_document(detail)), detail.results
    if results is None:
        return RunWithResults(
            **known, metrics=None, costs=None, per_class=None, confusion_matrix=None
        )
    counted = results.counted
    return RunWithResults(
        **known,
        metrics=values_of(results.aggregate),
        costs=None if results.costs is None else results.costs.to_dict(),
        per_class={
            key: list(map(Value.made_of, found)) for key, found in results.per_class.items()
        },
        weighted=weighted_body(counted),
        confusion_matrix=None
        if not isinstance(counted, ConfusionMatrix)
        else {
            "labels": list(counted.labels.names),
            "orientation": SourceOrientation.ACTUAL_ROWS.value,
            "axes": ["actual", "predicted"],
            "matrix": counted.counts.tolist(),
        },
        set_counts=_set_counts(counted),
    )


def collapsed_answer(
    stored: StoredEvaluation, found: CollapsedEvaluation, judgement: Assessment
) -> EvaluationResponse:
    """A stored evaluation with groups of its classes collapsed."""
    from offdiag.domain.hierarchy import Hierarchy

    shown = replace(
        stored,
        counted=found.matrix,
        matrix_digest=found.matrix.digest,
        aggregate=found.values.aggregate,
        per_class={key: tuple(each) for key, each in found.values.per_class.items()},
        costs={},
    )
    answer = evaluation_answer(
        shown, judged_flags(judgement), badge=judgement.badge, may_hide=judgement.may_hide
    )
    collapse = CollapsedGroups(
        classes=labels_document(found.classes), groups=Hierarchy(found.onto.groups).to_dict()
    )
    return answer.model_copy(update={"collapse": collapse})


def raised_flag(flag: FlagRecord) -> RaisedFlag:
    return RaisedFlag.made_of(flag.content, severity=flag.status.severity, state=flag.status.state)


def judged_flags(found: Assessment) -> list[RaisedFlag]:
    """The flags for a matrix without stored flags, most severe first."""
    most_severe_first = sorted(found.verdicts, key=lambda verdict: -verdict.severity.rank)
    return [RaisedFlag.made_of(verdict, slice=None, state="open") for verdict in most_severe_first]


def costs_answer(detail: RunDetail) -> RunCostResponse:
    """What the errors of a run cost under the costs of its dataset."""
    costs = None if detail.results is None else detail.results.costs
    return RunCostResponse(
        run=detail.run.id,
        name=None if costs is None else costs.name,
        version=None if costs is None else costs.version,
        currency=None if costs is None else costs.currency,
        values={} if costs is None else values_of(costs.values),
        outdated=outdated_document(detail.outdated),
    )


def asked_history(database: Database, run_id: str) -> HistoryResponse:
    """All evaluations of a run, oldest first."""
    from offdiag.services.evaluation.history import run_history

    return history_answer(run_id, run_history(database, run_id))


def history_answer(run_id: str, entries: Iterable[HistoryEntry]) -> HistoryResponse:
    """The evaluations of a run, in the order in which they are given."""
    return HistoryResponse(
        run=run_id,
        evaluations=[
            PastEvaluationResponse.made_of(
                entry.evaluation,
                truth_version=entry.evaluation.truth_number,
                differences=entry.differences,
            )
            for entry in entries
        ],
    )


PAST_COLUMNS = (
    *("computed_at", "is_current", "slice", "truth_version", "suite_version", "engine_version"),
    *("n_labelled", "n_cases"),
)
HISTORY_COLUMNS = (*PAST_COLUMNS, "metric", "value", "ci_low", "ci_high", "reason")


def history_rows(history: HistoryResponse) -> Iterator[tuple[CsvCell, ...]]:
    """One line of CSV for each evaluation and metric, in the order of `HISTORY_COLUMNS`."""
    for each in history.evaluations:
        for key, value in each.metrics.items():
            numbers = (value.value, value.ci_low, value.ci_high)
            yield (*each.row(PAST_COLUMNS), key, *numbers, value.reason)
