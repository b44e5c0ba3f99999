"""A registry that keeps nothing: for runs of a script that are not to be logged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet, TruthRevision
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Derivation, FoundRun, RunFacts, RunState, Scalar
from offdiag.domain.sample_content import ContentPlaces, LoggedSamples, SuspectQuestion
from offdiag.errors import Conflict
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.records.base import RequestBody
from offdiag.records.runs.slices import RunSlices, SlicesQuery, run_slices
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.registry import (
    Answer,
    ComparedExamplesQuestion,
    CompareQuestion,
    Decided,
    DecideQuestion,
    ExampleTable,
    OpenedRun,
    PromoteQuestion,
    RevisionQuestion,
    SearchQuestion,
)
from offdiag.services.examples.selection import ExampleQuestion
from offdiag.services.ingest.batch import (
    Batch,
    GivenCounts,
    GivenMatrix,
    GivenPairedCounts,
    Predictions,
)

if TYPE_CHECKING:
    from offdiag.store.database import Database

RUN_ID = "disabled"
_NO_CLASSES = LabelSet(("nothing was logged",))
_FACTS: dict[str, Any] = dict.fromkeys(each.name for each in fields(FoundRun))
_NOTHING = FoundRun(
    **_FACTS
    | {"name": "nothing was logged", "project": "default", "dataset": "nothing"}
    | {"id": RUN_ID, "state": RunState.FINISHED, "created_at": datetime.fromtimestamp(0, UTC)}
    | {"n_predictions": 0, "n_unlabelled": 0, "source": SourceOrientation.PREDICTIONS}
    | {"params": {}, "tags": {}, "metrics": {}}
)


@dataclass(frozen=True, slots=True)
class DisabledRegistry:
    """Takes everything and keeps nothing. What is read has no cases, so every value is undefined.

    Questions that have no harmless answer raise `Conflict`.
    """

    project: str

    @property
    def server_url(self) -> None:
        """There is none."""

    def page_of(self, run_id: str) -> str:  # noqa: ARG002 - there is no page
        return ""

    def log_predictions(self, facts: RunFacts, dataset: str | None, given: Predictions) -> str:  # noqa: ARG002
        return RUN_ID

    def open_run(
        self,
        facts: RunFacts,  # noqa: ARG002
        dataset: str,  # noqa: ARG002
        labels: LabelSet | None,
        positive_label: str | None,
        hierarchy: object | None,  # noqa: ARG002
    ) -> OpenedRun:
        return _DisabledRun(labels or _NO_CLASSES, positive_label)

    def log_matrix(self, facts: RunFacts, dataset: str, given: GivenMatrix) -> str:  # noqa: ARG002
        return RUN_ID

    def log_counts(self, facts: RunFacts, dataset: str, given: GivenCounts) -> str:  # noqa: ARG002
        return RUN_ID

    def log_paired_counts(
        self,
        runs: Sequence[RunFacts],
        dataset: str,  # noqa: ARG002
        given: GivenPairedCounts,  # noqa: ARG002
    ) -> list[str]:
        return [RUN_ID] * len(runs)

    def evaluation(
        self,
        run_id: str,  # noqa: ARG002
        *,
        timeout_s: float,  # noqa: ARG002
        part: str | None,  # noqa: ARG002
        groups: tuple[str, ...],  # noqa: ARG002
    ) -> Evaluation:
        return Evaluation.of_matrix(ConfusionMatrix(np.zeros((1, 1), np.int64), _NO_CLASSES))

    def derivation(self, run_id: str) -> Derivation | None:  # noqa: ARG002
        return None

    def decision_rule(self, run_id: str) -> Mapping[str, Any] | None:  # noqa: ARG002
        return None

    def costs_for_run(self, run_id: str, name: str) -> CostMatrix:  # noqa: ARG002
        raise _nothing("costs")

    def costs(self, name: str, project: str) -> CostMatrix:  # noqa: ARG002
        raise _nothing("costs")

    def examples(self, run_id: str, question: ExampleQuestion, limit: int) -> ExampleTable:  # noqa: ARG002
        return ExampleTable((), (), has_scores=False)

    def slices(self, run_id: str, query: SlicesQuery) -> RunSlices:
        return run_slices(run_id, None, query)

    def operating_points(self, run_id: str, positive: str | None) -> OperatingPoints:  # noqa: ARG002
        raise _nothing("curves")

    def search(self, question: SearchQuestion) -> Sequence[FoundRun]:  # noqa: ARG002
        return ()

    def find(self, run_id: str) -> FoundRun | None:
        return replace(_NOTHING, id=run_id, project=self.project)

    def note(self, run_id: str) -> None:
        """There is none."""

    def change_run(
        self, run_id: str, *, tags: Mapping[str, Scalar] | None = None, note: str | None = None
    ) -> None:
        """Nothing is changed."""

    def delete_run(self, run_id: str, *, by: str | None) -> None:
        """Nothing is deleted."""

    def retry_evaluation(self, run_id: str) -> None:
        """Nothing is evaluated."""

    def evaluate_few(self) -> int:
        return 0

    def evaluate_pending(self, timeout_s: float) -> int:  # noqa: ARG002
        return 0

    def compared_examples(self, question: ComparedExamplesQuestion) -> Mapping[str, Any]:  # noqa: ARG002
        raise _nothing("runs to compare")

    def compare(self, question: CompareQuestion) -> Mapping[str, Any]:  # noqa: ARG002
        raise _nothing("runs to compare")

    def promote(self, run_id: str, question: PromoteQuestion) -> None:
        """Nothing is recorded."""

    def decide(self, run_id: str, question: DecideQuestion) -> Decided:  # noqa: ARG002
        raise _nothing("scores to decide from")

    def set_hierarchy(self, project: str, dataset: str, given: object | None) -> Hierarchy | None:  # noqa: ARG002
        return None

    def revise_truth(self, question: RevisionQuestion) -> TruthRevision:  # noqa: ARG002
        raise _nothing("ground truth")

    def add_slices(
        self,
        project: str,  # noqa: ARG002
        dataset: str,  # noqa: ARG002
        given: GivenSlices,  # noqa: ARG002
        version: int | None,  # noqa: ARG002
    ) -> AddedSlices:
        raise _nothing("ground truth")

    def log_samples(
        self,
        project: str,  # noqa: ARG002
        dataset: str,
        samples: Sequence[GivenSample],  # noqa: ARG002
    ) -> LoggedSamples:
        return LoggedSamples(dataset, 0, 0, 0, 0)

    def show_samples(self, project: str, dataset: str, places: ContentPlaces) -> None:
        """Nothing is shown."""

    def suspects(
        self,
        project: str,  # noqa: ARG002
        dataset: str,  # noqa: ARG002
        question: SuspectQuestion,  # noqa: ARG002
    ) -> Mapping[str, Any]:
        raise _nothing("labels")

    def document(
        self,
        method: str,  # noqa: ARG002
        path: str,
        asked: RequestBody,  # noqa: ARG002
        answer: type[Answer],  # noqa: ARG002
        stored: Callable[[Database], Answer],  # noqa: ARG002
    ) -> Answer:
        raise _nothing(path.rpartition("/")[2].replace("-", " "))


@dataclass(frozen=True, slots=True)
class _DisabledRun:
    labels: LabelSet
    positive_label: str | None
    run_id: str = RUN_ID
    keeps: bool = False

    def chunk_size(self, batch: Batch) -> int:
        """All of them: nothing is cut that is not kept."""
        return len(batch)

    def put(self, seq: int, batch: Batch) -> None:
        """Forget the chunk."""

    def leave(self) -> None:
        """There is nothing to leave."""

    def finish(self, n_chunks: int) -> str:  # noqa: ARG002
        return RUN_ID


def _nothing(what: str) -> Conflict:
    return Conflict(
        f"nothing is logged in the mode 'disabled', so there are no {what}.",
        field="client.mode",
        hint="Set OFFDIAG_MODE=online to log and read.",
    )
