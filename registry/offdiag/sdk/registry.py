"""What the SDK asks of a registry, wherever that is: a database or a server.

Nothing here and nothing that a question or an answer is made of imports a database library, so
that a job which logs to a server never loads one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet, TruthRevision
from offdiag.domain.runs import Derivation, FoundRun, RunFacts
from offdiag.inputs.label_changes import ColumnNames
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.sdk.decision import Decided, DecideQuestion
from offdiag.sdk.evaluation import Evaluation
from offdiag.services.examples.question import ExampleQuestion
from offdiag.services.ingest.batch import Batch
from offdiag.services.ingest.given import GivenCounts, GivenMatrix, Predictions


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """One prediction; `actual` is None where its sample has no label yet."""

    index: int
    sample: int | str
    actual: str | None
    predicted: str
    confidence: float | None
    margin: float | None
    slices: Mapping[str, str]
    sets: tuple[tuple[str, ...] | None, tuple[str, ...]] | None = None
    """True labels (None where they are not known) and predicted ones, of sets of labels."""


@dataclass(frozen=True, slots=True)
class ExampleTable:
    """Predictions that were asked for, in their order."""

    rows: Sequence[ExampleRow]
    slice_names: tuple[str, ...]
    has_scores: bool


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """Which runs somebody looks for, in the words of `search_runs`."""

    filter_text: str
    order_by: tuple[str, ...]
    project: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class CompareQuestion:
    """Which runs somebody compares, in the words of `compare`; the first is A."""

    run_ids: tuple[str, ...]
    slice_text: str | None
    on_shared: bool
    confidence: float
    difference: float


@dataclass(frozen=True, slots=True)
class RevisionQuestion:
    """A correction of labels, in the words of `revise_truth`."""

    project: str
    dataset: str
    labels: object
    reason: str
    author: str | None
    version: int | None
    names: ColumnNames


class OpenedRun(Protocol):
    """A run that takes chunks, and the classes they are about."""

    @property
    def run_id(self) -> str: ...

    @property
    def labels(self) -> LabelSet: ...

    @property
    def positive_label(self) -> str | None: ...

    @property
    def keeps(self) -> bool:
        """False where chunks are forgotten, so that nobody need make any."""
        ...

    def chunk_size(self, batch: Batch) -> int:
        """How many cases like those of a batch make a chunk; the same for the same batch."""
        ...

    def put(self, seq: int, batch: Batch) -> None:
        """Take one chunk. Where it is sent later, errors are raised later."""
        ...

    def leave(self) -> None:
        """Go away from a run that stays open; what was put is stored, or kept to be sent."""
        ...

    def finish(self, n_chunks: int) -> str:
        """Close the run with so many chunks, once all of them are stored; returns its id."""
        ...


class Registry(Protocol):
    """Where runs are logged to and read from.

    `project` is that of runs that name none. The methods do and raise what the functions of
    the SDK with their names say.
    """

    @property
    def project(self) -> str: ...

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

    def evaluation(
        self, run_id: str, *, timeout_s: float, part: str | None, groups: tuple[str, ...]
    ) -> Evaluation:
        """Of the classes that are left with these groups collapsed; of all without any."""
        ...

    def derivation(self, run_id: str) -> Derivation | None: ...

    def decision_rule(self, run_id: str) -> Mapping[str, Any] | None: ...

    def costs_for_run(self, run_id: str, name: str) -> CostMatrix: ...

    def decide(self, run_id: str, question: DecideQuestion) -> Decided: ...

    def costs(self, name: str, project: str) -> CostMatrix: ...

    def examples(self, run_id: str, question: ExampleQuestion, limit: int) -> ExampleTable: ...

    def operating_points(self, run_id: str, positive: str | None) -> OperatingPoints: ...

    def search(self, question: SearchQuestion) -> Sequence[FoundRun]: ...

    def compare(self, question: CompareQuestion) -> Mapping[str, Any]:
        """The record of the comparison, also where it is refused."""
        ...

    def set_hierarchy(self, project: str, dataset: str, given: object | None) -> Hierarchy | None:
        """Group the classes of a dataset, None to take groups away; what they are then."""
        ...

    def revise_truth(self, question: RevisionQuestion) -> TruthRevision: ...
