"""What the registry held about the runs of a report at one moment: figures, nothing derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from offdiag.domain.values import MetricValue
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import Severity
from offdiag.reports.scope import Condition

MOST_RUNS = 200
"""Most runs in a report, newest first; the report says how many were left out."""
ALL_CLASSES_UP_TO = 60
"""With more classes, a report keeps those with the lowest recall."""
WORST_KEPT = 12
MOST_SLICED = 20
"""Number of best runs for which slices are counted; each slice is a separate evaluation."""
MOST_FLAGS = 500
"""Most flags for all runs together, the most severe first."""


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """One class of one run; `values` holds the metrics of `scope.CLASS_METRICS`.

    `support` is its number of samples, or the sum of their weights.
    """

    label: str
    support: int | float
    values: Mapping[str, MetricValue]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """One run as evaluated on all samples, or on one slice of them.

    `input_digest` stands for predictions, truth, slice and suite together: equal digests have
    equal values. Metrics of a run that `has_weights` are shares of weights; equal `weights` mean
    the same weights, and are only read if an earlier run has the same name. `classes` are all
    classes in label order, or the worst if there are many.
    """

    id: str
    name: str
    model: str | None
    logged_at: datetime
    truth_number: int | None
    suite_version: int
    input_digest: str
    n_cases: int
    n_scored: int
    metrics: Mapping[str, MetricValue]
    classes: tuple[ClassFigures, ...]
    slice: str | None = None
    has_weights: bool = False
    weights: str | None = None

    def of_class(self, label: str | None) -> ClassFigures | None:
        """The figures of a class, None if the report has none of it."""
        return next((each for each in self.classes if each.label == label), None)


@dataclass(frozen=True, slots=True)
class TruthFigures:
    """The newest version of the ground truth on which the runs are scored.

    `root_number` is that of the first version from which it descends: equal numbers mean the same
    samples.
    """

    number: int
    root_number: int
    digest: str
    n_samples: int
    n_labelled: int


@dataclass(frozen=True, slots=True)
class Revision:
    """A version of the ground truth that corrected an earlier one.

    `n_changed` counts the samples whose label differs from that of the version before.
    """

    number: int
    parent_number: int
    reason: str
    author: str | None
    created_at: datetime
    n_changed: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts of one run: `counts[actual][predicted]`, both in the order of `labels`."""

    run_id: str
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Confusion:
    """Samples of one class that were predicted as another."""

    actual: str
    predicted: str
    count: int
    support: int


@dataclass(frozen=True, slots=True)
class LeaderErrors:
    """Where the best run fails: its matrix if it is small, and its most frequent confusions."""

    run_id: str
    matrix: Matrix | None
    confusions: tuple[Confusion, ...]


@dataclass(frozen=True, slots=True)
class RunName:
    """A run that is mentioned without figures."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ConstantPrediction:
    """The cheapest constant prediction, on the samples of the best run."""

    label: str
    mean_cost: float


@dataclass(frozen=True, slots=True)
class CostFigures:
    """What errors cost: a version of a cost matrix, which never changes."""

    name: str
    version: int
    currency: str | None
    constant: ConstantPrediction | None = None

    @property
    def text(self) -> str:
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class FlagFigures:
    """A flag that fires for a run, or for one class or slice of it.

    `state` is the state set by people.
    """

    run_id: str
    run_name: str
    rule: str
    class_label: str | None
    severity: Severity
    state: FlagState
    message: str
    badge: str = ""
    """ "hides" or "may hide"; empty for flags that set neither badge, and in older editions."""
    slice: str | None = None
    snoozed_until: datetime | None = None
    """For an open flag: when its snooze ended."""

    @property
    def key(self) -> tuple[str, str, str | None, str | None]:
        """The identity of a flag: there is one per run, rule, class and slice."""
        return (self.run_id, self.rule, self.class_label, self.slice)


@dataclass(frozen=True, slots=True)
class BestSetFigures:
    """Ids of runs that may be the best by the ranking metric, and of those that are worse.

    All were compared together at 95 %, example by example; other runs could not be.
    """

    may_be_best: tuple[str, ...]
    worse: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BestOfManyFigures:
    """The highest run by the ranking metric and what it is expected to reach on new samples.

    `corrected` allows for its having been chosen among `n_runs`, three or more.
    """

    run_id: str
    n_runs: int
    corrected: MetricValue


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a report says about the present.

    `runs` are all evaluated on the same ground truth, its newest version, with the same suite;
    they are in no meaningful order, at most `MOST_RUNS` of the `n_matching` finished runs in
    scope. `waiting` have yet to be evaluated like this, `failed` could not be, and `n_elsewhere`
    have another ground truth, or are matrices of an older version of it, whose values would not be
    comparable. `slices` are figures of the best `MOST_SLICED` runs, and `revisions` those since
    the previous edition, oldest first. `flags` are the most severe `MOST_FLAGS` of the `n_flags`
    that are raised for `runs` and more than a remark, None in editions of versions without flags.
    `best_set` is None if nothing was tested, `best_of_many` if the value of the best run is not
    corrected. `on_slices` are the values of conditions about slices, by run and condition;
    `n_suppressed` slices in scope are too small to be shown. `champion` is that of the dataset,
    in scope or not. `declared` are the versions of the declared metrics, unknown in editions of
    earlier versions.
    """

    task: str
    n_classes: int
    truth: TruthFigures | None
    suite_version: int
    engine_version: str
    runs: tuple[RunFigures, ...]
    slices: tuple[RunFigures, ...]
    leader: LeaderErrors | None
    revisions: tuple[Revision, ...]
    waiting: tuple[RunName, ...]
    failed: tuple[RunName, ...]
    n_matching: int
    n_elsewhere: int
    costs: CostFigures | None = None
    flags: tuple[FlagFigures, ...] | None = None
    n_flags: int = 0
    best_set: BestSetFigures | None = None
    best_of_many: BestOfManyFigures | None = None
    on_slices: Mapping[str, tuple[tuple[Condition, MetricValue], ...]] = field(
        default_factory=dict
    )
    n_suppressed: int = 0
    champion: RunName | None = None
    declared: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_cut(self) -> bool:
        """Whether older runs in scope were left out."""
        return self.n_matching > MOST_RUNS
