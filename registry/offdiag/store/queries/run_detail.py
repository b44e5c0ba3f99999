"""A run as its pages show it: what it is, its current results and what stands around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Derivation, RunState, Task
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, matrix_of
from offdiag.store.queries.outdated_results import OutdatedResults
from offdiag.store.queries.pending_work import EvaluationWork
from offdiag.store.queries.run_flags import RunFlags
from offdiag.store.queries.run_surroundings import RunSurroundings

NO_FLAGS = RunFlags()
ALONE = RunSurroundings()


@dataclass(frozen=True, slots=True)
class TruthFacts:
    """The version of the ground truth a run was finished with; `root_id` began its lineage."""

    id: int
    root_id: int
    number: int
    digest: str
    n_samples: int
    class_counts: tuple[int, ...]
    id_kind: str


@dataclass(frozen=True, slots=True)
class RunHeader:
    """A run without its results; `orientation_evidence` as it was recorded."""

    id: str
    name: str
    project: str
    dataset: str
    task: Task
    labels: LabelSet
    positive_label: str | None
    positive_by_convention: bool
    truth: TruthFacts | None
    model: str | None
    state: RunState
    params: Mapping[str, Any]
    tags: Mapping[str, Any]
    author: str | None
    git_sha: str | None
    source: SourceOrientation
    orientation_verdict: str | None
    orientation_evidence: Mapping[str, Any] | None
    n_predictions: int
    score_columns: int
    content_digest: str | None
    created_at: datetime
    finished_at: datetime | None
    derivation: Derivation | None = None
    decision: Mapping[str, Any] | None = None
    hierarchy: Hierarchy | None = None

    @property
    def counted_on(self) -> str | None:
        """The program that counted the cases of the run elsewhere; None where none did."""
        name: str | None = (self.orientation_evidence or {}).get("counted_on")
        return name


@dataclass(frozen=True, slots=True)
class EvaluationFacts:
    """With what, when and how fast the current results were computed.

    `n_cases` counts the cases that were scored, `n_unlabelled` those that wait for a label.
    `truth_number` is the version of the truth they were scored with, which may correct the one
    the run was logged with; None for an uploaded matrix without any. `newest_truth_number` is
    the one that would count for a new evaluation; `truth_id` is the id of `truth_number`.
    """

    id: int
    suite_version: int
    engine_version: str
    input_digest: str
    matrix_digest: str
    n_cases: int
    computed_at: datetime
    duration_s: float
    n_unlabelled: int = 0
    truth_number: int | None = None
    newest_truth_number: int | None = None
    truth_id: int | None = None


@dataclass(frozen=True, slots=True)
class RunCosts:
    """What the errors cost, and the version of a cost matrix that says so."""

    name: str
    version: int
    currency: str | None
    values: Mapping[str, MetricValue]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return {
            "name": self.name,
            "version": self.version,
            "currency": self.currency,
            "values": {key: value.to_dict() for key, value in self.values.items()},
        }


@dataclass(frozen=True, slots=True)
class RunResults:
    """The current evaluation. Per-class values are in label order, by key.

    `costs` is None where the dataset had no cost matrix when it was made.
    """

    facts: EvaluationFacts
    counted: Counted
    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, tuple[MetricValue, ...]]
    costs: RunCosts | None = None

    @property
    def matrix(self) -> ConfusionMatrix:
        """The confusion matrix. Raises `Conflict` where cases have sets of labels."""
        return matrix_of(self.counted)


@dataclass(frozen=True, slots=True)
class RunDetail:
    """A run, its results if there are any, and the work that still stands for them.

    `outdated` says why results are stale, and is None where they are not.
    """

    run: RunHeader
    results: RunResults | None
    work: EvaluationWork | None
    outdated: OutdatedResults | None = None
    flags: RunFlags = NO_FLAGS
    surroundings: RunSurroundings = ALONE
