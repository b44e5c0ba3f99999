"""A metric value as a number: conversion, format, comparison, text."""

from __future__ import annotations

import copy
import math
import operator
import pickle

import numpy as np
import pytest

from offdiag.domain.values import MetricValue, Reason, reason_text
from offdiag.errors import InvalidInput

DEFINED = MetricValue(0.864, ci_low=0.846, ci_high=0.881, ci_method="wilson")
UNDEFINED = MetricValue(None, Reason.NO_ACTUAL_POSITIVES)


def test_a_value_converts_and_formats_as_its_number() -> None:
    assert float(DEFINED) == 0.864
    assert f"{DEFINED:.1%}" == "86.4%"
    assert f"{DEFINED:8.2f}|" == "    0.86|"
    assert np.asarray([DEFINED, UNDEFINED], dtype=float)[0] == 0.864


def test_text_has_the_interval_and_repr_only_what_is_there() -> None:
    assert str(DEFINED) == f"{DEFINED}" == "0.864 (0.846 – 0.881)"
    assert (str(MetricValue(1503.0)), str(MetricValue(1.0))) == ("1,503", "1.000")
    assert repr(MetricValue(0.5)) == "MetricValue(0.5)"
    assert repr(UNDEFINED) == "MetricValue(None, reason='no_actual_positives')"
    assert eval(repr(DEFINED)) == DEFINED


@pytest.mark.parametrize("number", [0.5, 0, np.float32(0.5), np.int64(0)])
def test_a_value_compares_with_numbers(number: float) -> None:
    assert number < DEFINED
    assert number <= DEFINED
    assert not number >= DEFINED
    assert max([MetricValue(0.1), DEFINED, MetricValue(0.3)]) is DEFINED


def test_equality_is_of_the_whole_value_and_with_a_number_of_the_value_alone() -> None:
    assert DEFINED == 0.864
    assert MetricValue(0.864) != DEFINED
    assert len({DEFINED, copy.copy(DEFINED)}) == 1
    assert hash(DEFINED) == hash(0.864)
    assert pickle.loads(pickle.dumps(DEFINED)) == DEFINED
    assert DEFINED != "0.864"


def test_an_undefined_value_is_nan_and_says_why() -> None:
    assert math.isnan(float(UNDEFINED))
    assert str(UNDEFINED) == "undefined (there is no example of this class)"
    assert f"{UNDEFINED:12.3f}|" == "   undefined|"
    assert UNDEFINED != 0.0
    assert MetricValue(None, "no_actual_positives") == UNDEFINED


def test_an_undefined_value_passes_no_threshold_unnoticed() -> None:
    for other in (0.8, DEFINED):
        for compare in (operator.lt, operator.le, operator.gt, operator.ge):
            with pytest.raises(InvalidInput, match="there is no example of this class") as caught:
                compare(UNDEFINED, other)
            assert "is_defined" in str(caught.value.hint)


def test_what_is_no_number_cannot_be_compared() -> None:
    with pytest.raises(TypeError):
        _ = DEFINED < "0.9"


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_told_in_words(reason: Reason) -> None:
    assert "_" not in reason_text(reason.value)
    assert reason_text(reason.value) != reason.value.replace("_", " ")


def test_a_reason_of_a_newer_version_is_shown_by_its_name() -> None:
    assert reason_text("moon_phase_unknown") == "moon phase unknown"


def test_a_reason_in_words_keeps_its_names_as_they_are() -> None:
    assert reason_text("no sample has site 'ward_3'") == "no sample has site 'ward_3'"
