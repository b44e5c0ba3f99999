"""What the SDK asks of a registry, a database or a server: runs, searches, decision rules.

Neither this module nor the types of requests and responses import a database library, so a job
that logs to a server never loads one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet, TruthRevision
from offdiag.domain.runs import FoundRun, FoundRuns, RunFacts
from offdiag.domain.sample_content import LoggedSamples
from offdiag.domain.values import MetricValue
from offdiag.errors import Conflict
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.inputs.label_changes import ColumnNames
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.records.base import Answer, Request, ResponseBody
from offdiag.records.runs.run import Run, asked_run
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.services.ingest.batch import (
    Batch,
    GivenCounts,
    GivenMatrix,
    GivenPairedCounts,
    Predictions,
)

SavedRun = TypeVar("SavedRun")
Threshold = float | Literal["cheapest"] | None


@dataclass(frozen=True, eq=False)
class Decision(Generic[SavedRun]):
    """The effect of a decision rule on the predictions of a run, returned by `Run.decide`.

    * `recipe`: the rule as plain values.
    * `mean_cost_before`, `mean_cost_after`: costs per sample, each with its interval.
    * `difference`: after minus before, with its paired interval, which treats a threshold as fixed
      beforehand.
    * `matrix_before`, `matrix_after`: the confusion matrices.
    * `recall_changes`: by class, with paired intervals.
    * `run`: the run with the new predictions, None if they were not saved.
    """

    recipe: Mapping[str, Any]
    mean_cost_before: MetricValue
    mean_cost_after: MetricValue
    difference: MetricValue
    matrix_before: ConfusionMatrix
    matrix_after: ConfusionMatrix
    recall_changes: Mapping[str, MetricValue]
    run: SavedRun | None

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values; the run is its id."""
        return {
            "recipe": dict(self.recipe),
            "mean_cost_before": self.mean_cost_before.to_dict(),
            "mean_cost_after": self.mean_cost_after.to_dict(),
            "difference": self.difference.to_dict(),
            "labels": list(self.matrix_before.labels.names),
            "matrix_before": self.matrix_before.counts.tolist(),
            "matrix_after": self.matrix_after.counts.tolist(),
            "recall_changes": {
                label: change.to_dict() for label, change in self.recall_changes.items()
            },
            "run": getattr(self.run, "id", self.run),
        }


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """The arguments of `search_runs`."""

    filter_text: str
    order_by: tuple[str, ...]
    project: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class RevisionQuestion:
    """The arguments of `revise_truth`."""

    project: str
    dataset: str
    labels: object
    reason: str
    author: str | None
    version: int | None
    names: ColumnNames


class OpenedRun(Protocol):
    """A run that takes chunks, and its classes."""

    @property
    def run_id(self) -> str: ...

    @property
    def labels(self) -> LabelSet: ...

    @property
    def positive_label(self) -> str | None: ...

    @property
    def keeps(self) -> bool:
        """False if chunks are discarded, so that none need to be made."""
        ...

    def chunk_size(self, batch: Batch) -> int:
        """How many samples like those of the batch make a chunk; the same for the same batch."""
        ...

    def put(self, seq: int, batch: Batch) -> None:
        """Take one chunk. If it is sent later, errors are raised later."""
        ...

    def leave(self) -> None:
        """Leave the run open; chunks that were put are stored, or kept to be sent."""
        ...

    def finish(self, n_chunks: int) -> str:
        """Close the run once all `n_chunks` are stored, and return its id."""
        ...


