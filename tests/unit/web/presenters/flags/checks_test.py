import pytest

from offdiag_web.pages.flags.checks import pair_text


@pytest.mark.parametrize(
    ("measured", "threshold", "texts"),
    [
        (0.8742, 0.2, ("0.8742", "0.2")),
        (17.0, 0.0, ("17", "0")),
        (12345.0, 30.0, ("12,345", "30")),
        (7.629394e-06, 0.05 / 7, ("7.629e−06", "0.007143")),
        (None, 0.3, ("undefined", "0.3")),
        (-0.25, 0.3, ("−0.25", "0.3")),
        (0.3, 0.3, ("0.3", "0.3")),
    ],
)
def test_numbers_keep_the_digits_that_matter(
    measured: float | None, threshold: float, texts: tuple[str, str]
) -> None:
    assert pair_text(measured, threshold) == texts


@pytest.mark.parametrize("measured", [0.19999, 0.1999999, 0.19999999999])
def test_a_value_just_off_its_threshold_does_not_look_like_it(measured: float) -> None:
    value, threshold = pair_text(measured, 0.2)

    assert value != threshold
    assert float(value) < 0.2
