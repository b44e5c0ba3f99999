from urllib.parse import parse_qsl, urlsplit

import pytest

from offdiag.services.examples.selection import (
    AS_LOGGED,
    Cursor,
    ExampleOrder,
    ExampleQuestion,
    Kind,
    Place,
    SortKey,
)
from offdiag_web.urls.run import ExamplesAddress, cell_url, missed_url, read_examples


@pytest.mark.parametrize(
    "address",
    [
        ExamplesAddress("r_1"),
        ExamplesAddress("r_1", ExampleQuestion("mel", "nv")),
        ExamplesAddress("r_1", ExampleQuestion("a & b=c", "</script>")),
        ExamplesAddress("r_1", ExampleQuestion(predicted="nv", kind=Kind.ALL, sample="img 7+")),
        ExamplesAddress("r_1", ExampleQuestion(kind=Kind.UNLABELLED, order=AS_LOGGED)),
        ExamplesAddress(
            "r_1",
            ExampleQuestion(order=ExampleOrder(SortKey.MARGIN, descending=True)),
            Cursor(Place(-0.1, 17)),
        ),
        ExamplesAddress(
            "r_1", ExampleQuestion(), Cursor(Place(0.30000001192092896, 0), backwards=True)
        ),
    ],
)
def test_an_address_is_read_back_as_it_was(address: ExamplesAddress) -> None:
    assert read_examples("r_1", _values(address.url())) == (address, [])


def test_defaults_are_left_out() -> None:
    assert ExamplesAddress("r_1").url() == "/runs/r_1/examples"
    assert cell_url("r_1", "mel", "nv") == "/runs/r_1/examples?pred=nv&true=mel"
    assert missed_url("r_1", "mel") == "/runs/r_1/examples?true=mel"
    of_cell = ExampleQuestion("mel", "nv", kind=Kind.ALL)
    assert ExamplesAddress("r_1", of_cell).url() == cell_url("r_1", "mel", "nv")


def test_exports_hold_everything_so_they_have_neither_place_nor_order() -> None:
    address = ExamplesAddress(
        "r_1", ExampleQuestion("mel", order=AS_LOGGED), Cursor(Place(0.0, 50))
    )

    assert address.url("csv") == "/runs/r_1/examples.csv?true=mel"


@pytest.mark.parametrize(
    ("values", "notice"),
    [
        ({"show": "most"}, "Examples cannot be “most”"),
        ({"sort": "-size"}, "cannot be sorted by “-size”"),
        ({"after": "0.5"}, "The position in the list is invalid"),
        ({"after": "nan~3"}, "The position in the list is invalid"),
        ({"before": "0.5~-3"}, "The position in the list is invalid"),
        ({"after": "0.5~9999999999999999999999"}, "The position in the list is invalid"),
    ],
)
def test_what_cannot_be_meant_is_a_notice(values: dict[str, str], notice: str) -> None:
    address, notices = read_examples("r_1", values)

    assert address == ExamplesAddress("r_1")
    assert len(notices) == 1
    assert notice in notices[0]


def test_another_list_begins_at_its_beginning_in_the_same_order() -> None:
    order = ExampleOrder(SortKey.MARGIN)
    address = ExamplesAddress("r_1", ExampleQuestion("mel", order=order), Cursor(Place(0.1, 3)))

    other = address.asking(ExampleQuestion("nv"))

    assert other == ExamplesAddress("r_1", ExampleQuestion("nv", order=order))
    assert address.without("actual").question == ExampleQuestion(order=order)


def _values(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))
