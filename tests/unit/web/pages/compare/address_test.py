"""The address of a comparison: canonical, and honest about what it cannot read."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from werkzeug.datastructures import MultiDict

from offdiag.comparison.churn import PairedOutcome
from offdiag.domain.runs import MOST_COMPARED
from offdiag_web.urls.compare import (
    CompareAddress,
    is_sent_by_form,
    read_compare,
    read_paired_outcome,
)

FULL = CompareAddress(
    ("r_a", "r_b"), "country=DE & x=1", on_shared=True, class_metric="f1", matrix="b"
)


def read(query: str) -> tuple[CompareAddress, list[str]]:
    return read_compare(MultiDict(parse_qsl(query)))


@pytest.mark.parametrize("address", [CompareAddress(("r_a", "r_b")), FULL])
def test_an_address_is_read_back_from_its_url(address: CompareAddress) -> None:
    assert read(urlsplit(address.url()).query) == (address, [])


def test_defaults_are_left_out() -> None:
    assert CompareAddress(("r_a", "r_b", "r_c")).url() == "/compare?runs=r_a,r_b,r_c"


def test_twins_keep_what_is_compared_and_not_how_it_is_shown() -> None:
    assert FULL.url("csv") == "/compare.csv?runs=r_a,r_b&shared=1&slice=country%3DDE%20%26%20x%3D1"


def test_runs_of_a_form_are_added_once_and_in_order() -> None:
    address, notices = read("runs=r_a,r_b&runs=r_c&runs=r_a")

    assert address.run_ids == ("r_a", "r_b", "r_c")
    assert notices == []


def test_runs_that_were_ticked_earlier_come_first() -> None:
    address, _ = read("sel=r_b,r_gone&runs=r_a&runs=r_b&runs=r_c")

    assert address.run_ids == ("r_b", "r_a", "r_c")


def test_what_a_form_sends_is_told_from_an_address() -> None:
    assert is_sent_by_form(MultiDict([("runs", "r_a"), ("runs", "r_b")]))
    assert is_sent_by_form(MultiDict([("runs", "r_a"), ("form", "1")]))
    assert not is_sent_by_form(MultiDict([("runs", "r_a,r_b")]))


@pytest.mark.parametrize("text", ["x", "r_", "r_a.json", "r_<b>", "R_a", f"r_{'a' * 65}"])
def test_what_is_no_id_is_left_out_and_said(text: str) -> None:
    address, notices = read_compare(MultiDict({"runs": f"r_a,{text}"}))

    assert address.run_ids == ("r_a",)
    assert text[:40] in notices[0]


def test_no_more_runs_than_letters_are_compared() -> None:
    ids = [f"r_{number}" for number in range(MOST_COMPARED + 3)]

    address, notices = read_compare(MultiDict({"runs": ",".join(ids)}))

    assert address.run_ids == tuple(ids[:MOST_COMPARED])
    assert notices == [f"Only the first {MOST_COMPARED} of {MOST_COMPARED + 3} runs are compared."]


def test_swapping_twice_is_nothing() -> None:
    assert FULL.swapped().run_ids == ("r_b", "r_a")
    assert FULL.swapped().matrix == "a"
    assert FULL.swapped().swapped() == FULL


def test_examples_keep_what_is_compared() -> None:
    url = FULL.examples_url(PairedOutcome.ONLY_B, class_label="a&b", start=50)

    assert dict(parse_qsl(urlsplit(url).query)) == {
        "runs": "r_a,r_b",
        "slice": "country=DE & x=1",
        "shared": "1",
        "which": "only_b",
        "class": "a&b",
        "from": "51",
    }


def test_an_unknown_fate_is_said() -> None:
    assert read_paired_outcome(None) == (PairedOutcome.ONLY_A, [])
    assert read_paired_outcome("both_wrong") == (PairedOutcome.BOTH_WRONG, [])
    outcome, notices = read_paired_outcome("broken")
    assert outcome is PairedOutcome.ONLY_A
    assert "“broken”" in notices[0]
