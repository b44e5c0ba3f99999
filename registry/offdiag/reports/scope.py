"""The scope of a report: which runs, which metrics, compared with what, and when to warn."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from offdiag.domain import sentences
from offdiag.domain.number_text import MINUS, number
from offdiag.domain.runs import Task
from offdiag.domain.slices import parse_slice
from offdiag.errors import InvalidInput
from offdiag.metrics.catalogue import CATALOGUE, Direction, MetricSpec, Scope
from offdiag.metrics.metric_text import (
    COST_METRIC,
    PER_CASES,
    SCOPES_OF_RUNS,
    find_spec,
    title,
    title_inside,
)
from offdiag.metrics.names import averages_of, find_metric, nearest_names

DEFAULT_METRICS = ("balanced_accuracy", "mcc", "macro_f1", "overall_accuracy")
"""Runs are ranked by the first; accuracy comes last because it hides small classes."""
METRICS_OF_SETS = ("macro_f1", "example_jaccard", "subset_accuracy", "hamming_loss")
"""Defaults for runs whose samples have sets of labels, where classes are not exclusive."""
CLASS_METRICS = ("recall", "precision", "f1")
"""Per-class values that a report keeps, and that conditions may be about."""
MOST_METRICS = 8
MOST_CONDITIONS = 50
MOST_SLICES = 10

_WHOLE = frozenset(key for scope in SCOPES_OF_RUNS for key in CATALOGUE[scope])


class TermField(StrEnum):
    """A field by which the runs of a dataset can be narrowed."""

    MODEL = "model"
    NAME = "name"
    TAG = "tag"


@dataclass(frozen=True, slots=True)
class RunTerm:
    """A condition on a run: its model, a part of its name, or a tag with a given or any value."""

    field: TermField
    text: str
    value: str | None = None


class Side(StrEnum):
    """On which side of a limit a value is bad."""

    BELOW = "below"
    ABOVE = "above"

    @property
    def reversed(self) -> Side:
        """The side for the negated value."""
        return Side.ABOVE if self is Side.BELOW else Side.BELOW


@dataclass(frozen=True, slots=True)
class Condition:
    """Warn of every run whose value, including its whole interval, is beyond a limit.

    A metric may be named as in scikit-learn; the condition then has our key. `slice` is the
    slice that is meant, None for all samples; with `over` it is the `worst` value of all groups of
    the slice column `by`, or the `gap` between them.
    """

    metric: str
    side: Side
    limit: float
    class_label: str | None = None
    slice: str | None = None
    over: Literal["worst", "gap"] | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.limit):
            raise InvalidInput(
                f"the limit is {self.limit}.", field="alerts", hint="Give a finite number."
            )
        if (self.over is None) is not (self.by is None) or (self.by and self.slice):
            raise InvalidInput(
                "a condition is about a slice, or with `over` about all groups of a column.",
                field="alerts",
                hint="Give `slice`, or `over` and `by`.",
            )
        if self.slice is not None:
            object.__setattr__(self, "slice", str(parse_slice(self.slice)))
        if self.class_label is None:
            metric_of_runs(self.metric, field="alerts")
        known = _WHOLE if self.class_label is None else CLASS_METRICS
        found = find_metric(self.metric, known)
        if found is None:
            raise InvalidInput(
                f"{self.metric!r} of a single class is not in a report.",
                field="alerts",
                hint=f"Use one of {', '.join(CLASS_METRICS)}.",
            )
        object.__setattr__(self, "metric", found.key)
        if found.is_negated and self.over != "gap":
            object.__setattr__(self, "side", self.side.reversed)
            object.__setattr__(self, "limit", 0.0 - self.limit)

    @property
    def is_of_slices(self) -> bool:
        """Whether it is decided by something other than the values of whole runs."""
        return self.slice is not None or self.over is not None


@dataclass(frozen=True, slots=True)
class ReportScope:
    """The runs of one dataset that meet all terms, and what is reported about them.

    `baseline` is the id of the run with which the others are compared. Each of `slices` is a
    part of the samples, such as `country=DE`, that is reported beside all of them; it is kept
    in its canonical form. `cost_matrix` names a cost matrix, as `visits` (the newest version
    at the time of an edition) or `visits@3`; with it the mean cost is one of the metrics. Raises
    `InvalidInput` for values that are not valid. Metrics may be named as in scikit-learn.
    """

    project: str
    dataset: str
    terms: tuple[RunTerm, ...] = ()
    baseline: str | None = None
    slices: tuple[str, ...] = ()
    metrics: tuple[str, ...] = DEFAULT_METRICS
    alerts: tuple[Condition, ...] = ()
    cost_matrix: str | None = None

    def __post_init__(self) -> None:
        n_named = sum(key != COST_METRIC for key in self.metrics)
        if not self.metrics or n_named > MOST_METRICS:
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
        keys = tuple(metric_of_runs(key, field="metrics").key for key in self.metrics)
        object.__setattr__(self, "metrics", keys)
        canonical = tuple(str(parse_slice(text)) for text in self.slices)
        object.__setattr__(self, "slices", canonical)
        self._require_costs_where_needed()
        if self.cost_matrix is not None and not any(map(is_of_costs, self.metrics)):
            object.__setattr__(self, "metrics", (*self.metrics, COST_METRIC))

    def for_task(self, task: Task) -> ReportScope:
        """The scope with metrics that the runs have: the defaults do not exist for label sets."""
        if task is not Task.MULTILABEL or self.metrics != DEFAULT_METRICS:
            return self
        return replace(self, metrics=METRICS_OF_SETS)

    @property
    def ranking_metric(self) -> str:
        return self.metrics[0]

    @property
    def kept_metrics(self) -> tuple[str, ...]:
        """The metrics of whole runs that are shown, then those needed for alerts only."""
        of_alerts = (each.metric for each in self.alerts if each.class_label is None)
        return tuple(dict.fromkeys((*self.metrics, *of_alerts)))

    def _require_costs_where_needed(self) -> None:
        if self.cost_matrix is not None:
            return
        for field, keys in (
            ("metrics", self.metrics),
            ("alerts", [each.metric for each in self.alerts]),
        ):
            needing = next(filter(is_of_costs, keys), None)
            if needing is not None:
                raise InvalidInput(
                    f"{needing!r} needs a cost matrix.",
                    field=field,
                    hint="Name one with cost_matrix (--cost-matrix).",
                )


def is_of_costs(key: str) -> bool:
    """Whether a metric needs a cost matrix."""
    return key in CATALOGUE[Scope.COST]


def metric_of_runs(key: str, *, field: str) -> MetricSpec:
    """The definition of a metric that ranks whole runs.

    Names of scikit-learn are accepted. Raises `InvalidInput` for unknown keys and for values
    that are neither good nor bad.
    """
    found = find_metric(key, _WHOLE)
    spec = None if found is None else find_spec(found.key, SCOPES_OF_RUNS)
    if spec is None:
        of_class = find_metric(key, CATALOGUE[Scope.PER_CLASS])
        averages = () if of_class is None else averages_of(of_class.key, _WHOLE)
        raise InvalidInput(
            f"there is no metric {key!r} of whole runs.",
            field=field,
            hint=f"Use an average: {', '.join(averages)}."
            if averages
            else nearest_names(key, _WHOLE)
            or "Name keys such as balanced_accuracy, macro_f1 or log_loss.",
        )
    if spec.direction is Direction.NEITHER:
        raise InvalidInput(
            f"{key!r} describes the data and does not rank runs.",
            field=field,
            hint="Name a metric with a direction, such as balanced_accuracy.",
        )
    return spec


def condition_text(condition: Condition) -> str:
    """ "Recall of df below 0.500"."""
    what = title(condition.metric, condition.class_label)
    if condition.over is not None:
        over = "Worst" if condition.over == "worst" else "Gap of"
        what = f"{over} {title_inside(condition.metric, condition.class_label)} by {condition.by}"
    elif condition.slice is not None:
        what = f"{what} on {condition.slice}"
    times = PER_CASES if condition.metric == COST_METRIC else 1
    return f"{what} {condition.side.value} {_limit_text(condition.limit * times)}"


def _limit_text(limit: float) -> str:
    """A limit as values are written, "0.500", but never rounded: "0.99999"."""
    text, exact = number(limit), f"{limit:.12g}"
    plain = text.replace(",", "").replace(MINUS, "-")
    is_rounded = plain[0] in "<>" or float(plain) != float(exact)
    return exact.replace("-", MINUS) if is_rounded else text


def terms_text(terms: tuple[RunTerm, ...]) -> str:
    """Which runs of the dataset a report covers."""
    return " and ".join(map(_term, terms)) if terms else "all of the dataset"


def _term(term: RunTerm) -> str:
    if term.field is TermField.NAME:
        return f"name contains {sentences.name(term.text)}"
    if term.field is TermField.MODEL:
        return f"model is {sentences.name(term.text)}"
    if term.value is None:
        return f"has the tag {sentences.name(term.text)}"
    return f"tag {sentences.name(term.text)} is {sentences.name(term.value)}"
