"""A registry that stores nothing, for running a script without logging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet, TruthRevision
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import FoundRun, FoundRuns, RunFacts, RunState
from offdiag.domain.sample_content import LoggedSamples
from offdiag.errors import Conflict
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.records.base import Answer, Request
from offdiag.records.runs.example import ExamplesQuery
from offdiag.records.runs.slices import SlicesQuery, run_slices
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.registry import NotedRun, OpenedRun, RevisionQuestion, SearchQuestion
from offdiag.services.ingest.batch import (
    Batch,
    GivenCounts,
    GivenMatrix,
    GivenPairedCounts,
    Predictions,
)

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
    """Accepts everything and stores nothing. Results have no samples, so all values are undefined.

    Requests without a harmless response raise `Conflict`.
    """

    project: str

    @property
    def server_url(self) -> None:
        """None: there is no server."""

    def page_of(self, run_id: str) -> str:  # noqa: ARG002
        """Empty: there is no page."""
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

    def search(self, question: SearchQuestion) -> FoundRuns:  # noqa: ARG002
        return FoundRuns(())

    def find(self, run_id: str) -> FoundRun | None:
        return replace(_NOTHING, id=run_id, project=self.project)

    def delete_run(self, run_id: str, *, by: str | None) -> None:
        """Nothing is deleted."""

    def retry_evaluation(self, run_id: str) -> None:
        """Nothing is evaluated."""

    def evaluate_few(self) -> int:
        return 0

    def evaluate_pending(self, timeout_s: float) -> int:  # noqa: ARG002
        return 0

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

    def ask(self, request: Request[Answer]) -> Answer:
        path, answer, asked = request.path, request.answer, request.asked
        if request.method in ("PUT", "PATCH"):
            return answer.model_construct()  # Nothing is changed.
        if issubclass(answer, NotedRun):
            return answer()
        if path.startswith("/cost-matrices/"):
            raise _nothing("costs")
        if isinstance(asked, SlicesQuery):
            return answer.model_validate(run_slices(RUN_ID, None, asked))
        if isinstance(asked, ExamplesQuery):
            page = {"run": RUN_ID, "total": 0, "start": 0, "has_scores": False, "has_ids": False}
            return answer(**page, slice_names=[], examples=[], next_page_token=None)
        last = path.rpartition("/")[2]
        raise _nothing(_NOTHING_OF.get(path, _NOTHING_OF.get(last, last.replace("-", " "))))


@dataclass(frozen=True, slots=True)
class _DisabledRun:
    labels: LabelSet
    positive_label: str | None
    run_id: str = RUN_ID
    keeps: bool = False

    def chunk_size(self, batch: Batch) -> int:
        """All samples: what is not stored need not be divided."""
        return len(batch)

    def put(self, seq: int, batch: Batch) -> None:
        """Discard the chunk."""

    def leave(self) -> None:
        """Do nothing."""

    def finish(self, n_chunks: int) -> str:  # noqa: ARG002
        return RUN_ID


_NOTHING_OF = {
    "/compare": "runs to compare",
    "/compare/examples": "runs to compare",
    "suspects": "labels",
    "decisions": "scores to decide from",
    RUN_ID: "scores to decide from",
}
"""What the error calls missing, by path or its last part; by default that last part."""


def _nothing(what: str) -> Conflict:
    return Conflict(
        f"nothing is logged in mode 'disabled', so there are no {what}.",
        field="client.mode",
        hint="Set OFFDIAG_MODE=online to log and read.",
    )
