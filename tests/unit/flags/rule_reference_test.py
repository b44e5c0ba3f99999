"""What each rule looks at is told of every rule, and of every threshold."""

from __future__ import annotations

from dataclasses import asdict

from offdiag.flags.catalogue import RULES
from offdiag.flags.rules import MEANINGS, METRICS_OF, THRESHOLDS_OF
from offdiag.flags.thresholds import Thresholds
from offdiag.metrics.catalogue import SPECS


def test_every_rule_names_its_thresholds_and_metrics() -> None:
    assert THRESHOLDS_OF.keys() == RULES.keys()
    assert METRICS_OF.keys() == RULES.keys()


def test_every_threshold_has_a_meaning_and_decides_something() -> None:
    known = asdict(Thresholds()).keys()

    assert MEANINGS.keys() == known
    assert {name for names in THRESHOLDS_OF.values() for name in names} == known


def test_the_metrics_are_in_the_catalogue() -> None:
    keys = {spec.key for spec in SPECS}

    assert {key for names in METRICS_OF.values() for key in names} <= keys
