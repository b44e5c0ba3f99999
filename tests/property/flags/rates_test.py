"""How often the rules fire on simulated test sets: the benchmark, with fewer draws."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from math import sqrt
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from offdiag.flags.thresholds import Thresholds

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "flag_rates.py"
N_DRAWS = 400
SEED = 7


def loaded() -> ModuleType:
    spec = spec_from_file_location("flag_rates", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Dataclasses look their module up by name while it is being executed.
    sys.modules["flag_rates"] = module
    spec.loader.exec_module(module)
    return module


flag_rates = loaded()
GROUPS = list(flag_rates.GROUPS)
BALANCED = [name for name in GROUPS if name.startswith(("A ", "A'", "A2"))]
WITHOUT_SKILL = [name for name in GROUPS if name.startswith("B")]


def rates_of(name: str, thresholds: Thresholds | None = None) -> dict[str, float]:
    found: dict[str, float] = flag_rates.group_rates(
        name, n_draws=N_DRAWS, seed=SEED, thresholds=thresholds
    )
    return found


def test_there_are_as_many_settings_as_the_thresholds_were_chosen_by() -> None:
    assert sum(len(settings) for settings in flag_rates.GROUPS.values()) == 85


@pytest.mark.parametrize("name", BALANCED)
def test_models_that_are_good_on_every_class_never_get_the_badge(name: str) -> None:
    assert rates_of(name)["hides"] == 0.0


@pytest.mark.parametrize("name", WITHOUT_SKILL)
def test_models_that_follow_the_majority_always_get_a_badge(name: str) -> None:
    found = rates_of(name)

    assert found["hides"] + found["may"] == pytest.approx(100.0)


def test_one_failing_class_of_five_percent_is_seen_in_six_of_seven_test_sets() -> None:
    found = rates_of("C one 5 % class of four, recall 0.4")

    assert found["hides"] + found["may"] == pytest.approx(85.8, abs=1.5)
    # The gaps between averages, which a dashboard of averages would rely on, see nothing.
    assert found["F6"] < 12
    assert found["F7"] < 6


@pytest.mark.parametrize("name", flag_rates.OPERATING)
def test_the_badges_come_as_often_as_the_states_were_chosen_for(name: str) -> None:
    rng = np.random.default_rng(SEED)
    for setting, red, amber in flag_rates.OPERATING[name]:
        found = flag_rates.rates(setting, n_draws=N_DRAWS, rng=rng)

        for badge, percent in (("hides", red), ("may", amber)):
            # Both figures are of draws; one of 0 or 100 % of a thousand has its own doubt.
            share = min(max(percent / 100, 0.003), 0.997)
            noise = 400 * sqrt(share * (1 - share) * (1 / N_DRAWS + 1 / 1_000))
            assert found[badge] == pytest.approx(percent, abs=noise), (badge, setting)


@pytest.mark.parametrize("name", GROUPS)
def test_every_rule_fires_as_often_as_recorded(name: str) -> None:
    found, expected = rates_of(name), flag_rates.EXPECTED[name]
    n_settings = len(flag_rates.GROUPS[name])

    # Cost verdicts were only recorded for the settings that are about costs.
    compared = expected if name.startswith("D") else set(found) - {"F11"}
    for rule in compared:
        share = expected.get(rule, 0.0) / 100
        # Four standard errors of the average, and the rounding of the recorded figure.
        noise = 400 * sqrt(share * (1 - share) / (N_DRAWS * n_settings))
        assert found[rule] == pytest.approx(100 * share, abs=noise + 0.8), rule


@pytest.mark.parametrize("n", [60, 200, 1_000])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.98])
def test_a_class_is_called_worse_than_few_others_no_more_often_than_its_level(
    share: float, n: int
) -> None:
    """The others are a tenth of the samples, or less: what they reach is as uncertain."""
    n_draws, rng = 1_000, np.random.default_rng(SEED)
    shares = (share, 1 - share)
    equal = flag_rates.rates(flag_rates.Shares(shares, (0.8, 0.8), n), n_draws=n_draws, rng=rng)
    at_threshold = flag_rates.rates(
        flag_rates.Shares(shares, (0.7, 0.9), n), n_draws=n_draws, rng=rng
    )

    assert equal["F4"] + equal["F4'"] <= 1 + 400 * sqrt(0.01 / n_draws)
    assert at_threshold["F4"] <= 5 + 400 * sqrt(0.05 / n_draws)


def alarms_for(ratio: float, *, recall: float) -> float:
    """The rate of false alarms at which a run costs so much of always predicting class 0.

    Class 1 has a share of 5 %, and a miss costs ten times as much as a false alarm.
    """
    return 0.05 * 10 * (ratio - 1 + recall) / 0.95


@pytest.mark.parametrize("n", [30, 300, 3_000])
@pytest.mark.parametrize(("ratio", "recall"), [(0.5, 0.6), (0.99, 0.3), (0.99, 0.9)])
def test_a_run_that_costs_less_is_rarely_said_to_cost_no_less(
    ratio: float, recall: float, n: int
) -> None:
    n_draws, rng = 1_000, np.random.default_rng(SEED)
    recalls = (1 - alarms_for(ratio, recall=recall), recall)
    found = flag_rates.rates(flag_rates.Shares((0.95, 0.05), recalls, n), n_draws=n_draws, rng=rng)

    assert found["F11"] <= 5 + 400 * sqrt(0.05 * 0.95 / n_draws)


def test_a_run_that_costs_half_as_much_again_is_said_to_cost_no_less() -> None:
    rng = np.random.default_rng(SEED)
    recalls = (1 - alarms_for(1.5, recall=0.1), 0.1)
    found = flag_rates.rates(
        flag_rates.Shares((0.95, 0.05), recalls, 300), n_draws=N_DRAWS, rng=rng
    )

    assert found["F11"] >= 85


def test_milder_thresholds_find_more_and_cry_wolf_more() -> None:
    strict, mild = Thresholds(), Thresholds(recall_gap=0.10, recall_gap_critical=0.25)
    good, failing = "A' balanced, recall .80 to .97", "C one 5 % class of four, recall 0.6"

    assert rates_of(good, mild)["F4"] > 5 * rates_of(good, strict)["F4"]
    assert rates_of(failing, mild)["F4"] >= rates_of(failing, strict)["F4"]
