from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from werkzeug.datastructures import MultiDict

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.services.what_if.runs import BaseCosts, Preset, Question
from offdiag_web.urls.costs import WhatIfAddress, asked_by_form, read_what_if

LABELS = LabelSet.declared(["nv", "mel", 'a "b"|c'])
BASE = BaseCosts(
    CostMatrix(np.array([[0.0, 1, 1], [10, 0, 8], [2, 4, 0]]), LABELS), None, Preset.ZERO_ONE
)
FULL = WhatIfAddress(
    ("r_1", "r_2"), Question("derm triage@2", "mel>nv:20", "mel>*", "mel:0.02", "nv|mel"), "mel"
)


@pytest.mark.parametrize("address", [WhatIfAddress(), WhatIfAddress(("r_1",)), FULL])
def test_an_address_survives_being_followed(address: WhatIfAddress) -> None:
    query = dict(parse_qsl(urlsplit(address.url()).query))

    assert read_what_if(query) == address


def test_an_address_is_as_short_as_it_gets() -> None:
    assert WhatIfAddress(("r_1", "r_2"), Question("@0-1")).url() == (
        "/whatif?cost=@0-1&runs=r_1,r_2"
    )
    assert WhatIfAddress(("r_1",)).url("csv") == "/whatif.csv?runs=r_1"


def test_the_fields_of_a_form_are_the_address() -> None:
    assert read_what_if(dict(FULL.fields)) == FULL


def test_only_ids_of_runs_are_taken_each_once() -> None:
    assert read_what_if({"runs": "r_1, r_2,r_1,<b>,,r_"}).runs == ("r_1", "r_2")


def test_ticked_runs_are_taken_each_from_a_field_of_its_own() -> None:
    ticked = MultiDict([("runs", "r_1"), ("runs", "r_2,r_3"), ("back", "/runs")])

    assert read_what_if(ticked).runs == ("r_1", "r_2", "r_3")


def test_decisions_are_about_one_of_the_runs() -> None:
    url = FULL.decisions_url("r_2")

    assert read_what_if(dict(parse_qsl(urlsplit(url).query)), key="run").runs == ("r_2",)
    assert url.startswith("/whatif/decisions?cost=derm%20triage@2&")


def asked(**values: str) -> Question:
    return asked_by_form({"runs": "r_1", **values}, BASE).question


def test_a_form_that_changes_nothing_asks_nothing_special() -> None:
    unchanged = {f"w{i}.{j}": str(BASE.costs.weights[i, j]) for i in range(3) for j in range(3)}

    assert asked(**unchanged, times="", tx="", q0="", merge="") == Question("@0-1")


def test_changed_cells_are_the_changes() -> None:
    assert asked(**{"w1.0": " 20 ", "w0.1": "", "w2.1": "0.5"}).edits == (
        'mel>nv:20,"a \\"b\\"|c">mel:0.5'
    )


def test_the_cells_of_a_grid_replace_cells_that_were_set_before_but_no_multiplications() -> None:
    found = asked(**{"times": "mel>*:x2", "set": "mel>nv:7", "w1.0": "20", "w1.2": "17"})

    assert found.edits == 'mel>*:x2,mel>"a \\"b\\"|c":17'


def test_without_a_grid_changes_stay_and_a_multiplication_is_added() -> None:
    found = asked(set="mel>nv:7", ta="nv|mel", tp="", tx="3")

    assert found.edits == "mel|nv>*:x3,mel>nv:7"


def test_what_cannot_be_read_stays_to_be_explained() -> None:
    found = asked(**{"w1.0": "much", "q1": "2", "merge": "nv", "ta": "df", "tx": "3"})

    assert found.edits == "df>*:x3,mel>nv:much"
    assert found.shares == "mel:2"
    assert found.merged == "nv"


def test_shares_are_read_from_their_fields() -> None:
    assert asked(q1=".020", q2="", q99="1").shares == "mel:0.02"
    assert asked(share="nv:0.9").shares == "nv:0.9"


def test_cells_that_do_not_exist_are_nothing() -> None:
    assert asked(**{"w9.9": "3", "w1": "3", "wx.y": "3"}).edits == ""
