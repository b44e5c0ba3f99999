"""Thresholds of the rules: one immutable value that is passed to every rule.

The defaults were chosen by simulation: no flag is raised for models that are equally good on
every class, and one is raised when most examples of a class of twenty are missed.
`benchmarks/flag_rates.py` repeats that simulation for changed defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

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


MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "minority_share": "share of the largest class up to which a class is a minority",
        "zero_recall_alpha": "p of zero recall, divided by the number of classes",
        "zero_recall_chance": "reference recall of the detector in the test",
        "recall_gap": "accuracy on all other examples minus recall, or gap of a slice to the rest",
        "recall_gap_critical": "confirmed gap from which the flag is critical",
        "recall_gap_proof_alpha": "p of a smaller gap, divided by the number of classes",
        "recall_gap_alpha": "p of no gap, divided by the number of classes, for a possible gap",
        "recall_gap_cap": "highest recall required of a class",
        "majority_alpha": "level of the sign test",
        "majority_skill": "adjusted balanced accuracy below which the rule applies",
        "majority_skill_critical": "the same, below which the flag is critical",
        "balanced_accuracy_gap": "accuracy minus balanced accuracy",
        "balanced_accuracy_gap_high": "the gap from which the flag is high",
        "macro_f1_gap": "accuracy minus macro F1",
        "low_skill_accuracy": "accuracy from which the rule applies",
        "low_skill_mcc": "MCC up to which agreement beyond chance is low",
        "low_skill_kappa": "Cohen's kappa up to which agreement beyond chance is low",
        "precision_accuracy": "accuracy from which the rule applies",
        "precision_predictions": "predictions of the class required",
        "precision_level": "precision that is too low",
        "precision_alpha": "significance, divided by the number of classes",
        "under_prediction_ratio": "predictions of the class for each example of it",
        "under_prediction_alpha": "significance, divided by the number of classes",
        "support_cases": "number of examples below which they are too few",
        "support_half_width": "half the width of the interval of recall",
        "support_recall": "recall of the model used as an example in the evidence",
        "regression_drop": "drop of recall on the same examples",
        "regression_drop_high": "the drop from which the flag is high",
        "regression_alpha": "significance, divided by the number of classes",
        "cost_alpha": "p of costing less, divided by the number of constant predictions that may "
        "be the cheapest",
        "rank_flip_saving": "share of its cost that the most accurate run could save",
    }
)
"""What a threshold is compared with, by its name."""
