from urllib.parse import parse_qsl, urlsplit

import pytest

from offdiag_web.pages.run_classes.page import ClassesAddress, read_classes

KEYS = ("support", "recall", "precision")


@pytest.mark.parametrize(
    "address",
    [
        ClassesAddress("r_1"),
        ClassesAddress("r_1", group="rates", sort_key="recall", descending=False, start=50),
        ClassesAddress("r_1", sort_key="label", descending=True),
    ],
)
def test_an_address_survives_being_followed(address: ClassesAddress) -> None:
    query = dict(parse_qsl(urlsplit(address.url()).query))

    assert read_classes("r_1", query, KEYS) == (address, [])


@pytest.mark.parametrize(
    "query",
    [
        {"show": "everything"},
        {"sort": "password"},
        {"from": "-3"},
        {"from": "0"},
        {"from": "²"},
        {"from": "9" * 40},
    ],
)
def test_what_cannot_be_meant_is_answered_with_a_notice(query: dict[str, str]) -> None:
    address, notices = read_classes("r_1", query, KEYS)

    assert address == ClassesAddress("r_1")
    assert len(notices) == 1


def test_a_column_is_sorted_lowest_first_because_that_is_where_a_model_fails() -> None:
    address = ClassesAddress("r_1").sorted_by("recall")

    assert address.url() == "/runs/r_1/classes?sort=recall"
    assert address.sorted_by("recall").url() == "/runs/r_1/classes?sort=-recall"
