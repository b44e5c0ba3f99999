"""Custom metrics: functions of a confusion matrix, of label tables or of scores.

    @offdiag.metric(title="F2 of ill", low=0, high=1, direction="higher")
    def f2_ill(m: offdiag.MatrixInput) -> float:
        ill = m.labels.index("ill")
        hits = m.counts[ill, ill]
        return 5 * hits / (4 * m.actual[ill] + m.predicted[ill])

A module that declares metrics is named by an entry point of the group `offdiag.metrics`, so that
workers, commands and pages know the same metrics as the job that logs. No code is loaded from a
database or from the network. A declared metric then belongs to the catalogue: it is computed
for every run, has an interval, and can be used in filters, gates and comparisons.

A faulty function affects its own value only: after an exception, or a result that is not a number
within the declared bounds, the value is undefined with a reason, and the cause is logged once.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from math import isfinite
from os.path import realpath
from types import FunctionType
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.orientation import actual_totals, predicted_totals
from offdiag.metrics.spec import NO_SAMPLES, Direction, MetricSpec, Scope

GROUP = "offdiag.metrics"
"""Entry points of modules that declare metrics."""
_KEY = re.compile(r"[a-z][a-z0-9_]{0,63}")
FAILED = {
    Reason.CUSTOM_METRIC_FAILED: "the function fails, or gives no number within its bounds",
    Reason.CUSTOM_METRIC_UNDEFINED: "the function says so, by None",
}
_IN_CELLS = {Reason.FORECASTS_IN_CELLS: "scores were counted in bins"}
_ROUNDING = 1e-9
"""How far a result may exceed its bounds, as a share of a finite range between them."""
REPLICATES = 200
"""Resamples for the interval of a function of samples."""
_INTERVAL = f"Percentiles of {REPLICATES} resamples of the examples; none above 20,000 examples."

log = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., float | None])
Kind = Literal["matrix", "multilabel", "scores"]


@dataclass(frozen=True, eq=False)
class _Input:
    """Read-only arrays, because other metrics are computed from them too."""

    def __post_init__(self) -> None:
        for each in fields(self):
            array = getattr(self, each.name)
            if isinstance(array, np.ndarray):
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, each.name, view)


@dataclass(frozen=True, eq=False)
class MatrixInput(_Input):
    """The argument of a metric function of a confusion matrix.

    * `counts`: (K, K) samples, or sums of sample weights, by actual class (row) and predicted
      class (column).
    * `labels`: the names of the K classes in that order.
    """

    counts: NDArray[Any]
    labels: tuple[str, ...]

    @cached_property
    def actual(self) -> NDArray[Any]:
        """Samples of each actual class, (K,)."""
        totals: NDArray[Any] = actual_totals(self.counts)
        return totals

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """Samples predicted as each class, (K,)."""
        totals: NDArray[Any] = predicted_totals(self.counts)
        return totals

    @cached_property
    def total(self) -> float:
        """Number of samples, or the sum of their weights."""
        return float(self.counts.sum())


@dataclass(frozen=True, eq=False)
class MultilabelInput(_Input):
    """The argument of a metric function of label sets: one two-by-two table per label.

    The four arrays are whole numbers of samples, (q,), in the order of `labels`. For each label
    they add up to the number of samples.
    """

    true_positives: NDArray[np.int64]
    false_negatives: NDArray[np.int64]
    false_positives: NDArray[np.int64]
    true_negatives: NDArray[np.int64]
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ScoreInput(_Input):
    """The argument of a metric function of scores.

    * `actual`: (n,) codes of the actual classes.
    * `scores`: (n, K), one column for each class in the order of `labels`. With two classes and
      one score, the other column is 1 minus that score.
    * `labels`: the names of the K classes.
    """

    actual: NDArray[Any]
    scores: NDArray[Any]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CustomMetric:
    """A declared function, with the facts of its catalogue entry."""

    function: Callable[[Any], float | None]
    of: Kind
    facts: Mapping[str, Any]

    @property
    def key(self) -> str:
        return str(self.facts["key"])

    def called(
        self, given: MatrixInput | MultilabelInput | ScoreInput
    ) -> tuple[float, Reason | None]:
        """The value, or NaN and the reason why there is none.

        A function needs class names: a table without them has no value. A value that exceeds
        the declared bounds by rounding only becomes the bound.
        """
        if not given.labels:
            return np.nan, Reason.CUSTOM_METRIC_UNDEFINED
        try:
            with np.errstate(all="ignore"):
                result = self.function(given)
            if result is None:
                return np.nan, Reason.CUSTOM_METRIC_UNDEFINED
            return self._within_bounds(float(result)), None
        except Exception as error:  # noqa: BLE001 - a user's code: anything may come
            if self.key not in _declared.failed:
                _declared.failed.add(self.key)
                log.warning("metric %s failed: %s: %s", self.key, type(error).__name__, error)
            return np.nan, Reason.CUSTOM_METRIC_FAILED

    def _within_bounds(self, value: float) -> float:
        low, high = float(self.facts["low"]), float(self.facts["high"])
        excess = _ROUNDING * (high - low if isfinite(high - low) else 1.0)
        if not (isfinite(value) and low - excess <= value <= high + excess):
            raise ValueError(f"{value:g} is not a number from {low:g} to {high:g}")
        return min(max(value, low), high)


@dataclass
class _Declared:
    """What was declared in this process; `are_read` is set once the catalogue has been built."""

    metrics: dict[str, CustomMetric] = field(default_factory=dict)
    are_read: bool = False
    failed: set[str] = field(default_factory=set)


_declared = _Declared()


def metric(
    *,
    title: str,
    low: float,
    high: float,
    direction: Literal["higher", "lower", "neither"],
    of: Kind = "matrix",
    version: int = 1,
    formula: str = "",
    source: str = "",
    name: str | None = None,
) -> Callable[[Function], Function]:
    """Declare a function as a metric, as a decorator; the name of the function becomes its key.

    The function takes a `MatrixInput`, a `MultilabelInput` or a `ScoreInput`, whose arrays are
    read-only, and returns a number from `low` to `high`, or None if it is undefined. It must
    depend on its input alone, and is called up to about 2,000 times for an interval.

    * `title`: the name to show.
    * `low`, `high`: the range of values; `float("inf")` for no end.
    * `direction`: which values are better, "higher", "lower" or "neither".
    * `of`: what the function takes, "matrix", "multilabel" or "scores". Default: "matrix".
    * `version`: raise it when the values change; runs are then evaluated again. Default: 1.
    * `formula`, `source`: shown in the glossary. Default formula: the first line of the docstring.
    * `name`: the key. Default: the name of the function.

    Raises `InvalidInput` for a name that is not a key and for an empty range, and `Conflict` for a
    key of the catalogue or of another function, or if metrics were used in this process before:
    the set of metrics stays the same while a process runs.
    """
    _check_range(low, high)
    _check_words(title=title, direction=direction, of=of)
    if version < 1:
        raise InvalidInput(f"the version is {version}.", field="version", hint="Begin with 1.")

    def declare(function: Function) -> Function:
        key = function.__name__ if name is None else name
        if not _KEY.fullmatch(key):
            raise InvalidInput(
                f"{key!r} is not a key of a metric.",
                field="name",
                hint="Keys are lower-case letters, digits and _, such as f2_ill.",
            )
        if _declared.are_read:
            raise Conflict(
                f"metric {key!r} is declared after metrics were used in this process.",
                field="metric",
                hint="Declare it right after `import offdiag`, or in a module that an entry point "
                f"of the group {GROUP} names.",
            )
        known = _declared.metrics.get(key)
        if known is not None and not _is_read_again(known.function, function):
            raise Conflict(
                f"metric {key!r} is declared twice, by {_place(known.function)} and "
                f"{_place(function)}.",
                field="metric",
                hint="Give one of the functions another name.",
            )
        facts = {
            "key": key,
            "title": title,
            "low": low,
            "high": high,
            "direction": Direction(direction),
            "version": version,
            "formula": formula or (inspect.getdoc(function) or title).partition("\n")[0],
            "source": source or _place(function),
            "undefined_when": NO_SAMPLES | FAILED,
        }
        _declared.metrics[key] = CustomMetric(function, of, facts)
        return function

    return declare


def _place(function: Callable[..., object]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _is_read_again(known: Callable[..., object], given: Callable[..., object]) -> bool:
    """Whether both are one function, as of a cell run twice or a module that is also a script."""
    files = [
        realpath(each.__code__.co_filename) if isinstance(each, FunctionType) else each.__module__
        for each in (known, given)
    ]
    is_one_place = known.__module__ == given.__module__ or files[0] == files[1]
    return is_one_place and known.__qualname__ == given.__qualname__


def _check_range(low: float, high: float) -> None:
    if not low < high:
        raise InvalidInput(
            f"low is {low:g} and high is {high:g}.",
            field="low",
            hint="Give the range of the values; float('inf') where it is unbounded.",
        )


def _check_words(*, title: str, direction: str, of: str) -> None:
    if not title.strip():
        raise InvalidInput("a metric needs a title.", field="title", hint="Write a few words.")
    for given, known, name in (
        (direction, tuple(Direction), "direction"),
        (of, ("matrix", "multilabel", "scores"), "of"),
    ):
        if given not in known:
            raise InvalidInput(
                f"{given!r} is given.", field=name, hint=f"Give one of {', '.join(known)}."
            )


def custom_metrics(of: Kind) -> tuple[CustomMetric, ...]:
    """The declared metrics of a kind. After this call, no more can be declared.

    Loads the modules that entry points name. Raises `InvalidInput` for one that cannot be loaded.
    """
    if not _declared.are_read:
        for point in sorted(entry_points(group=GROUP), key=lambda each: each.name):
            _load(point)
        _declared.are_read = True
    return tuple(each for each in _declared.metrics.values() if each.of == of)


def _load(point: EntryPoint) -> None:
    try:
        point.load()
    except Exception as error:
        raise InvalidInput(
            f"{point.value}, named by {point.dist.name if point.dist else point.name}, "
            f"cannot be loaded: {error}",
            field=GROUP,
            hint="Repair the module, or uninstall the distribution.",
        ) from error


def score_specs() -> tuple[MetricSpec, ...]:
    """Catalogue entries of the declared metrics of scores."""
    return tuple(
        MetricSpec(
            scope=Scope.PROBABILISTIC,
            interval=_INTERVAL,
            **{**each.facts, "undefined_when": each.facts["undefined_when"] | _IN_CELLS},
        )
        for each in custom_metrics("scores")
    )


def set_specs() -> tuple[MetricSpec, ...]:
    """Catalogue entries of the declared metrics of sets of labels."""
    return tuple(
        MetricSpec(scope=Scope.MULTILABEL, interval=_INTERVAL, **each.facts)
        for each in custom_metrics("multilabel")
    )


def refuse_taken(specs: Iterable[MetricSpec]) -> None:
    """Raise `Conflict` for a declared key that the catalogue already has."""
    for spec in specs:
        declared = _declared.metrics.get(spec.key)
        if declared is not None and spec.undefined_when.keys().isdisjoint(FAILED):
            raise Conflict(
                f"{spec.key!r}, declared in {declared.facts['source']}, is a metric of the "
                "catalogue.",
                field="metric",
                hint="Give the function another name.",
            )


def custom_versions() -> dict[str, int]:
    """The version of each declared metric by key."""
    return {key: each.facts["version"] for key, each in sorted(_declared.metrics.items())}


def custom_digest() -> str:
    """SHA-256 over the declared metrics and their versions; "" if there are none."""
    versions = custom_versions()
    return hashlib.sha256(repr(versions).encode()).hexdigest() if versions else ""


def custom_suffix() -> str:
    """What is appended to the digest of the rules for declared metrics; "" if there are none."""
    digest = custom_digest()
    return f"+{digest}" if digest else ""
