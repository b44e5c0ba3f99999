"""Single runs with all their facts. Pages, the HTTP API, the command line and the remote SDK all
use the documents of this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import look_alikes
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Derivation, FoundRun, RunState, Scalar, Task
from offdiag.records.base import (
    MOST_ON_A_PAGE,
    USUAL_ON_A_PAGE,
    RequestBody,
    ResponseBody,
    Value,
)

if TYPE_CHECKING:
    from offdiag.store.database import Database
    from offdiag.store.outdated import OutdatedResults
    from offdiag.store.run_page import EvaluationFacts, RunDetail, RunHeader, RunResults

HidesMinority = Annotated[
    bool | None,
    Field(description="Whether accuracy hides a minority class; null if this is unknown."),
]


class RunSaid(BaseModel):
    """What its author can state about a run."""

    model: str | None = None
    params: dict[str, Scalar] = Field(default={})
    tags: dict[str, Scalar] = Field(default={})
    author: str | None = None
    git_sha: str | None = None


class RunBasics(ResponseBody, RunSaid):
    """The fields of every document of a run, with the names of the read models."""

    id: str
    name: str
    project: str
    dataset: str
    state: RunState
    created_at: datetime
    n_predictions: int
    is_weighted: bool = Field(
        default=False,
        description="Whether its examples have weights; then its metrics are weighted.",
    )


class Labels(ResponseBody):
    """Classes in the order of all axes and lists about classes."""

    names: list[str]
    ordinal: bool
    inferred: bool = Field(description="Sorted, because no order was declared.")
    digest: str
    look_alikes: list[list[str]] = Field(
        default=[],
        description="Groups of classes that differ only in case, Unicode form, invisible "
        "characters or outer white space.",
    )

    def label_set(self) -> LabelSet:
        return LabelSet(tuple(self.names), self.ordinal, self.inferred)


class RunTruth(ResponseBody):
    """The ground truth with which a run was finished."""

    version: int
    digest: str
    n_samples: int
    class_counts: list[int] = Field(description="Samples of each class, in label order.")


class ListedOrientation(ResponseBody):
    """The orientation in which a run was logged, and whether its margins agree."""

    stored: SourceOrientation
    source: SourceOrientation
    verdict: str | None


class RunOrientation(ListedOrientation):
    """The same with the numbers behind it."""

    evidence: dict[str, Any] | None


class Derived(ResponseBody):
    """The source run of the scores, and the decision rule applied to them."""

    run: str
    recipe: dict[str, Any]


class ListedEvaluation(ResponseBody):
    """The basis of the current results."""

    truth_version: int | None
    n_samples: int = Field(description="Number of samples in the results.")
    n_unlabelled: int = Field(description="Number of samples without a label.")


class EvaluationMade(ListedEvaluation):
    """When and how the current results were computed."""

    newest_truth_version: int | None
    n_cases: int = Field(
        default=0, description="The same as `n_samples`; removed in the next release."
    )
    suite_version: int
    engine_version: str
    input_digest: str
    matrix_digest: str
    computed_at: datetime
    duration_s: float


class Work(ResponseBody):
    """The pending job for the results of a run."""

    id: int
    state: str
    attempts: int
    error: str | None


class Outdated(ResponseBody):
    """Why results are outdated. Without reasons, re-evaluation has failed."""

    reasons: list[str]
    work: Work | None


IsOutdated = Annotated[
    Outdated | None, Field(description="Why the results are outdated; null if they are not.")
]


class Run(RunBasics):
    """Everything about a run except its results."""

    only_in_the_api: ClassVar[Mapping[str, Any]] = {"evaluation": {"n_cases"}}

    task: Task
    finished_at: datetime | None
    score_columns: int
    content_digest: str | None
    labels: Labels
    positive_label: str | None
    positive_by_convention: bool = Field(
        default=False, description="Whether it follows from the labels because none was named."
    )
    truth: RunTruth | None
    orientation: RunOrientation
    hierarchy: dict[str, Any] | None = Field(
        default=None, description="Class groups, if the dataset has any."
    )
    derived_from: Derived | None
    decision_rule: dict[str, Any] | None = Field(
        default=None,
        description="How predictions follow from its scores, if it was logged without "
        "predictions.",
    )
    evaluation: EvaluationMade | None
    outdated: IsOutdated
    work: Work | None
    hides_minority: HidesMinority = None
    note: str | None = Field(default=None, description="The note on the run.")


class RunChanges(RequestBody):
    """Changes to a run; omitted fields stay as they are."""

    tags: dict[str, Scalar] | None = Field(
        default=None, description="The new tags of the run, replacing all others."
    )
    add_tags: dict[str, Scalar] | None = Field(
        default=None,
        description="Tags to add, replacing those with the same names.",
    )
    note: str | None = Field(default=None, description="The new note on the run; empty for none.")


class Deleted(ResponseBody):
    """A run that is hidden until it is restored or deleted permanently."""

    id: str
    deleted_at: datetime


class DeletedRunsQuery(RequestBody):
    """Filters for deleted runs."""

    project: str | None = None
    dataset: str | None = None
    limit: int = Field(default=USUAL_ON_A_PAGE, ge=1, le=MOST_ON_A_PAGE)


class DeletedRun(Deleted):
    """A deleted run that can be restored."""

    name: str
    project: str
    dataset: str
    created_at: datetime
    deleted_by: str | None = Field(description="Who deleted it; null if this is not known.")


class DeletedRuns(ResponseBody):
    """Deleted runs, those first that were deleted last."""

    runs: list[DeletedRun]
    is_cut: bool = Field(default=False, description="Whether more deleted runs match.")


def deleted_document(database: Database, asked: DeletedRunsQuery) -> DeletedRuns:
    """The deleted runs of a database."""
    from offdiag.store.runs import deleted_runs

    with database.read() as session:
        found = deleted_runs(
            session, project=asked.project, dataset=asked.dataset, limit=asked.limit + 1
        )
    return DeletedRuns(
        runs=[DeletedRun.model_validate(dict(run)) for run in found[: asked.limit]],
        is_cut=len(found) > asked.limit,
    )


def run_document(detail: RunDetail) -> Run:
    """Everything about a run except its results."""
    run, outdated, results = detail.run, detail.outdated, detail.results
    return Run.made_of(
        run,
        labels=labels_document(run.labels),
        truth=None if run.truth is None else RunTruth.made_of(run.truth, version=run.truth.number),
        orientation=RunOrientation.made_of(
            listed_orientation(run), evidence=run.orientation_evidence
        ),
        hierarchy=None if run.hierarchy is None else run.hierarchy.to_dict(),
        derived_from=derived_document(run.derivation),
        decision_rule=run.decision,
        evaluation=None if results is None else _evaluation(results.facts),
        outdated=outdated_document(outdated),
        work=detail.work,
        hides_minority=None if results is None else results.facts.hides_minority,
    )


def asked_run(database: Database, run_id: str) -> Run:
    """Everything about a run except its results. Raises `NotFound`."""
    from offdiag.store.run_page import read_run

    with database.read() as session:
        return run_document(read_run(session, run_id))


def outdated_document(found: OutdatedResults | None) -> Outdated | None:
    """Why the results of a run are outdated, None if they are not."""
    return None if found is None else Outdated.made_of(found)


def plain_results(results: RunResults | None) -> dict[str, Any]:
    """Aggregates and costs as additional keys of the document; without results, both are None."""
    if results is None:
        return {"metrics": None, "costs": None}
    return {
        "metrics": {key: Value.made_of(value).plain() for key, value in results.aggregate.items()},
        "costs": None if results.costs is None else results.costs.to_dict(),
    }


def labels_document(known: LabelSet) -> Labels:
    """The classes of a dataset or a run."""
    return Labels.made_of(known, look_alikes=look_alikes(known))


def derived_document(derivation: Derivation | None) -> Derived | None:
    if derivation is None:
        return None
    return Derived(run=derivation.run_id, recipe=dict(derivation.recipe))


def listed_orientation(run: RunHeader | FoundRun) -> ListedOrientation:
    return ListedOrientation(
        stored=SourceOrientation.ACTUAL_ROWS, source=run.source, verdict=run.orientation_verdict
    )


def _evaluation(facts: EvaluationFacts) -> EvaluationMade:
    return EvaluationMade.made_of(
        facts,
        truth_version=facts.truth_number,
        newest_truth_version=facts.newest_truth_number,
        n_samples=facts.n_cases,
    )
