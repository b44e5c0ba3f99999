"""What a report is about: which runs, which metrics, compared with what, and when to warn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.slices import parse_slice
from offdiag.errors import InvalidInput
from offdiag.metrics.catalogue import CATALOGUE, Direction, MetricSpec, Scope

DEFAULT_METRICS = ("balanced_accuracy", "mcc", "macro_f1", "overall_accuracy")
"""Runs are ranked by the first; accuracy comes last because it hides small classes."""
CLASS_METRICS = ("recall", "precision", "f1")
"""Values of single classes that a report keeps, and that conditions may be about."""
MOST_METRICS = 8
MOST_CONDITIONS = 50
MOST_SLICES = 10

_OF_RUNS = (Scope.AGGREGATE, Scope.PROBABILISTIC, Scope.MULTILABEL)


class TermField(StrEnum):
    """What narrows the runs of a dataset."""

    MODEL = "model"
    NAME = "name"
    TAG = "tag"


@dataclass(frozen=True, slots=True)
class RunTerm:
    """A condition on a run: its model, a part of its name, or a tag with a value or any."""

    field: TermField
    text: str
    value: str | None = None


class Side(StrEnum):
    """On which side of a limit a value is bad."""

    BELOW = "below"
    ABOVE = "above"


@dataclass(frozen=True, slots=True)
class Condition:
    """Warn of every run whose value lies beyond a limit, its whole interval included."""

    metric: str
    side: Side
    limit: float
    class_label: str | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.limit):
            raise InvalidInput(
                f"{self.limit} is no limit.", field="alerts", hint="Give a finite number."
            )
        if self.class_label is None:
            metric_of_runs(self.metric, field="alerts")
        elif self.metric not in CLASS_METRICS:
            raise InvalidInput(
                f"{self.metric!r} of a single class is not in a report.",
                field="alerts",
                hint=f"Use one of {', '.join(CLASS_METRICS)}.",
            )


@dataclass(frozen=True, slots=True)
class ReportScope:
    """The runs of one dataset that fulfil all terms, and what is said about them.

    `baseline` is the id of the run that the others are held against. Each of `slices` is a
    part of the samples, such as `country=DE`, that is reported beside all of them; it is kept
    in its canonical form. Raises `InvalidInput` for what cannot be meant.
    """

    project: str
    dataset: str
    terms: tuple[RunTerm, ...] = ()
    baseline: str | None = None
    slices: tuple[str, ...] = ()
    metrics: tuple[str, ...] = DEFAULT_METRICS
    alerts: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.metrics) <= MOST_METRICS:
            raise InvalidInput(
                f"{len(self.metrics)} metrics were named.",
                field="metrics",
                hint=f"Name 1 to {MOST_METRICS}; runs are ranked by the first.",
            )
        if len(self.alerts) > MOST_CONDITIONS:
            raise InvalidInput(
                f"there are {len(self.alerts)} conditions.",
                field="alerts",
                hint=f"At most {MOST_CONDITIONS} are checked in one report.",
            )
        if len(self.slices) > MOST_SLICES:
            raise InvalidInput(
                f"there are {len(self.slices)} slices.",
                field="slices",
                hint=f"At most {MOST_SLICES} are in one report.",
            )
        for key in self.metrics:
            metric_of_runs(key, field="metrics")
        canonical = tuple(str(parse_slice(text)) for text in self.slices)
        object.__setattr__(self, "slices", canonical)

    @property
    def ranking_metric(self) -> str:
        return self.metrics[0]


def metric_of_runs(key: str, *, field: str) -> MetricSpec:
    """The definition of a metric that ranks whole runs.

    Raises `InvalidInput` for unknown keys and for values that are neither good nor bad.
    """
    spec = _spec(key, _OF_RUNS)
    if spec is None:
        raise InvalidInput(
            f"there is no metric {key!r} of whole runs.",
            field=field,
            hint="Name keys such as balanced_accuracy, macro_f1 or log_loss.",
        )
    if spec.direction is Direction.NEITHER:
        raise InvalidInput(
            f"{key!r} describes the data and is neither good nor bad.",
            field=field,
            hint="Name a metric that ranks runs.",
        )
    return spec


def spec_of(key: str, *, of_class: bool) -> MetricSpec:
    """The definition of a metric that a report holds."""
    spec = _spec(key, (Scope.PER_CLASS,) if of_class else _OF_RUNS)
    if spec is None:
        raise KeyError(key)
    return spec


def _spec(key: str, scopes: Sequence[Scope]) -> MetricSpec | None:
    return next((CATALOGUE[scope][key] for scope in scopes if key in CATALOGUE[scope]), None)
