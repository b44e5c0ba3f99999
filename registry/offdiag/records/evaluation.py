"""Results of a run, curves of its scores, and the definitions of metrics."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from offdiag.domain.orientation import SourceOrientation
from offdiag.metrics.spec import Scope
from offdiag.records.base import Answered, Asked, Value
from offdiag.records.run import Labels


class RaisedFlag(Answered):
    """A rule that fires, with its evidence."""

    rule: str
    severity: str
    class_label: str | None = Field(description="Null for rules about the run as a whole.")
    message: str
    evidence: dict[str, Any]
    state: str


class EvaluationWanted(Asked):
    """Which cases of a run are meant, and which of its classes are looked at as one."""

    slice: str | None = Field(
        default=None,
        max_length=1_000,
        description="Only these cases.",
        examples=["country=DE"],
    )
    collapse: list[str] = Field(
        default=[],
        max_length=1_000,
        description="Groups of the dataset that are one class each; `*` for all outermost ones.",
        examples=[["animal", "vehicle"]],
    )


class CollapsedGroups(Answered):
    """Groups of classes that were looked at as one class each."""

    classes: Labels = Field(description="All classes of the dataset.")
    groups: dict[str, Any] = Field(description="The collapsed groups with what is in them.")


class EvaluationAnswer(Answered):
    """A confusion matrix, every metric of it, and what the rules say."""

    run: str
    slice: str | None
    labels: Labels = Field(description="Groups too, where some are collapsed.")
    collapse: CollapsedGroups | None = Field(
        default=None, description="Null where every class stands for itself."
    )
    orientation: SourceOrientation = Field(
        description="Always actual_rows: actual classes down, predicted classes across."
    )
    matrix: list[list[int]] | None = Field(
        description="Null where cases carry sets of labels, which no matrix of classes can tell."
    )
    set_counts: list[int] | None = Field(
        default=None,
        description="Where cases carry sets of labels: everything that was counted of them as "
        "whole numbers, as the SDK reads them back exactly; null for single classes.",
    )
    n_cases: int
    n_unlabelled: int
    aggregate: dict[str, Value]
    per_class: dict[str, list[Value]] = Field(description="By key, in label order.")
    costs: dict[str, Value] = Field(
        description="Empty where the dataset has no costs, and for groups."
    )
    flags: list[RaisedFlag] = Field(description="Those that fire, the gravest first.")
    badge: bool = Field(description="Whether accuracy hides a minority class.")
    may_hide: bool = Field(
        default=False,
        description="Whether it may hide one: a large gap in recall is in sight, none is proved.",
    )
    suite_version: int
    engine_version: str
    input_digest: str
    matrix_digest: str
    computed_at: datetime


class Normalization(StrEnum):
    """What counts are divided by: the total of their row or column in the answer, or all."""

    NONE = "none"
    ROW = "row"
    COLUMN = "column"
    ALL = "all"


class Laid(StrEnum):
    """How a matrix is laid out."""

    ACTUAL_ROWS = "actual_rows"
    ACTUAL_COLUMNS = "actual_columns"


class MatrixWanted(Asked):
    """How a matrix is wanted."""

    normalize: Normalization = Normalization.NONE
    orientation: Laid = Laid.ACTUAL_ROWS


class Cell(Answered):
    """A cell of a matrix that has cases."""

    actual: str
    predicted: str
    count: int


class MatrixAnswer(Answered):
    """A confusion matrix. Shares are null where there is nothing to divide by."""

    run: str
    labels: list[str]
    orientation: Laid
    axes: list[str] = Field(description="What runs down, then what runs across.")
    normalize: Normalization
    divided_by: str | None = Field(
        description='The axis whose totals counts were divided by: "actual", "predicted", "all".'
    )
    n_cases: int
    matrix: list[list[int | float | None]] | None = Field(
        description="Null for more than 1,000 classes; then `cells` has the counts."
    )
    cells: list[Cell] | None
    matrix_digest: str


class RunCostAnswer(Answered):
    """What the errors of a run cost under the version of costs it was judged by."""

    run: str
    name: str | None = Field(description="Null where the dataset had no costs.")
    version: int | None
    currency: str | None
    values: dict[str, Value]


class PastAnswer(Answered):
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
        description="What was different from the evaluation before it, in words."
    )


class HistoryAnswer(Answered):
    """All evaluations of a run, oldest first."""

    run: str
    evaluations: list[PastAnswer]


class CurvesWanted(Asked):
    """Which curves are wanted."""

    positive: str | None = Field(
        default=None,
        description="Only those of this class; without it those of all classes that were drawn.",
    )


class Points(Answered):
    """Thresholds with what they report; every rate follows from these counts."""

    thresholds: list[float]
    true_positives: list[int]
    false_positives: list[int]
    n_positive: int
    n_negative: int
    n_thresholds: int = Field(description="How many different ones the scores have.")
    reports_below: bool = Field(description="Whether scores below the threshold are reported.")


class Bins(Answered):
    """How often the event happened in each bin of the score."""

    edges: list[float]
    count: list[int]
    happened: list[int]
    score_sum: list[float]
    calibrated_low: list[float | None] = Field(
        default=[],
        description="Share below which a perfectly calibrated model is in 1 of 20 samples; null "
        "in an empty bin.",
    )
    calibrated_high: list[float | None] = Field(
        default=[], description="Share above which it is in 1 of 20 samples."
    )


class Histogram(Answered):
    """How the scores of positive and of negative cases are spread."""

    edges: list[float]
    positive: list[int]
    negative: list[int]


class Curve(Answered):
    """What is kept for a class against the rest, or for the largest probability of each case."""

    label: str | None = Field(description="Null for the top label, whichever that is.")
    points: Points
    bins: Bins | None = Field(description="Null for scores that are no probabilities.")
    histogram: Histogram


class CurvesAnswer(Answered):
    """The curves of a run."""

    run: str
    positive_label: str | None
    curves: list[Curve]
    top_label: Curve | None


class Definition(Answered):
    """What a metric key means in one scope."""

    key: str
    scope: str
    version: int = Field(description="Raised when the definition changes.")
    title: str
    symbol: str
    formula: str
    low: float | None = Field(description="Lowest possible value; null where unbounded.")
    high: float | None = Field(description="Highest possible value; null where unbounded.")
    direction: str = Field(description="Which values a better classifier has.")
    undefined_when: dict[str, str] = Field(description="By reason: the condition in words.")
    ignores: list[str]
    other_names: dict[str, str] = Field(description="By library: its name there.")
    source: str
    notes: str


class Definitions(Answered):
    """The definitions of metrics, in the order of the catalogue."""

    metrics: list[Definition]


class DefinitionsWanted(Asked):
    """Which definitions are wanted."""

    scope: Scope | None = Field(default=None, description="Only those of one scope.")
