"""The first warning about the classes of a run: those accuracy hides or the run misses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from offdiag.domain.number_text import interval
from offdiag.domain.texts import shortened
from offdiag.domain.values import MetricValue
from offdiag.flags.assessment import ClassRecall, class_recalls
from offdiag.metrics.counted import Counted
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE
from offdiag.metrics.weighted.counts import WeightedCounts

_RARELY_FOUND = 0.5
_NARROW = "\N{NARROW NO-BREAK SPACE}"


@dataclass(frozen=True, slots=True)
class RaisedFlag:
    """A flag that counts for the warning: its rule, its class, and whether it is proved."""

    rule: str
    class_label: str | None
    is_proved: bool


@dataclass(frozen=True, slots=True)
class MinorityWarning:
    """What accuracy hides (`is_proved`) or may hide, based on the flag that says so.

    `strong` is the main clause without its full stop, `interval` the interval of the recall;
    `recall` is None if one class is predicted for every example. `short` is for one line
    among other facts.
    """

    flag: RaisedFlag
    strong: str
    short: str
    recall: ClassRecall | None

    @property
    def is_proved(self) -> bool:
        return self.flag.is_proved

    @property
    def interval(self) -> str:
        """ "(95 % CI 0.01 – 0.27)", "" without a recall."""
        if self.recall is None:
            return ""
        ends = interval(self.recall.low, self.recall.high, decimals=2)
        return f"(95{_NARROW}% CI {ends})"

    @property
    def sentence(self) -> str:
        """ "df is missed: 1 of 17 found (95 % CI 0.01 – 0.27)."."""
        return f"{self.strong}{f' {self.interval}' if self.recall else ''}."


def minority_warning(counted: Counted, flags: Iterable[RaisedFlag]) -> MinorityWarning | None:
    """The warning from the flags that count; of several, for the class with the lowest recall."""
    given = list(flags)
    counting = [flag for flag in given if flag.is_proved] or given
    collapsed = next((flag for flag in counting if flag.class_label is None), None)
    if collapsed is not None:
        of = counted.weights if isinstance(counted, WeightedCounts) else counted
        name = named(of.labels.names[int(of.predicted.argmax())])
        return MinorityWarning(
            collapsed, f"{name} is predicted for every example", f"only {name} predicted", None
        )
    recalls = {each.name: each for each in class_recalls(counted)}
    pairs = [
        (flag, recalls[flag.class_label])
        for flag in sorted(counting, key=lambda each: each.rule)
        if flag.class_label in recalls
    ]
    if not pairs:
        return None
    flag, recall = min(pairs, key=lambda pair: (pair[1].recall, -pair[1].cases))
    name = named(recall.name)
    rarely = recall.recall < _RARELY_FOUND
    verb = "may be" if not flag.is_proved else "is" if rarely else "is often"
    brief = "may be missed" if not flag.is_proved else "missed" if rarely else "often missed"
    brief_found = recall.n_found if recall.is_weighted else recall.n_found.removesuffix(" found")
    return MinorityWarning(
        flag, f"{name} {verb} missed: {recall.n_found}", f"{name} {brief} ({brief_found})", recall
    )


def named(name: str, *, longest: int = 24) -> str:
    """The name of a class for use among words and numbers, quoted if it could be misread."""
    is_plain = name[:1].isalpha() and name.replace("-", "").replace("_", "").isalnum()
    shown = shortened(name, longest=longest)
    return shown if is_plain else f"“{shown}”"


@dataclass(frozen=True, slots=True)
class NotDetected:
    """Codes of the classes that are not clearly found: `by_chance` are those with enough samples
    to decide, `too_few` those without.
    """

    by_chance: tuple[int, ...]
    too_few: tuple[int, ...]


def not_detected(
    supports: Sequence[int],
    recalls: Sequence[MetricValue],
    false_positive_rates: Sequence[MetricValue],
) -> NotDetected:
    """The classes whose recall interval is not entirely above the interval of their false positive
    rate; all three arguments are per class, in the same order.
    """
    rates = zip(recalls, false_positive_rates, strict=True)
    unclear = [code for code, each in enumerate(rates) if not _is_above(*each)]
    return NotDetected(
        tuple(code for code in unclear if supports[code] >= RELIABLE_CLASS_SIZE),
        tuple(code for code in unclear if supports[code] < RELIABLE_CLASS_SIZE),
    )


def _is_above(recall: MetricValue, false_positive_rate: MetricValue) -> bool:
    if recall.value is None or recall.ci_low is None:
        return False
    # If no example belongs to another class, none can be mistaken for this one.
    return recall.ci_low > (false_positive_rate.ci_high or 0.0)
