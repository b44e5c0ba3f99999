"""Every rule is described, and nothing else is."""

from __future__ import annotations

import pytest

from offdiag.flags.catalogue import RULES
from offdiag.flags.rule_evaluation import ClassRule
from offdiag.flags.rules import MATRIX_RULES


def test_the_rules_are_numbered_without_gaps() -> None:
    assert list(RULES) == [f"F{number}" for number in range(1, len(RULES) + 1)]
    assert len(RULES) == 16, "a rule was added or removed: write their number here"
    assert all(rule.id == id_ for id_, rule in RULES.items())


def test_every_rule_on_the_matrix_is_described_with_its_kind() -> None:
    on_matrix = {f"F{number}" for number in range(1, 13)} - {"F11"}

    assert set(MATRIX_RULES) == on_matrix, "a rule on the matrix was added: name it in this test"
    for id_, rule in MATRIX_RULES.items():
        assert RULES[id_].per_class is isinstance(rule, ClassRule)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_description_is_complete(rule: object) -> None:
    description = RULES[getattr(rule, "id", "")]

    assert description.title
    assert description.help.endswith(".")
    assert description.version >= 1
    assert description.lowest_severity.rank <= description.highest_severity.rank
