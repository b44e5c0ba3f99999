from itertools import pairwise

import pytest

from offdiag.palette import (
    BINS,
    RAMPS,
    SMALLEST_ERROR_END,
    Ramp,
    Theme,
    contrast,
    correct_step,
    error_step,
    relative_luminance,
    text_on,
)

THEMES: tuple[Theme, ...] = ("light", "dark")
RAMP_NAMES: tuple[Ramp, ...] = ("correct", "error")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ramp", RAMP_NAMES)
def test_text_is_readable_on_every_step(theme: Theme, ramp: Ramp) -> None:
    assert all(contrast(text_on(colour), colour) >= 4.5 for colour in RAMPS[theme][ramp])


@pytest.mark.parametrize("ramp", RAMP_NAMES)
def test_more_is_darker_in_light_and_lighter_in_dark(ramp: Ramp) -> None:
    light = [relative_luminance(colour) for colour in RAMPS["light"][ramp]]
    dark = [relative_luminance(colour) for colour in RAMPS["dark"][ramp]]

    assert all(paler > fuller for paler, fuller in pairwise(light))
    assert all(paler < fuller for paler, fuller in pairwise(dark))


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ramp", RAMP_NAMES)
def test_each_ramp_has_all_bins(theme: Theme, ramp: Ramp) -> None:
    assert len(set(RAMPS[theme][ramp])) == BINS


def test_contrast_of_black_and_white_is_the_largest_there_is() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#777777") == 1.0


def test_a_cell_that_holds_examples_never_looks_empty() -> None:
    assert correct_step(1e-9, 1.0) == error_step(1e-9, SMALLEST_ERROR_END) == 1
    assert correct_step(1.0, 1.0) == error_step(0.5, 0.5) == BINS - 1


def test_errors_grow_with_the_square_root() -> None:
    assert error_step(0.1, 0.4) == 5
    assert correct_step(0.1, 0.4) == 2
