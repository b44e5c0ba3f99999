"""Checking a run against the conditions of a gate. What cannot be measured has not passed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from offdiag.domain.number_text import count
from offdiag.domain.values import MetricValue, Reason
from offdiag.errors import InvalidInput
from offdiag.filters.conditions import Side
from offdiag.flags.assessment import LABEL_RULES
from offdiag.flags.rule_evaluation import compare
from offdiag.gate.condition_metrics import (
    BASELINE_OF_DATASET,
    COSTS_NEEDED,
    class_code,
    over_groups,
    resolved,
    value_of,
)
from offdiag.gate.conditions import (
    ColumnGroups,
    Condition,
    MetricCondition,
    NoBadge,
    NoFlag,
    NotMeasured,
    RaisedFlag,
    Subject,
)
from offdiag.metrics.counted import CountedSets, class_sizes, effective_size
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.paired.sample_size import about, samples_for_metric
from offdiag.metrics.weighted.counts import WeightedCounts

NO_INTERVAL = "no_interval"
"""No interval is computed for the metric, or none for so few examples."""
TOO_FEW_EXAMPLES = "too_few_examples"
"""A slice, or all groups of a column but one, are too small to be judged."""
OPEN_INTERVAL = "open_interval"
"""The interval has no end on that side."""
NOT_PAIRED = "runs_not_paired"
"""The interval of a difference needs the same examples in both runs."""
FLAG_RAISED = "flag_raised"
_CONFIDENCE = 0.95
"""Confidence of the intervals of differences."""
_SMALLEST_MARGIN = 0.01
"""The margin used for a condition that compares with 0."""

_NOT_COUNTED = " (not proved; '{}' fails on it too)"
"""Added to a flag that is in sight when only proved flags count."""
_NEEDED = {
    "F11": COSTS_NEEDED,
    "F13": "It compares an uploaded matrix with the labels of its dataset: log the run.",
    "F14": f"Name a baseline with the same examples: --baseline RUN. {BASELINE_OF_DATASET}",
    "F15": "Give --baseline RUN on the same labels and a cost matrix.",
    "F16": "Give the samples of a stored run slice columns with offdiag.add_slices.",
}
"""What a run needs for the rules that require more than a matrix."""
_ALSO_OF_SETS = ("F14", "F16")


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition and the result of checking it.

    `measured` is the number that was compared, None if there is none; `reason` then says
    why, and is None for a condition that was measured. `value` is the metric (or difference)
    with its interval. `note` is one sentence, empty if the numbers are enough.
    """

    condition: Condition
    passed: bool
    measured: float | None = None
    reason: str | None = None
    value: MetricValue | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "condition": self.condition.text,
            "passed": self.passed,
            "measured": self.measured,
            "reason": self.reason,
            "value": None if self.value is None else self.value.to_dict(),
            "note": self.note,
        }


def judge(conditions: Sequence[Condition], subject: Subject) -> tuple[Finding, ...]:
    """One finding for each condition, in their order.

    Raises `InvalidInput` if there are no conditions, because such a gate would always
    pass, and for conditions that make no sense for this run (see `resolved`).
    """
    if not conditions:
        raise InvalidInput(
            "no condition is given.",
            field="condition",
            hint="Give at least one, such as --min 'balanced_accuracy>=0.8'.",
        )
    return tuple(_judge(condition, subject) for condition in conditions)


def _judge(condition: Condition, subject: Subject) -> Finding:
    if isinstance(condition, MetricCondition):
        return _judge_metric(condition, subject)
    if subject.not_assessable is not None and _is_about_matrix(condition):
        return Finding(condition, passed=False, reason=subject.not_assessable)
    if isinstance(condition, NoBadge):
        return _judge_badge(condition, subject)
    if (unchecked := subject.unchecked.get(condition.rule)) is not None:
        # A rule that was not applied raises no flag, which is not a pass.
        return Finding(condition, passed=False, reason=unchecked.reason, note=unchecked.note)
    return _judge_flag(condition, subject)


