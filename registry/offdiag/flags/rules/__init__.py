"""The rules by topic, and the reference of each: its thresholds, their meaning, and its metrics.

The rules that need only the confusion matrix are `MATRIX_RULES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offdiag.flags.rule_evaluation import ClassRule, RunRule
from offdiag.flags.rules import accuracy, costs, predictions, recall, reference, slices

MATRIX_RULES: Mapping[str, RunRule | ClassRule] = MappingProxyType(
    {
        rule.id: rule
        for rules in (
            predictions.COLLAPSE_RULES,
            recall.RECALL_RULES,
            accuracy.MAJORITY_RULES,
            accuracy.AVERAGE_RULES,
            predictions.PREDICTION_RULES,
            recall.SUPPORT_RULES,
        )
        for rule in rules
    }
)
"""Rules by id, in the order of the ids."""


THRESHOLDS_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{id_: rule.uses for id_, rule in MATRIX_RULES.items()},
        "F11": costs.CONSTANT_USES,
        "F13": (),
        "F14": reference.USES,
        "F15": costs.RANK_FLIP_USES,
        "F16": slices.USES,
    }
)
"""Names of thresholds by rule id."""

METRICS_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "F1": ("predicted", "overall_accuracy"),
        "F2": ("predicted", "support"),
        "F3": ("recall", "support"),
        "F4": ("recall", "overall_accuracy"),
        "F5": ("majority_baseline", "balanced_accuracy_adjusted"),
        "F6": ("overall_accuracy", "balanced_accuracy"),
        "F7": ("overall_accuracy", "macro_f1"),
        "F8": ("overall_accuracy", "mcc", "cohen_kappa"),
        "F9": ("precision", "overall_accuracy"),
        "F10": ("predicted", "support"),
        "F11": ("total_cost", "best_trivial_cost"),
        "F12": ("support", "recall"),
        "F13": ("support", "predicted"),
        "F14": ("recall",),
        "F15": ("overall_accuracy", "total_cost"),
        "F16": ("recall", "overall_accuracy"),
    }
)
"""Keys of metrics by rule id."""

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
