import pytest

from offdiag_web.charts.marks import share_bar
from support.drawings import parsed


def test_the_filled_part_has_the_share_of_the_rail() -> None:
    bar = parsed(share_bar(0.25, name="25 %", width=80))

    assert bar.one("fill").get("width") == "20"
    assert bar.one("rail-fill").get("width") == "80"


def test_next_to_nothing_can_be_told_from_nothing() -> None:
    assert parsed(share_bar(1e-9, name="<1 %")).one("fill").get("width") == "1"
    assert parsed(share_bar(0.0, name="0 %")).one("fill").get("width") == "0"


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_what_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="no share"):
        share_bar(share, name="wrong")
