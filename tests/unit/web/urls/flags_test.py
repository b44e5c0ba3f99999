from urllib.parse import parse_qsl, urlsplit

import pytest

from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import Severity
from offdiag.store.flag_conditions import FlagFilter
from offdiag.store.flag_inbox import FlagPlace
from offdiag_web.urls.flags import UNASSIGNED, WHOLE_RUN, FlagListAddress, read_flag_list


@pytest.mark.parametrize(
    "address",
    [
        FlagListAddress(),
        FlagListAddress(None),
        FlagListAddress(FlagState.SNOOZED, {"rule": "F4", "class": "a & b=c"}),
        FlagListAddress(place=FlagPlace(3, 31)),
        FlagListAddress(place=FlagPlace(0, 7, backwards=True)),
        FlagListAddress(
            FlagState.CLOSED,
            {
                "severity": "high",
                "rule": "F12",
                "class": "<script>",
                "dataset": "derm-7",
                "model": "vit",
                "assignee": "lee",
                "run": "r_1",
                "project": "x",
            },
        ),
    ],
)
def test_an_address_is_read_back_as_it_was_written(address: FlagListAddress) -> None:
    values = dict(parse_qsl(urlsplit(address.url("json")).query))

    assert read_flag_list(values) == (address, [])


def test_defaults_are_left_out() -> None:
    assert FlagListAddress().url("json") == "/flags.json"
    assert FlagListAddress(None).url("csv") == "/flags.csv?state=all"


def test_the_filter_says_what_the_fields_say() -> None:
    fields = {"severity": "high", "rule": "F4", "class": WHOLE_RUN, "assignee": UNASSIGNED}

    wanted = FlagListAddress(FlagState.OPEN, fields).filter

    assert wanted == FlagFilter(
        state=FlagState.OPEN, at_least=Severity.HIGH, rule="F4", class_label="", assignee=""
    )


@pytest.mark.parametrize(
    "values",
    [{"state": "lost"}, {"severity": "mild"}, {"rule": "F99"}, {"after": "9~1"}, {"before": "x"}],
)
def test_what_cannot_be_meant_is_left_out_with_a_notice(values: dict[str, str]) -> None:
    address, notices = read_flag_list(values)

    assert address == FlagListAddress()
    assert len(notices) == 1


def test_a_rule_may_be_written_small() -> None:
    address, _ = read_flag_list({"rule": " f4 "})

    assert address.fields == {"rule": "F4"}
