"""What each rule looks at is told of every rule, and of every threshold."""

from __future__ import annotations

from dataclasses import asdict

from offdiag.flags.catalogue import RULES
from offdiag.flags.rules import THRESHOLDS_OF
from offdiag.flags.thresholds import MEANINGS, Thresholds
from offdiag.metrics.catalogue import SPECS


def test_every_rule_names_its_thresholds_and_metrics() -> None:
    assert THRESHOLDS_OF.keys() == RULES.keys()
    assert all(rule.metrics for rule in RULES.values())


def test_every_threshold_has_a_meaning_and_decides_something() -> None:
    known = asdict(Thresholds()).keys()

    assert MEANINGS.keys() == known
    assert {name for names in THRESHOLDS_OF.values() for name in names} == known


def test_the_metrics_are_in_the_catalogue() -> None:
    keys = {spec.key for spec in SPECS}

    assert {key for rule in RULES.values() for key in rule.metrics} <= keys
