"""Thresholds: their defaults, their limits, and the settings that carry them."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path

import pytest
from pydantic import ValidationError

from offdiag.errors import InvalidInput
from offdiag.flags.rules import MATRIX_RULES
from offdiag.flags.thresholds import Thresholds
from offdiag.settings import Settings, load_settings

EXAMPLE = Path(__file__).parents[3] / "config" / "flags.example.toml"


def test_settings_and_rules_have_the_same_thresholds_and_defaults() -> None:
    assert Settings().flags.model_dump() == asdict(Thresholds()), (
        "FlagsSettings in settings/model.py repeats the thresholds"
    )


def test_the_example_file_makes_valid_thresholds_that_differ_from_the_defaults(
    tmp_path: Path,
) -> None:
    settings = load_settings({"OFFDIAG_CONFIG": str(EXAMPLE)}, folder=tmp_path)

    thresholds = Thresholds(**settings.flags.model_dump())

    assert thresholds.recall_gap == 0.1
    assert thresholds != Thresholds()


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("recall_gap", 20.0),
        ("recall_gap", -0.1),
        ("recall_gap_alpha", float("nan")),
        ("low_skill_mcc", -1.5),
        ("support_cases", 0),
        ("support_cases", 2.5),
        ("precision_predictions", -1),
    ],
)
def test_a_threshold_out_of_range_is_refused_by_name(name: str, number: float) -> None:
    with pytest.raises(ValidationError, match=rf"flags\.{name}"):
        Settings.model_validate({"flags": {name: number}})


def test_a_negative_correlation_is_a_possible_threshold() -> None:
    flags = Settings.model_validate({"flags": {"low_skill_mcc": -0.2}}).flags

    assert Thresholds(**flags.model_dump()).low_skill_mcc == -0.2


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"recall_gap": 0.5}, "flags.recall_gap"),
        ({"majority_skill_critical": 0.6}, "flags.majority_skill_critical"),
        ({"balanced_accuracy_gap": 0.3}, "flags.balanced_accuracy_gap"),
        ({"regression_drop": 0.2}, "flags.regression_drop"),
    ],
)
def test_a_grave_grade_must_not_be_easier_to_reach_than_the_mild_one(
    changed: dict[str, float], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        Thresholds(**changed)  # type: ignore[arg-type]  # Only the float fields are changed.

    assert caught.value.field == field


def test_every_threshold_a_rule_names_exists() -> None:
    names = {field.name for field in fields(Thresholds)}

    for rule in MATRIX_RULES.values():
        assert set(rule.uses) <= names
