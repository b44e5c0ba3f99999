from urllib.parse import parse_qsl, urlsplit

import pytest

from offdiag.services.curves import RankedBy
from offdiag_web.pages.run_curves.address import CurvesAddress, read_curves, read_part


@pytest.mark.parametrize(
    "address",
    [
        CurvesAddress("r_1"),
        CurvesAddress("r_1", positive="a & b", prevalence=0.015),
        CurvesAddress("r_1", ranked_by=RankedBy.ROC, start=12),
        CurvesAddress("r_1", ranked_by=RankedBy.PRECISION_RECALL),
    ],
)
def test_an_address_is_read_back_as_it_was(address: CurvesAddress) -> None:
    values = dict(parse_qsl(urlsplit(address.url()).query))

    assert read_curves("r_1", values) == (address, [])


@pytest.mark.parametrize(
    ("typed", "share"), [("0.02", 0.02), ("2 %", 0.02), ("2%", 0.02), ("0,5", 0.5), (" ", None)]
)
def test_a_prevalence_may_be_typed_as_a_share_or_in_percent(
    typed: str, share: float | None
) -> None:
    address, notices = read_curves("r_1", {"prevalence": typed})

    assert (address.prevalence, notices) == (share, [])


@pytest.mark.parametrize("typed", ["0", "1", "100 %", "-0.1", "2", "nan", "inf", "many", "0.1x"])
def test_what_is_no_prevalence_is_a_notice(typed: str) -> None:
    address, notices = read_curves("r_1", {"prevalence": typed})

    assert address.prevalence is None
    assert f"not “{typed}”" in notices[0]


@pytest.mark.parametrize(
    ("values", "notice"),
    [({"curve": "det"}, "no curve “det”"), ({"from": "0"}, "position in the list is invalid")],
)
def test_what_cannot_be_meant_is_a_notice(values: dict[str, str], notice: str) -> None:
    address, notices = read_curves("r_1", values)

    assert address == CurvesAddress("r_1")
    assert notice in notices[0]


def test_a_table_is_named_by_its_part() -> None:
    address = CurvesAddress("r_1", positive="y", start=12)

    assert address.url("csv", part="histogram") == "/runs/r_1/curves.csv?part=histogram&positive=y"
    assert read_part({"part": "reliability"}) == "reliability"
    assert read_part({"part": "<b>"}) == "points"


def test_the_prevalence_of_one_class_does_not_stay_with_another() -> None:
    address = CurvesAddress("r_1", positive="y", prevalence=0.1)

    assert address.of_class("n") == CurvesAddress("r_1", positive="n")
