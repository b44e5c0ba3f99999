"""The rules by topic; those that need only the confusion matrix are `MATRIX_RULES`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offdiag.flags.rule_evaluation import ClassRule, RunRule
from offdiag.flags.rules import accuracy, collapse, predictions, recall

MATRIX_RULES: Mapping[str, RunRule | ClassRule] = MappingProxyType(
    {
        rule.id: rule
        for rules in (
            collapse.RULES,
            recall.RECALL_RULES,
            accuracy.MAJORITY_RULES,
            accuracy.AVERAGE_RULES,
            predictions.RULES,
            recall.SUPPORT_RULES,
        )
        for rule in rules
    }
)
"""By rule id, in the order of the ids."""
