"""What the checks of a cost matrix say, in words."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.matrix import CostOddity, CostWarning
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import quoted_name

PASSED = "Square, all costs are finite numbers, and the classes are those of the dataset."
_WORDS = {
    CostOddity.ANSWER_DOES_NOT_MATTER: (
        "every answer costs the same, right or wrong, so these cases decide nothing"
    ),
    CostOddity.RIGHT_ANSWER_IS_PRICED: (
        "a right answer is priced; costs then no longer start at 0, which is fine if it is meant"
    ),
    CostOddity.ERROR_IS_CHEAPER: "some wrong answer costs less than the right one",
}


def warning_texts(warnings: Sequence[CostWarning], labels: LabelSet) -> tuple[str, ...]:
    """One sentence for each oddity, with the classes concerned."""
    return tuple(
        f"Actual {numbers.listed([quoted_name(labels.names[code]) for code in warning.classes])}: "
        f"{_WORDS[warning.oddity]}."
        for warning in warnings
    )
