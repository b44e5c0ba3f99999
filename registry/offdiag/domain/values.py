"""Metric values, which may be undefined for a stated reason.

Libraries disagree on 0/0: some return 0, some NaN, some the string "None", some warn. Here an
undefined value is `None` together with the reason, and a positive number over zero also carries
the limit it tends to.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from enum import StrEnum
from numbers import Real
from typing import Any, Self

from offdiag.domain.number_text import interval, number
from offdiag.errors import InvalidInput


def plain_value(value: Any) -> Any:
    """A scalar of numpy, or a tensor of one value, as the Python value it holds.

    Dates and durations of numpy stay as they are: some would become a count of nanoseconds.
    """
    if getattr(value, "shape", None) != () or getattr(value.dtype, "kind", "") in ("M", "m"):
        return value
    return value.item()


ROUNDING = 1e-12
"""Differences of this size come from float64 rounding, not from anything measured."""


class Reason(StrEnum):
    """Why a value is undefined. Stored by name: a name is never reused for another meaning."""

    NO_SAMPLES = "no_cases"
    NO_ACTUAL_POSITIVES = "no_actual_positives"
    NO_ACTUAL_NEGATIVES = "no_actual_negatives"
    NO_PREDICTED_POSITIVES = "no_predicted_positives"
    NO_PREDICTED_NEGATIVES = "no_predicted_negatives"
    CLASS_ABSENT = "class_absent"
    CONSTANT_ACTUAL = "constant_actual"
    CONSTANT_PREDICTED = "constant_predicted"
    CONSTANT_MARGIN = "constant_margin"
    SINGLE_ACTUAL_CLASS = "single_actual_class"
    SINGLE_CLASS_DECLARED = "single_class_declared"
    CHANCE_AGREEMENT_CERTAIN = "chance_agreement_certain"
    ORDER_NOT_DECLARED = "order_not_declared"
    CLASS_VALUE_UNDEFINED = "class_value_undefined"
    COMPONENT_UNDEFINED = "component_undefined"
    ZERO_OVER_ZERO = "zero_over_zero"
    POSITIVE_OVER_ZERO = "positive_over_zero"
    TRUE_CLASS_GOT_ZERO = "true_class_got_zero"
    SCORES_NOT_PROBABILITIES = "scores_not_probabilities"
    NO_SCORES = "no_scores"
    FRACTIONAL_WEIGHTS = "fractional_weights"
    TRIVIAL_COST_NOT_POSITIVE = "trivial_cost_not_positive"
    TRIVIAL_COST_IS_PERFECT = "trivial_cost_is_perfect"
    NO_DISCORDANT_PAIRS = "no_discordant_pairs"
    ZERO_VARIANCE = "zero_variance"
    TOO_FEW_CLASSES = "too_few_classes"
    TOO_FEW_GROUPS = "too_few_groups"
    GROUP_VALUE_UNDEFINED = "group_value_undefined"
    FORECASTS_IN_CELLS = "forecasts_in_cells"
    CUSTOM_METRIC_FAILED = "custom_metric_failed"
    CUSTOM_METRIC_UNDEFINED = "custom_metric_undefined"
    SCORES_NOT_WEIGHTED = "scores_not_weighted"
    DIFFERENCE_NOT_WEIGHTED = "difference_not_weighted"
    DIFFERENCE_OTHER_LABELS = "difference_other_labels"
    GROUPS_NOT_WEIGHTED = "groups_not_weighted"
    TOO_FEW_OF_A_CLASS = "too_few_of_a_class"


_WORDS: Mapping[Reason, str] = {
    Reason.NO_SAMPLES: "there are no examples",
    Reason.NO_ACTUAL_POSITIVES: "there is no example of this class",
    Reason.NO_ACTUAL_NEGATIVES: "all examples are of this class",
    Reason.NO_PREDICTED_POSITIVES: "this class was never predicted",
    Reason.NO_PREDICTED_NEGATIVES: "only this class was predicted",
    Reason.CLASS_ABSENT: "the class occurs neither in the ground truth nor in the predictions",
    Reason.CONSTANT_ACTUAL: "all examples are of one class",
    Reason.CONSTANT_PREDICTED: "one class was predicted for all examples",
    Reason.CONSTANT_MARGIN: "all examples are of one class, or one class was always predicted",
    Reason.SINGLE_ACTUAL_CLASS: "only one class has examples",
    Reason.SINGLE_CLASS_DECLARED: "only one class is declared",
    Reason.CHANCE_AGREEMENT_CERTAIN: "agreement by chance alone is certain",
    Reason.ORDER_NOT_DECLARED: "the classes have no declared order",
    Reason.CLASS_VALUE_UNDEFINED: "it is undefined for at least one class",
    Reason.COMPONENT_UNDEFINED: "one of the values it is computed from is undefined",
    Reason.ZERO_OVER_ZERO: "it is zero divided by zero",
    Reason.POSITIVE_OVER_ZERO: "a positive number is divided by zero; it tends to infinity",
    Reason.TRUE_CLASS_GOT_ZERO: "an actual class was given probability zero; it tends to infinity",
    Reason.SCORES_NOT_PROBABILITIES: "the scores are not probabilities",
    Reason.NO_SCORES: "no scores were logged",
    Reason.FRACTIONAL_WEIGHTS: "the examples have fractional weights",
    Reason.DIFFERENCE_NOT_WEIGHTED: "differences of weighted runs are not judged here",
    Reason.DIFFERENCE_OTHER_LABELS: "the runs were evaluated on different labels",
    Reason.GROUPS_NOT_WEIGHTED: "groups are not compared where examples have weights",
    Reason.SCORES_NOT_WEIGHTED: "not evaluated for the scores of weighted examples",
    Reason.TRIVIAL_COST_NOT_POSITIVE: "the best constant prediction costs nothing",
    Reason.TRIVIAL_COST_IS_PERFECT: "the best constant prediction is already perfect",
    Reason.NO_DISCORDANT_PAIRS: "the runs never disagree",
    Reason.ZERO_VARIANCE: "the variance is zero",
    Reason.TOO_FEW_OF_A_CLASS: "a class or label has too few examples",
    Reason.TOO_FEW_CLASSES: "there are too few classes with examples",
    Reason.TOO_FEW_GROUPS: "there are too few groups with enough examples",
    Reason.GROUP_VALUE_UNDEFINED: "it is undefined for at least one group",
    Reason.FORECASTS_IN_CELLS: "scores were counted in bins, which do not contain the individual "
    "forecasts",
    Reason.CUSTOM_METRIC_FAILED: "its function failed, or gave no number within its bounds",
    Reason.CUSTOM_METRIC_UNDEFINED: "its function says so",
}

_KEY = re.compile(r"[a-z0-9_]+")


def reason_text(reason: str | None) -> str:
    """The clause for a reason, such as "this class was never predicted", without a full stop.

    A key unknown to this version is shown with spaces for underscores; other text is unchanged.
    """
    if reason is None:
        return "the reason is not known"
    try:
        return _WORDS[Reason(reason)]
    except ValueError:
        return reason.replace("_", " ") if _KEY.fullmatch(reason) else reason


POSITIVE_INFINITY = "+inf"

_OFF_BY = "off by at most "
_UPWARDS = Context(prec=3, rounding=ROUND_CEILING)


def off_by(bound: float) -> str:
    """The remark on a value that may differ from the exact one, rounded up to three digits.

    >>> off_by(7.0341e-05)
    'off by at most 7.04e-05'
    """
    return f"{_OFF_BY}{float(_UPWARDS.create_decimal_from_float(bound)):.2e}"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MetricValue:
    """One value of one metric.

    * `value`: a finite number, or None if it is undefined.
    * `reason`: why it is undefined, else None.
    * `limit`: "+inf" if the undefined quotient is a positive number over zero.
    * `ci_low`, `ci_high`: the ends of the interval, None if none was computed.
    * `ci_method`: the method of the interval.

    It works as a number: `float()`, a format such as `:.3f`, and comparisons use `value` alone. If
    that is undefined, `float()` is NaN, the text is "undefined" with the reason, and `<`, `<=`,
    `>`, `>=` raise `InvalidInput`, so that no undefined value passes a threshold unnoticed. `==`
    is then False for every number.
    """

    value: float | None
    reason: str | None = None
    limit: str | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str | None = None

    @classmethod
    def of_dict(cls, parts: Mapping[str, Any]) -> Self:
        """The value from the result of `to_dict`."""
        return cls(
            parts["value"],
            parts["reason"],
            parts["limit"],
            parts.get("ci_low"),
            parts.get("ci_high"),
            parts.get("ci_method"),
        )

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    def __float__(self) -> float:
        return math.nan if self.value is None else self.value

    def __lt__(self, other: object) -> bool:
        return self._compared(other, operator.lt)

    def __le__(self, other: object) -> bool:
        return self._compared(other, operator.le)

    def __gt__(self, other: object) -> bool:
        return self._compared(other, operator.gt)

    def __ge__(self, other: object) -> bool:
        return self._compared(other, operator.ge)

    def _compared(self, other: object, compare: Callable[[float, float], bool]) -> bool:
        if isinstance(other, MetricValue):
            return compare(_defined(self), _defined(other))
        if isinstance(other, Real):
            return compare(_defined(self), float(other))
        refused: bool = NotImplemented
        return refused

    def __eq__(self, other: object) -> bool:
        """Whether value and interval are equal; compared with a number, only the value counts."""
        if isinstance(other, MetricValue):
            return self._parts == other._parts
        if isinstance(other, Real):
            return self.value is not None and self.value == float(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.reason if self.value is None else self.value)

    @property
    def _parts(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        named = zip(self.__slots__[1:], self._parts[1:], strict=True)
        # A reason is a member of `Reason` or its text.
        said = [
            f"{name}={str(part) if isinstance(part, float) else repr(str(part))}"
            for name, part in named
            if part is not None
        ]
        return f"MetricValue({', '.join([repr(self.value), *said])})"

    def __str__(self) -> str:
        """ "0.864 (0.846 – 0.881)", for a count "1,503", if undefined as in `undefined_text`."""
        if self.value is None:
            return self.undefined_text
        if self.ci_low is None or self.ci_high is None:
            is_count = self.value > 1 and self.value.is_integer()
            return f"{self.value:,.0f}" if is_count else number(self.value)
        return f"{number(self.value)} ({interval(self.ci_low, self.ci_high)})"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        text = format(float(self), spec)
        return text if self.value is not None else "undefined".rjust(len(text))

    @property
    def undefined_text(self) -> str:
        """Why there is no value, in words: "undefined (this class was never predicted)"."""
        return f"undefined ({reason_text(self.reason)})"

    @property
    def why_no_interval(self) -> str | None:
        """The note in place of a missing interval, if there is one.

        >>> MetricValue(0.7, ci_method="m; unreliable, class has n = 3").why_no_interval
        'unreliable, class has n = 3'
        """
        if self.ci_low is not None or self.ci_high is not None:
            return None
        return self.remark

    @property
    def remark(self) -> str | None:
        """The note about the interval, or in its place, if there is one.

        >>> MetricValue(0.7, None, None, 0.6, 0.8, "m; unreliable, class has n = 8").remark
        'unreliable, class has n = 8'
        """
        if self.value is None:
            return None
        return (self.ci_method or "").partition("; ")[2] or None

    @property
    def error_bound(self) -> float | None:
        """How far the value may be from the exact one; None if it is exact.

        Values computed from scores that were counted in bins have a bound; the interval includes
        it.

        >>> MetricValue(0.7, ci_method="m; off by at most 7.04e-05").error_bound
        7.04e-05
        """
        for note in (self.ci_method or "").split("; "):
            if note.startswith(_OFF_BY):
                return float(note.removeprefix(_OFF_BY))
        return None

    def to_dict(self) -> dict[str, Any]:
        """JSON form: always value, reason and limit; interval and bound if there are any."""
        core: dict[str, Any] = {"value": self.value, "reason": self.reason, "limit": self.limit}
        if self.ci_method is not None:
            core |= {
                "ci_low": self.ci_low,
                "ci_high": self.ci_high,
                "ci_method": self.ci_method,
            }
        if self.error_bound is not None:
            core["error_bound"] = self.error_bound
        return core


def _defined(value: MetricValue) -> float:
    if value.value is None:
        raise InvalidInput(
            f"the value is {value.undefined_text}, so it is neither above nor below a number.",
            field="value",
            hint="Ask is_defined first; float(value) is NaN.",
        )
    return value.value


def worst_first(values: Sequence[MetricValue], sizes: Sequence[float]) -> list[int]:
    """Codes of classes by value, lowest first; of equal ones, the class with more samples.

    Classes of the same value and size stay in label order; those without a value come last.
    """

    def place(code: int) -> tuple[bool, float, float]:
        value = values[code].value
        return value is None, 0.0 if value is None else value, -sizes[code]

    return sorted(range(len(values)), key=place)


def undefined_note(values: Iterable[MetricValue]) -> str:
    """Why values are undefined, each reason once; "" if all values are defined."""
    reasons = dict.fromkeys(reason_text(each.reason) for each in values if not each.is_defined)
    return f"undefined: {'; '.join(reasons)}" if reasons else ""