class Registry(Protocol):
    """Where runs are logged to and read from.

    `project` is the project of runs that name none. The methods correspond to the functions of the
    SDK with the same names, and raise the same errors.
    """

    @property
    def project(self) -> str: ...

    @property
    def server_url(self) -> str | None:
        """Address of the dashboard without a trailing slash; None if it is not known."""
        ...

    def page_of(self, run_id: str) -> str: ...

    def log_predictions(self, facts: RunFacts, dataset: str | None, given: Predictions) -> str: ...

    def open_run(
        self,
        facts: RunFacts,
        dataset: str,
        labels: LabelSet | None,
        positive_label: str | None,
        hierarchy: object | None,
    ) -> OpenedRun: ...

    def log_matrix(self, facts: RunFacts, dataset: str, given: GivenMatrix) -> str: ...

    def log_counts(self, facts: RunFacts, dataset: str, given: GivenCounts) -> str: ...

    def log_paired_counts(
        self, runs: Sequence[RunFacts], dataset: str, given: GivenPairedCounts
    ) -> list[str]: ...

    def evaluation(
        self, run_id: str, *, timeout_s: float, part: str | None, groups: tuple[str, ...]
    ) -> Evaluation:
        """The evaluation with these groups collapsed; of all classes without any."""
        ...

    def search(self, question: SearchQuestion) -> FoundRuns: ...

    def find(self, run_id: str) -> FoundRun | None:
        """A run as a list of runs shows it; None if it does not exist."""
        ...

    def delete_run(self, run_id: str, *, by: str | None) -> None: ...

    def retry_evaluation(self, run_id: str) -> None:
        """Queue the evaluation again if it failed permanently; otherwise do nothing."""
        ...

    def evaluate_few(self) -> int:
        """Evaluate the pending runs if this process may and there are few; how many are left."""
        ...

    def evaluate_pending(self, timeout_s: float) -> int:
        """Evaluate all pending runs, or wait for the workers; how many runs were evaluated."""
        ...

    def set_hierarchy(self, project: str, dataset: str, given: object | None) -> Hierarchy | None:
        """Group the classes of a dataset, or with None remove the groups; the new groups."""
        ...

    def revise_truth(self, question: RevisionQuestion) -> TruthRevision: ...

    def add_slices(
        self, project: str, dataset: str, given: GivenSlices, version: int | None
    ) -> AddedSlices: ...

    def log_samples(
        self, project: str, dataset: str, samples: Sequence[GivenSample]
    ) -> LoggedSamples:
        """Store one chunk of content."""
        ...

    def ask(self, request: Request[Answer]) -> Answer:
        """The response of a server, or what is stored in a database."""
        ...


class NotedRun(ResponseBody):
    """What was recorded when a run was logged without predictions, and the note people wrote."""

    decision_rule: dict[str, Any] | None = None
    note: str | None = None


def noted_run(registry: Registry, run_id: str) -> NotedRun:
    """The decision rule and the note of a run. Raises `NotFound`."""
    return registry.ask(
        Request(f"/runs/{run_id}", NotedRun, lambda at: NotedRun.made_of(asked_run(at, run_id)))
    )


def run_of(registry: Registry, run_id: str) -> Run:
    """Everything that is known about a run except its results. Raises `NotFound`."""
    return registry.ask(Request(f"/runs/{run_id}", Run, lambda at: asked_run(at, run_id)))


def find_run(registry: Registry, run_id: str) -> FoundRun | None:
    """A run by its id, found with a search; None if it does not exist."""
    question = SearchQuestion(f"attributes.id = {quoted(run_id)}", (), None, 1)
    return next(iter(registry.search(question).runs), None)


RUN_ID = re.compile(r"r_[0-9a-z]{12}")
MOST_NAMED = 5
"""How many runs with one name an error lists."""


class _Named(Protocol):
    """What an error reports of a run that shares its name with others."""

    @property
    def id(self) -> str: ...
    @property
    def dataset(self) -> str: ...


def only_id(name: str, found: Sequence[_Named], *, hint: str) -> str | None:
    """The id of the only run with a name; None if there is none.

    `found` are the newest of them, newest first, at most `MOST_NAMED` and one more. Raises
    `Conflict` with their ids and `hint` if there are several.
    """
    if len(found) > 1:
        ids = ", ".join(f"{each.id} ({each.dataset})" for each in found[:MOST_NAMED])
        more = ", ..." if len(found) > MOST_NAMED else ""
        raise Conflict(
            f"several runs are named {name!r}: {ids}{more}, newest first.", field="run", hint=hint
        )
    return found[0].id if found else None


def quoted(text: str) -> str:
    """Any text as a text literal of a filter."""
    return "'" + text.replace("'", "''") + "'"
