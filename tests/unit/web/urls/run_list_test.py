from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import pytest

from offdiag.domain.runs import MOST_COMPARED
from offdiag.store.run_order import Cursor, Group, Place, RunOrder
from offdiag_web.urls.filter_line import parse_filter
from offdiag_web.urls.run_list import RunListAddress, read_run_list

NOON = datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)


def test_names_of_scikit_learn_become_our_keys() -> None:
    address, notices = read_run_list(
        {"sort": "-neg_log_loss", "cols": "f1_macro,accuracy", "q": "neg_log_loss:>-0.5"}
    )

    assert address.order == RunOrder("log_loss", descending=False)
    assert address.columns == ("macro_f1", "overall_accuracy")
    assert address.filter == (parse_filter("log_loss:<0.5")[0].term,)
    assert notices == []


def test_the_plain_list_has_a_plain_address() -> None:
    assert RunListAddress().url() == "/runs"
    assert RunListAddress().url("json") == "/runs.json"


@pytest.mark.parametrize(
    "address",
    [
        RunListAddress(parse_filter('dataset:digits "a b" foo:bar')),
        RunListAddress(order=RunOrder("mcc", descending=True), scale="full"),
        RunListAddress(order=RunOrder("name", descending=False)),
        RunListAddress(cursor=Cursor(Place(Group.DEFINED, NOON, "r_1"), backwards=True)),
        RunListAddress(
            order=RunOrder("acc"), cursor=Cursor(Place(Group.DEFINED, 0.1 + 0.2, "r_1"))
        ),
        RunListAddress(
            order=RunOrder("param.a lr"), cursor=Cursor(Place(Group.TEXT, "x~1", "r_1"))
        ),
        RunListAddress(
            order=RunOrder("param.lr"), cursor=Cursor(Place(Group.DEFINED, 0.5, "r_1"))
        ),
        RunListAddress(order=RunOrder("acc"), cursor=Cursor(Place(Group.UNDEFINED, NOON, "r_1"))),
        RunListAddress(
            order=RunOrder("name"), cursor=Cursor(Place(Group.DEFINED, "a~b~c & d", "r_1"))
        ),
    ],
)
def test_an_address_survives_being_followed(address: RunListAddress) -> None:
    read, notices = _followed(address.url())

    assert read == address
    assert notices == []
    assert read.url() == address.url()


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("sort=-password", "cannot be sorted by “password”"),
        ("scale=log", "no scale “log”"),
        ("after=nonsense", "position in the list"),
        ("sort=-acc&after=d~nan~r_1", "position in the list"),
        ("after=d~2026-11-20T12:00:00~r_1", "position in the list"),
        ("after=u~2026-11-20T12:00:00%2B00:00~r_1", "position in the list"),
    ],
)
def test_what_cannot_be_meant_is_answered_with_a_notice(query: str, notice: str) -> None:
    address, notices = _followed(f"/runs?{query}")

    assert address.cursor is None
    assert len(notices) == 1
    assert notice in notices[0]


def test_unknown_parameters_are_dropped() -> None:
    address, notices = _followed("/runs?utm_source=mail&page=3")

    assert (address.url(), notices) == ("/runs", [])


def test_sorting_by_the_same_column_again_turns_it_round() -> None:
    once = RunListAddress().sorted_by("mcc")
    twice = once.sorted_by("mcc")

    assert (once.url(), twice.url()) == ("/runs?sort=-mcc", "/runs?sort=mcc")


def test_sorting_and_filtering_begin_at_the_first_page() -> None:
    cursor = Cursor(Place(Group.DEFINED, NOON, "r_1"))
    address = RunListAddress(parse_filter("a b"), cursor=cursor)

    assert address.sorted_by("acc").cursor is None
    assert address.without(0).url() == "/runs?q=b"


def _followed(url: str) -> tuple[RunListAddress, list[str]]:
    return read_run_list(dict(parse_qsl(urlsplit(url).query)))


def test_ticked_runs_stay_while_the_list_changes_but_not_in_its_twins() -> None:
    address, notices = read_run_list({"q": "cats", "sel": "r_b,r_a,nonsense,r_b"})

    assert address.selected == ("r_b", "r_a")
    assert notices == []
    assert address.url() == "/runs?q=cats&sel=r_b,r_a"
    assert address.without(0).url() == "/runs?sel=r_b,r_a"
    assert address.sorted_by("mcc").url() == "/runs?q=cats&sel=r_b,r_a&sort=-mcc"
    assert address.url("csv") == "/runs.csv?q=cats"


def test_no_more_runs_are_ticked_than_can_be_compared() -> None:
    ids = [f"r_{number}" for number in range(40)]

    address, _ = read_run_list({"sel": ",".join(ids)})

    assert address.selected == tuple(ids[:MOST_COMPARED])
