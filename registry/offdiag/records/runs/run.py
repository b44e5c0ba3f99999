"""Runs: search results, single runs with all their facts, and comments. Pages, the HTTP API, the
command line and the remote SDK all use the documents of this module.
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
    InProject,
    Notices,
    Page,
    Paged,
    RequestBody,
    ResponseBody,
    Value,
    cells_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from offdiag.domain.texts import Cell
    from offdiag.store.comments import Comment as StoredComment
    from offdiag.store.database import Database
    from offdiag.store.outdated import OutdatedResults
    from offdiag.store.run_page import EvaluationFacts, RunDetail, RunHeader, RunResults
    from offdiag.store.run_rows import RunEntry
    from offdiag.store.run_search import SearchPlace

HidesMinority = Annotated[
    bool | None,
    Field(description="Whether accuracy hides a minority class; null if this is unknown."),
]


class RunsQuery(Paged):
    """Filters and order for runs."""

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
        description="Fields, each followed by `asc` or `desc`; equal runs are newest first. If "
        "sorted by a metric, runs with sample weights come after the others.",
        examples=[["metrics.mcc desc"]],
    )
    project: str | None = None


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


class ListedClass(ResponseBody):
    """The class with the lowest recall among those that have samples: `tp` of its `support`. Both
    are null if examples have weights, because sums of weights are not numbers of examples.
    """

    label: str
    support: int | None
    tp: int | None
    recall: Value


class RunSummary(RunBasics):
    """A run in a list."""

    only_in_the_api: ClassVar[Mapping[str, Any]] = {"truth_version": True}

    orientation: ListedOrientation | None = None
    derived_from: Derived | None = None
    evaluation: ListedEvaluation | None = Field(
        default=None, description="None until it is evaluated."
    )
    truth_version: int | None = Field(
        default=None,
        description="The label version of `metrics`, as in `evaluation`; removed in the next "
        "release.",
    )
    hides_minority: HidesMinority = None
    may_hide_minority: bool | None = Field(
        default=None,
        description="Whether accuracy may hide one: a large gap in recall is possible, but not "
        "confirmed.",
    )
    metrics: dict[str, Value] = Field(
        description="Aggregate metrics; empty until it is evaluated."
    )
    worst_class: ListedClass | None = None


class RunList(ResponseBody):
    """Runs for the list of a command."""

    only_in_the_api: ClassVar[Mapping[str, Any]] = {"runs": {"__all__": {"truth_version"}}}

    runs: list[RunSummary]
    n_without_slices: int = Field(
        default=0,
        description="If the filter has conditions on slices: number of runs with sample weights "
        "that meet its other conditions. They have no metrics of slices, so they are not found.",
    )
    n_weighted: int = Field(
        default=0,
        description="If sorted by a metric: number of runs with sample weights among all that are "
        "found. Their values cannot be compared with the others, which come first.",
    )


class RunPage(Page, RunList):
    """A page of runs."""

    notices: Notices = Field(default=[])


class LeadersQuery(InProject):
    """The metric to rank runs by."""

    metric: str | None = Field(
        default=None, description="Key of an aggregate metric; by default the primary metric."
    )


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


class Comment(ResponseBody):
    """A comment on a run or a dataset: plain text that cannot be changed afterwards."""

    id: int
    at: datetime
    author: str | None
    text: str


class Comments(ResponseBody):
    """All comments on a run or a dataset, oldest first."""

    comments: list[Comment]


class NewComment(RequestBody):
    """A comment on a run."""

    text: str = Field(description="Plain text of at most 5,000 characters.")
    author: str | None = None


class NewDatasetComment(NewComment, InProject):
    """A comment on a dataset."""


def comments_document(comments: Iterable[StoredComment]) -> Comments:
    return Comments(comments=list(map(Comment.made_of, comments)))


def run_document(detail: RunDetail) -> Run:
    """Everything about a run except its results."""
    run, outdated, results = detail.run, detail.outdated, detail.results
    return Run.made_of(
        run,
        labels=labels_document(run.labels),
        truth=None if run.truth is None else RunTruth.made_of(run.truth, version=run.truth.number),
        orientation=RunOrientation.made_of(_orientation(run), evidence=run.orientation_evidence),
        hierarchy=None if run.hierarchy is None else run.hierarchy.to_dict(),
        derived_from=_derived(run.derivation),
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


def run_summary(run: FoundRun) -> RunSummary:
    """A run in a list, with the metrics that were read."""
    worst = run.worst_class
    return RunSummary.made_of(
        run,
        orientation=_orientation(run),
        derived_from=_derived(run.derivation),
        evaluation=None if run.n_samples is None else ListedEvaluation.made_of(run),
        worst_class=None if worst is None else ListedClass.made_of(worst, tp=worst.hits),
    )


def asked_runs(
    database: Database, asked: RunsQuery, *, limit: int, after: SearchPlace | None = None
) -> tuple[RunList, SearchPlace | None]:
    """At most `limit` runs after a place, and the place after which there are more."""
    from offdiag.services.run_search import search_page

    found = search_page(
        database,
        filter_text=asked.filter,
        order_by=asked.order_by,
        project=asked.project,
        after=after,
        limit=limit,
    )
    return RunList.made_of(found, runs=list(map(run_summary, found.runs))), found.following


def found_run(run: RunSummary) -> FoundRun:
    """A found run, as in the same process."""
    origin, orientation, evaluation = run.derived_from, run.orientation, run.evaluation
    return FoundRun(
        **{name: getattr(run, name) for name in RunBasics.model_fields},
        hides_minority=run.hides_minority,
        truth_version=run.truth_version,
        n_samples=None if evaluation is None else evaluation.n_samples,
        n_unlabelled=0 if evaluation is None else evaluation.n_unlabelled,
        source=SourceOrientation.PREDICTIONS if orientation is None else orientation.source,
        orientation_verdict=None if orientation is None else orientation.verdict,
        derivation=None if origin is None else Derivation(origin.run, origin.recipe),
        may_hide_minority=run.may_hide_minority,
        metrics={key: value.measured() for key, value in run.metrics.items()},
    )


_FACTS = (
    *("id", "name", "project", "dataset", "truth_version", "model", "state", "author"),
    *("created_at", "n_predictions", "n_samples", "orientation_verdict", "derived_from"),
)


def run_columns(keys: Sequence[str]) -> tuple[str, ...]:
    """CSV columns of a list whose lines have these metrics."""
    return (
        *_FACTS,
        *(f"{key}{part}" for key in keys for part in ("", "_ci_low", "_ci_high", "_reason")),
        *("worst_class", "worst_class_recall", "worst_class_tp", "worst_class_support"),
        "is_weighted",
    )


def entry_row(entry: RunEntry, keys: Sequence[str]) -> tuple[Cell, ...]:
    """One run for the CSV of a list, in the order of the `run_columns` of its metrics."""
    worst = entry.worst_class
    return (
        *cells_of(entry, _FACTS),
        *(cell for key in keys for cell in _metric_cells(entry, key)),
        *(
            (None, None, None, None)
            if worst is None
            else (worst.label, worst.recall.value, worst.hits, worst.support)
        ),
        *cells_of(entry, ("is_weighted",)),
    )


def _metric_cells(entry: RunEntry, key: str) -> tuple[Cell, ...]:
    value = entry.metrics.get(key)
    if value is None:
        return (None, None, None, None)
    return (value.value, value.ci_low, value.ci_high, value.reason)


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


def _derived(derivation: Derivation | None) -> Derived | None:
    if derivation is None:
        return None
    return Derived(run=derivation.run_id, recipe=dict(derivation.recipe))


def _orientation(run: RunHeader | FoundRun) -> ListedOrientation:
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
