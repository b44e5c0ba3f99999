"""Thresholds of the rules: one immutable value that is passed to every rule.

The defaults were chosen by simulation: no flag is raised for models that are equally good on
every class, and one is raised when most examples of a class of twenty are missed.
`benchmarks/flag_rates.py` repeats that simulation for changed defaults.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from offdiag.errors import InvalidInput

_GRADES = (
    ("recall_gap", "recall_gap_critical"),
    ("majority_skill_critical", "majority_skill"),
    ("balanced_accuracy_gap", "balanced_accuracy_gap_high"),
    ("regression_drop", "regression_drop_high"),
)
"""Pairs in which the first must not exceed the second."""


@dataclass(frozen=True)
class Thresholds:
    """All thresholds that can be changed. Shares and probabilities lie in [0, 1], as the settings
    that carry them ensure.

    A level called `..._alpha` is the probability of a false alarm in one run: a rule that checks
    every class divides it by the number of classes with samples.
    """

    minority_share: float = 0.5
    """A class is a minority if it has at most this share of the examples of the largest class."""
    zero_recall_alpha: float = 0.05
    zero_recall_chance: float = 0.5
    """Recall of the detector that would have to miss every example by chance."""
    recall_gap: float = 0.20
    """Accuracy on all other examples minus recall of the class."""
    recall_gap_critical: float = 0.40
    recall_gap_proof_alpha: float = 0.05
    """How often a confirmed gap may be smaller than reported."""
    recall_gap_alpha: float = 0.01
    """How often a gap may be reported as possible although recall is as high as elsewhere."""
    recall_gap_cap: float = 0.95
    """The highest recall expected of a class, however good the rest is."""
    majority_alpha: float = 0.05
    majority_skill: float = 0.5
    """Adjusted balanced accuracy from which a run is useful even if the majority wins."""
    majority_skill_critical: float = 0.1
    balanced_accuracy_gap: float = 0.15
    balanced_accuracy_gap_high: float = 0.25
    macro_f1_gap: float = 0.15
    low_skill_accuracy: float = 0.80
    low_skill_mcc: float = 0.30
    low_skill_kappa: float = 0.20
    precision_accuracy: float = 0.80
    precision_predictions: int = 5
    precision_level: float = 0.5
    precision_alpha: float = 0.01
    under_prediction_ratio: float = 0.5
    """Number of predictions of a class per example of it."""
    under_prediction_alpha: float = 0.01
    support_cases: int = 30
    support_half_width: float = 0.15
    support_recall: float = 0.80
    """Recall of the model by which the evidence shows what few examples can prove."""
    cost_alpha: float = 0.05
    """How often a run that costs less than every constant prediction may be flagged."""
    regression_drop: float = 0.02
    regression_drop_high: float = 0.10
    regression_alpha: float = 0.05
    rank_flip_saving: float = 0.05
    """Share of the cost of the most accurate run that a cheaper one must save."""

    def __post_init__(self) -> None:
        for smaller, larger in _GRADES:
            if getattr(self, smaller) > getattr(self, larger):
                raise InvalidInput(
                    f"{getattr(self, smaller)} exceeds {larger} = {getattr(self, larger)}.",
                    field=f"flags.{smaller}",
                    hint="The more severe grade must be at least as strict as the milder one.",
                )

    def used(self, names: Iterable[str]) -> dict[str, float]:
        """The named thresholds, to be stored with a verdict."""
        return {name: getattr(self, name) for name in names}
