"""Runs: found by a search, and with everything that is known of one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState, Task
from offdiag.records.base import Answered, Page, Paged, Value

Scalar = str | int | float | bool | None


class RunsWanted(Paged):
    """Which runs are wanted, and in which order."""

    filter: str = Field(
        default="",
        max_length=20_000,
        description=(
            "Conditions on `metrics.<key>`, `metrics.<key>[<class>]`, `params.<name>`, "
            "`tags.<name>` and `attributes.<name>`, with `= != > >= < <= in like`, `and`, `or`, "
            "`not` and parentheses."
        ),
        examples=["metrics.macro_f1 > 0.8 and tags.team = 'vision'"],
    )
    order_by: list[str] = Field(
        default=[],
        max_length=8,
        description="Fields, each with `asc` or `desc` after it; newest first among equals.",
        examples=[["metrics.mcc desc"]],
    )
    project: str | None = None


class RunSummary(Answered):
    """A run as a search finds it."""

    id: str
    name: str
    project: str
    dataset: str
    model: str | None
    state: RunState
    author: str | None
    git_sha: str | None
    created_at: datetime
    n_predictions: int
    truth_version: int | None = Field(description="The version that `metrics` are of.")
    hides_minority: bool | None = Field(
        description="Whether accuracy hides a minority class; null where nothing can be said."
    )
    may_hide_minority: bool | None = Field(
        default=None,
        description="Whether it may hide one: a large gap in recall is in sight, none is proved.",
    )
    params: dict[str, Scalar]
    tags: dict[str, Scalar]
    metrics: dict[str, Value] = Field(description="Aggregates; empty until it was evaluated.")


class RunPage(Page):
    """A page of runs."""

    runs: list[RunSummary]


class Labels(Answered):
    """Classes in the order of every axis and list that is about them."""

    names: list[str]
    ordinal: bool
    inferred: bool = Field(description="Sorted here, because nobody declared an order.")
    digest: str
    look_alikes: list[list[str]] = Field(
        default=[],
        description="Groups of classes that differ only in case, Unicode form, invisible "
        "characters or outer white space.",
    )


class RunTruth(Answered):
    """The ground truth a run was finished with."""

    version: int
    digest: str
    n_samples: int
    class_counts: list[int] = Field(description="Samples of each class, in label order.")


class RunOrientation(Answered):
    """What the run came as, and what its margins say about that."""

    stored: SourceOrientation
    source: SourceOrientation
    verdict: str | None
    evidence: dict[str, Any] | None


class Derived(Answered):
    """The run whose scores were decided anew, and the rule."""

    run: str
    recipe: dict[str, Any]


class EvaluationMade(Answered):
    """With what and when the current results were computed."""

    truth_version: int | None
    newest_truth_version: int | None
    n_cases: int
    n_unlabelled: int
    suite_version: int
    engine_version: str
    input_digest: str
    matrix_digest: str
    computed_at: datetime
    duration_s: float


class Work(Answered):
    """What still stands for the results of a run."""

    id: int
    state: str
    attempts: int
    error: str | None


class Outdated(Answered):
    """Why results are out of date. Without reasons, scoring again has failed."""

    reasons: list[str]
    work: Work | None


class Run(Answered):
    """Everything that is known of a run but its results."""

    id: str
    name: str
    project: str
    dataset: str
    task: Task
    state: RunState
    model: str | None
    params: dict[str, Scalar]
    tags: dict[str, Scalar]
    author: str | None
    git_sha: str | None
    created_at: datetime
    finished_at: datetime | None
    n_predictions: int
    score_columns: int
    content_digest: str | None
    labels: Labels
    positive_label: str | None
    positive_by_convention: bool = Field(
        default=False, description="Whether nobody named it: it follows from the labels."
    )
    truth: RunTruth | None
    orientation: RunOrientation
    derived_from: Derived | None
    decision_rule: dict[str, Any] | None = Field(
        default=None,
        description="How its scores predicted, where it was logged without predictions.",
    )
    evaluation: EvaluationMade | None
    outdated: Outdated | None
    work: Work | None


class Deleted(Answered):
    """A run that nobody sees any more, until it is restored or removed for good."""

    id: str
    deleted_at: datetime