def _judge_badge(condition: NoBadge, subject: Subject) -> Finding:
    note = ""
    if subject.hides_minority:
        note = "accuracy hides a minority class"
    elif subject.may_hide_minority:
        note = "accuracy may hide a minority class"
        note += "" if condition.even_possible else _NOT_COUNTED.format("no-possible-warning")
    is_raised = subject.hides_minority or (condition.even_possible and subject.may_hide_minority)
    return _flagged(condition, is_raised=is_raised, note=note)


def _is_about_matrix(condition: NoFlag | NoBadge) -> bool:
    """Whether the rule needs a matrix of several classes; F13 is about margins and does not."""
    return isinstance(condition, NoBadge) or condition.rule != "F13"


def _judge_flag(condition: NoFlag, subject: Subject) -> Finding:
    if condition.class_label is not None:
        class_code(condition.class_label, subject)
    if condition.rule not in subject.asked:
        raise InvalidInput(
            f"rule {condition.rule} is not applicable to this run.",
            field="condition",
            hint=_needed(condition.rule, subject),
        )
    meant = [flag for flag in subject.flags if _is_meant(flag, condition)]
    raised = [flag for flag in meant if flag.is_proved or condition.even_possible]
    if raised:
        return _flagged(condition, is_raised=True, note=" ".join(f.message for f in raised))
    accepted = [flag for flag in subject.accepted if _is_meant(flag, condition)]
    note = "dismissed" if accepted else ""
    if meant:
        in_sight = " ".join(flag.message for flag in meant)
        note = in_sight + _NOT_COUNTED.format(f"no-possible-flag {condition.rule}")
    return _flagged(condition, is_raised=False, note=note)


def _needed(rule: str, subject: Subject) -> str | None:
    """What a run needs for a rule that is not applicable, or which rules apply to it instead."""
    if isinstance(subject.counted, CountedSets) and rule not in _ALSO_OF_SETS:
        rules = ", ".join(LABEL_RULES)
        return f"Of sets of labels {rules} are asked, with a baseline F14, with slice columns F16."
    return _NEEDED.get(rule)


def _flagged(condition: NoFlag | NoBadge, *, is_raised: bool, note: str) -> Finding:
    reason = FLAG_RAISED if is_raised else None
    return Finding(condition, passed=not is_raised, reason=reason, note=note)


def _is_meant(flag: RaisedFlag, condition: NoFlag) -> bool:
    about_class = condition.class_label is None or flag.class_label == condition.class_label
    return flag.rule == condition.rule and about_class


def _judge_metric(asked: MetricCondition, subject: Subject) -> Finding:
    if asked.part is not None:
        part = subject.parts.get(str(asked.part))
        if part is None:
            raise _no_slices(asked)
        if isinstance(part, NotMeasured):
            return Finding(asked, passed=False, reason=part.reason, note=part.note)
        subject = part
    condition = resolved(asked, subject)
    if condition.by is not None:
        groups = subject.groups.get(condition.by)
        if groups is None:
            raise _no_slices(asked)
        if isinstance(groups, NotMeasured):
            return Finding(condition, passed=False, reason=groups.reason, note=groups.note)
        return _judge_groups(condition, subject, groups)
    if asked.part is not None and (few := _too_few(condition, subject)):
        return Finding(condition, passed=False, reason=TOO_FEW_EXAMPLES, note=few)
    value = value_of(condition, subject)
    measured, reason = _number(condition, value, subject)
    note = _why_no_interval(condition, value, subject)
    if measured is None:
        return Finding(condition, passed=False, reason=reason, value=value, note=note)
    comparison = compare(condition.text, measured, condition.sign, condition.threshold)
    passed = bool(comparison.holds)
    note = note or ("" if passed else _what_would_decide(condition, value, subject))
    return Finding(condition, passed=passed, measured=measured, value=value, note=note)


