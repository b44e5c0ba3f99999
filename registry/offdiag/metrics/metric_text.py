"""Titles of metrics, and their values and differences as texts for sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from offdiag.domain import number_text
from offdiag.domain.number_text import MINUS, between, number, signed
from offdiag.domain.sentences import inside, name
from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope

COST_METRIC = "mean_cost"
"""The metric that a report adds if it has a cost matrix."""
PER_CASES = 1_000
"""Number of samples for which a mean cost is shown: a cost per sample has many zeros."""
SCOPES_OF_RUNS = (Scope.AGGREGATE, Scope.PROBABILISTIC, Scope.MULTILABEL, Scope.COST)
_SCOPES_OF_CLASSES = (Scope.PER_CLASS, Scope.MULTILABEL, Scope.PROBABILISTIC)
_TITLES = {COST_METRIC: f"Cost per {PER_CASES:,} examples"}
_MORE_DECIMALS = range(4, 10)


def spec_of(key: str, *, of_class: bool) -> MetricSpec:
    """The definition of a metric of one class, or of a run. Raises `KeyError`."""
    spec = find_spec(key, (Scope.PER_CLASS,) if of_class else SCOPES_OF_RUNS)
    if spec is None:
        raise KeyError(key)
    return spec


def range_of_metric(key: str, class_label: str | None) -> tuple[float, float]:
    """The least and the largest value of a metric of a class or of a run, endless if unknown."""
    spec = find_spec(key, SCOPES_OF_RUNS if class_label is None else _SCOPES_OF_CLASSES)
    return (-inf, inf) if spec is None else (spec.low, spec.high)


def in_range_hint(given: float, low: float, high: float) -> str:
    """How to write a number that is outside a range, above all 80 for 80 %."""
    share = given / 100
    is_percentage = low <= share <= high
    return f"Write {given:g} % as {share:g}." if is_percentage else "Give a number in this range."


def find_spec(key: str, scopes: Sequence[Scope]) -> MetricSpec | None:
    """The definition in the first of these scopes that has the key."""
    return next((CATALOGUE[scope][key] for scope in scopes if key in CATALOGUE[scope]), None)


def title(metric: str, class_label: str | None = None) -> str:
    """ "Balanced accuracy", "Recall of mel"."""
    found = _TITLES.get(metric) or spec_of(metric, of_class=class_label is not None).title
    return found if class_label is None else f"{found} of {name(class_label)}"


def title_inside(metric: str, class_label: str | None = None) -> str:
    """A title for use within a sentence."""
    return inside(title(metric, class_label))


def printed(metric: str, value: MetricValue) -> MetricValue:
    """A value in the unit in which it is shown: mean costs are per 1,000 samples."""
    if metric != COST_METRIC or value.value is None:
        return value
    low, high = (None if end is None else end * PER_CASES for end in (value.ci_low, value.ci_high))
    return replace(value, value=value.value * PER_CASES, ci_low=low, ci_high=high)


def value_text(metric: str, value: MetricValue) -> str:
    """The value of a metric as text, with its interval: "704.3 (650.1 – 760.2)"."""
    return with_interval(printed(metric, value))


def interval(value: MetricValue) -> str | None:
    """ "0.846 – 0.881", None where there is no interval."""
    if value.ci_low is None or value.ci_high is None:
        return None
    return number_text.interval(value.ci_low, value.ci_high)


def shown(value: MetricValue) -> str:
    """A value without its interval, or the reason why there is none."""
    return value.undefined_text if value.value is None else number(value.value)


def outside(after: MetricValue, before: MetricValue) -> str:
    """ "0.740, outside 0.750 – 0.850", with more decimals where rounding would hide the gap."""
    value, low, high = after.value, before.ci_low, before.ci_high
    plain = f"{shown(after)}, outside {interval(before)}"
    if value is None or low is None or high is None or len({*map(number, (value, low, high))}) > 2:
        return plain
    for decimals in _MORE_DECIMALS:
        texts = [f"{each:,.{decimals}f}".replace("-", MINUS) for each in (value, low, high)]
        if len({*texts}) > 2:
            return f"{texts[0]}, outside {between(low).join(texts[1:])}"
    return plain


def with_interval(value: MetricValue) -> str:
    """ "0.864 (0.846 – 0.881)"."""
    bounds = interval(value)
    return shown(value) if bounds is None else f"{shown(value)} ({bounds})"


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign: "−4.1 pp"."""
    return f"{points_alone(share)} pp"


def points_alone(share: float) -> str:
    """The same without the unit: "+3.2", "−0.4", "0", "+0.03"."""
    return signed(100 * share, 1)


def difference(value: float, spec: MetricSpec) -> str:
    """A difference of two values of a metric: points for shares, else the plain number."""
    if spec.key == COST_METRIC:
        return signed(PER_CASES * value, 1)
    return points(value) if is_share(spec) else signed(value, 3)


def is_share(spec: MetricSpec) -> bool:
    """Whether differences of the metric are usually given in percentage points."""
    return spec.low == 0 and spec.high == 1
