"""Whether a run finds each class more often than examples of others are taken for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE


@dataclass(frozen=True, slots=True)
class NotDetected:
    """Codes of the classes that are not clearly found: `by_chance` are those with enough samples
    to tell, `too_few` those without.
    """

    by_chance: tuple[int, ...]
    too_few: tuple[int, ...]


def not_detected(
    supports: Sequence[int],
    recalls: Sequence[MetricValue],
    false_positive_rates: Sequence[MetricValue],
) -> NotDetected:
    """The classes whose recall has an interval that is not wholly above that of their false
    positive rate; all three are per class, in the same order.
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
    # Where no example is of another class, nothing can be taken for it.
    return recall.ci_low > (false_positive_rate.ci_high or 0.0)
