"""The rules that need only the confusion matrix, by topic."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offdiag.flags.judgement import ClassRule, RunRule
from offdiag.flags.rules import averages, collapse, majority, predictions, recall, support

MATRIX_RULES: Mapping[str, RunRule | ClassRule] = MappingProxyType(
    {
        rule.id: rule
        for topic in (collapse, recall, majority, averages, predictions, support)
        for rule in topic.RULES
    }
)
"""By rule id, in the order of the ids."""
