"""Runs: found by a search, and with everything that is known of one.

Pages, the HTTP API, the command line and the remote SDK all have the documents of this module.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import Field

from offdiag.domain.look_alikes import look_alikes
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState, Task
from offdiag.records.base import Answered, Page, Paged, Value

if TYPE_CHECKING:
    from offdiag.domain.labels import LabelSet
    from offdiag.store.evaluations import EvaluationWork
    from offdiag.store.run_page import RunDetail, RunHeader, RunResults

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
    n_samples: int = Field(description="Samples that the results are of.")
    n_cases: int = Field(description="The same as `n_samples`; it goes with the next release.")
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
    hierarchy: dict[str, Any] | None = Field(
        default=None, description="Groups of classes, where the dataset has any."
    )
    derived_from: Derived | None
    decision_rule: dict[str, Any] | None = Field(
        default=None,
        description="How its scores predicted, where it was logged without predictions.",
    )
    evaluation: EvaluationMade | None
    outdated: Outdated | None
    work: Work | None
    hides_minority: bool | None = Field(
        default=None,
        description="Whether accuracy hides a minority class; null where nothing can be said.",
    )


class Deleted(Answered):
    """A run that nobody sees any more, until it is restored or removed for good."""

    id: str
    deleted_at: datetime


def run_document(detail: RunDetail) -> Run:
    """Everything that is known of a run but its results."""
    run, outdated, results = detail.run, detail.outdated, detail.results
    return Run(
        id=run.id,
        name=run.name,
        project=run.project,
        dataset=run.dataset,
        task=run.task,
        state=run.state,
        model=run.model,
        params=dict(run.params),
        tags=dict(run.tags),
        author=run.author,
        git_sha=run.git_sha,
        created_at=run.created_at,
        finished_at=run.finished_at,
        n_predictions=run.n_predictions,
        score_columns=run.score_columns,
        content_digest=run.content_digest,
        labels=labels_document(run.labels),
        positive_label=run.positive_label,
        positive_by_convention=run.positive_by_convention,
        truth=_truth(run),
        orientation=_orientation(run),
        hierarchy=None if run.hierarchy is None else run.hierarchy.to_dict(),
        derived_from=None
        if run.derivation is None
        else Derived(run=run.derivation.run_id, recipe=dict(run.derivation.recipe)),
        decision_rule=None if run.decision is None else dict(run.decision),
        evaluation=None if results is None else _evaluation(results),
        outdated=None
        if outdated is None
        else Outdated(
            reasons=[reason.value for reason in outdated.reasons], work=_work(outdated.work)
        ),
        work=_work(detail.work),
        hides_minority=None if results is None else results.facts.hides_minority,
    )


def plain_run(detail: RunDetail) -> dict[str, Any]:
    """The same as plain values, without names that only the HTTP API keeps for a release."""
    return run_document(detail).model_dump(mode="json", exclude={"evaluation": {"n_cases"}})


def plain_results(results: RunResults | None) -> dict[str, Any]:
    """Aggregates and costs as further keys of the document; without results, both are None."""
    if results is None:
        return {"metrics": None, "costs": None}
    return {
        "metrics": {key: value.to_dict() for key, value in results.aggregate.items()},
        "costs": None if results.costs is None else results.costs.to_dict(),
    }


def labels_document(known: LabelSet) -> Labels:
    """The classes of a dataset or a run."""
    return Labels(
        names=list(known.names),
        ordinal=known.ordinal,
        inferred=known.inferred,
        digest=known.digest,
        look_alikes=[list(group) for group in look_alikes(known)],
    )


def _truth(run: RunHeader) -> RunTruth | None:
    if run.truth is None:
        return None
    return RunTruth(
        version=run.truth.number,
        digest=run.truth.digest,
        n_samples=run.truth.n_samples,
        class_counts=list(run.truth.class_counts),
    )


def _orientation(run: RunHeader) -> RunOrientation:
    evidence = run.orientation_evidence
    return RunOrientation(
        stored=SourceOrientation.ACTUAL_ROWS,
        source=run.source,
        verdict=run.orientation_verdict,
        evidence=None if evidence is None else dict(evidence),
    )


def _evaluation(results: RunResults) -> EvaluationMade:
    facts = results.facts
    return EvaluationMade(
        truth_version=facts.truth_number,
        newest_truth_version=facts.newest_truth_number,
        n_samples=facts.n_cases,
        n_cases=facts.n_cases,
        n_unlabelled=facts.n_unlabelled,
        suite_version=facts.suite_version,
        engine_version=facts.engine_version,
        input_digest=facts.input_digest,
        matrix_digest=facts.matrix_digest,
        computed_at=facts.computed_at,
        duration_s=facts.duration_s,
    )


def _work(work: EvaluationWork | None) -> Work | None:
    if work is None:
        return None
    return Work(id=work.id, state=work.state, attempts=work.attempts, error=work.error)
