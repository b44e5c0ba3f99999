from urllib.parse import parse_qsl, urlsplit

import pytest

from offdiag_web.urls.run import MatrixAddress, read_matrix


@pytest.mark.parametrize(
    "address",
    [
        MatrixAddress("r_1"),
        MatrixAddress("r_1", norm="col", order="label", transposed=True),
        MatrixAddress("r_1", focus='a "b" & <c>'),
    ],
)
def test_an_address_survives_being_followed(address: MatrixAddress) -> None:
    query = dict(parse_qsl(urlsplit(address.url()).query))

    assert read_matrix("r_1", query) == (address, [])


def test_defaults_are_left_out() -> None:
    assert MatrixAddress("r_1").url() == "/runs/r_1"


def test_what_cannot_be_meant_is_answered_with_a_notice() -> None:
    address, notices = read_matrix("r_1", {"norm": "both", "order": "x", "t": "yes"})

    assert address == MatrixAddress("r_1")
    assert len(notices) == 3


def test_exports_keep_order_and_orientation_of_the_view() -> None:
    address = MatrixAddress("r_1", norm="all", order="label", transposed=True, focus="a")

    assert address.url("csv") == "/runs/r_1/matrix.csv?order=label&t=1"
    assert address.url("csv", layout="grid") == "/runs/r_1/matrix.csv?layout=grid&order=label&t=1"