def _why_no_interval(condition: MetricCondition, value: MetricValue, subject: Subject) -> str:
    """The note for a value without an interval, above all that a difference was not tested."""
    if value.value is None or value.ci_low is not None or value.ci_high is not None:
        return ""
    why = value.why_no_interval
    if not condition.of_difference:
        return why or ""
    not_paired = subject.differences and subject.differences.not_paired
    return f"not tested: {not_paired or why or 'gates compute no interval of this difference'}"


def _no_slices(condition: MetricCondition) -> InvalidInput:
    return InvalidInput(
        f"{condition.text!r} is about slices, which are not known of a matrix.",
        field="condition",
        hint="Log the run with slices=, or give a file of predictions with such columns.",
    )


def _too_few(condition: MetricCondition, subject: Subject) -> str:
    """Why a slice is too small to be judged; empty if it is large enough."""
    label, counted = condition.class_label, subject.counted
    if counted is None:
        return ""
    if label is None:
        n, of_class = effective_size(counted), ""
    else:
        n, of_class = class_sizes(counted)[class_code(label, subject)], f" of {label!r}"
    if n >= subject.min_size:
        return ""
    if isinstance(counted, WeightedCounts):
        has = f"{condition.part} has an effective sample size of {n}{of_class}"
        return f"{has}, less than {subject.min_size}"
    has = f"{condition.part} has {count(n, 'labelled example')}{of_class}"
    return f"{has}, fewer than {subject.min_size}"


def _judge_groups(condition: MetricCondition, subject: Subject, column: ColumnGroups) -> Finding:
    label = condition.class_label
    code = None if label is None else class_code(label, subject)
    value, note = over_groups(condition, column, code, min_size=subject.min_size)
    measured, reason = _number(condition, value, subject)
    if measured is None:
        reason = TOO_FEW_EXAMPLES if reason == Reason.TOO_FEW_GROUPS else reason
        return Finding(condition, passed=False, reason=reason, value=value, note=note)
    comparison = compare(condition.text, measured, condition.sign, condition.threshold)
    return Finding(
        condition, passed=bool(comparison.holds), measured=measured, value=value, note=note
    )


def _what_would_decide(condition: MetricCondition, value: MetricValue, subject: Subject) -> str:
    """How many examples are needed if the end of a difference fails although its value holds.

    The margin of the condition is the difference that matters.
    """
    low, high = value.ci_low, value.ci_high
    n_samples = subject.values.aggregate["n"].value if "n" in subject.values.aggregate else None
    if not condition.of_difference or condition.side is Side.VALUE or not n_samples:
        return ""
    if value.value is None or low is None or high is None or low == high:
        return ""
    if not compare(condition.text, value.value, condition.sign, condition.threshold).holds:
        return ""
    margin = abs(condition.threshold) or _SMALLEST_MARGIN
    error = (high - low) / (2 * normal_quantile(_CONFIDENCE))
    needed = samples_for_metric(int(n_samples), error, difference=margin, confidence=_CONFIDENCE)
    detected = f"{margin * sqrt(needed / n_samples):.2g}"
    present = f"the present {int(n_samples):,} detect one of {detected}"
    if needed <= n_samples:
        return f"undecided: {present}, but the value is too close to the limit"
    in_all = about(needed, more_than=int(n_samples))
    where = "" if condition.part is None else f" of {condition.part}"
    examples = f"{in_all:,} labelled examples{where} in all"
    text = f"undecided: a difference of {margin:g} needs about {examples}"
    return text if detected == f"{margin:.2g}" else f"{text}; {present}"


def _number(
    condition: MetricCondition, value: MetricValue, subject: Subject
) -> tuple[float | None, str | None]:
    """The number to compare, or None and the reason why there is none."""
    if condition.side is Side.VALUE:
        return value.value, value.reason
    end = value.ci_low if condition.side is Side.LOW else value.ci_high
    if end is not None:
        return end, None
    if value.value is None:
        return None, value.reason
    if condition.of_difference and subject.differences and subject.differences.not_paired:
        return None, NOT_PAIRED
    has_other_end = value.ci_low is not None or value.ci_high is not None
    return None, OPEN_INTERVAL if has_other_end else NO_INTERVAL
