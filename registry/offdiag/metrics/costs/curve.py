"""Cost curves: what a fixed classifier costs as prevalence and costs change.

Drummond and Holte (2006, Machine Learning 65, 95) put both into one number from 0 to 1, the
probability-cost PC(+) = q W10 / (q W10 + (1 - q) W01), q being the prevalence of positives,
W10 the cost of a miss and W01 that of a false alarm. The cost as a part of the largest
possible one is then a straight line from the false-alarm rate to the miss rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix


@dataclass(frozen=True)
class CostLine:
    """Normalised expected cost of one classifier, fnr PC(+) + fpr (1 - PC(+)).

    Both rates are None, with the reason, where the test set lacks one side.
    """

    fpr: float | None
    fnr: float | None
    reason: str | None

    def at(self, pc_positive: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Cost at probability-costs in [0, 1]; None where the rates are undefined."""
        if self.fpr is None or self.fnr is None:
            return None
        return self.fnr * pc_positive + self.fpr * (1.0 - pc_positive)

    def useful_range(self) -> tuple[float, float] | None:
        """Probability-costs between which the classifier beats both constant answers.

        "Always negative" costs PC(+) and "always positive" 1 - PC(+). None where it never
        beats both, which means a recall not above the false-alarm rate.
        """
        if self.fpr is None or self.fnr is None or self.fpr + self.fnr >= 1.0:
            return None
        # The line meets PC(+) at fpr / (1 - fnr + fpr) and 1 - PC(+) at the mirror image.
        low = self.fpr / (1.0 - self.fnr + self.fpr)
        high = (1.0 - self.fpr) / (1.0 - self.fpr + self.fnr)
        return low, high


def cost_line(matrix: ConfusionMatrix, positive: int) -> CostLine:
    """The cost line of one class against the rest.

    `positive` is the code of the class. Raises `InvalidInput` for a code out of range.
    """
    if not 0 <= positive < matrix.n_classes:
        raise InvalidInput(
            f"class code {positive} is out of range.",
            field="positive",
            hint=f"Codes run from 0 to {matrix.n_classes - 1}.",
        )
    positives = int(matrix.actual[positive])
    negatives = matrix.total - positives
    if positives == 0:
        reason = Reason.NO_ACTUAL_POSITIVES if negatives else Reason.NO_CASES
        return CostLine(None, None, reason.value)
    if negatives == 0:
        return CostLine(None, None, Reason.NO_ACTUAL_NEGATIVES.value)
    hits = int(matrix.counts[positive, positive])
    false_alarms = int(matrix.predicted[positive]) - hits
    return CostLine(false_alarms / negatives, (positives - hits) / positives, None)


def probability_cost(prevalence: float, *, miss: float, false_alarm: float) -> float | None:
    """PC(+) of a prevalence in [0, 1] and two costs; None where both terms are 0.

    Raises `InvalidInput` for negative costs or a prevalence outside [0, 1].
    """
    if not 0.0 <= prevalence <= 1.0:
        raise InvalidInput(
            f"{prevalence} is not between 0 and 1.", field="prevalence", hint="Give a share."
        )
    for field, cost in (("miss", miss), ("false_alarm", false_alarm)):
        if not 0.0 <= cost < float("inf"):
            raise InvalidInput(
                f"{cost} is no cost of an error.", field=field, hint="Give a number from 0."
            )
    of_misses, of_alarms = prevalence * miss, (1.0 - prevalence) * false_alarm
    both = of_misses + of_alarms
    return of_misses / both if both > 0 else None
