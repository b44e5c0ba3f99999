"""The rules by topic, and the thresholds of each.

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
