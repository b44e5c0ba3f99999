from support.ramps import STYLESHEET, ramp_stylesheet


def test_the_stylesheet_is_the_one_the_palette_makes() -> None:
    assert STYLESHEET.read_text(encoding="utf-8") == ramp_stylesheet()
