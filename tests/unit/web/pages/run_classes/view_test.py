from dataclasses import replace

import numpy as np
import pytest

from offdiag.metrics.suite import PER_CLASS_KEYS
from offdiag.store.run_page import RunResults
from offdiag_web.components.metric_values import CLASS_METRIC_TITLES, Notes
from offdiag_web.pages.run_classes.page import GROUPS, ClassesAddress, class_table
from support.gallery.examples import results_of

ADDRESS = ClassesAddress("r_1")


def test_every_key_of_the_suite_is_in_a_group_and_has_a_title() -> None:
    grouped = {key for keys in GROUPS.values() for key in keys}

    assert set(PER_CLASS_KEYS) <= grouped
    assert grouped == set(CLASS_METRIC_TITLES)


@pytest.mark.parametrize("descending", [True, False])
def test_undefined_values_stand_last_in_both_directions(descending: bool) -> None:
    address = replace(ADDRESS, sort_key="precision", descending=descending)

    table = class_table(_never_predicted(), address, Notes())

    assert [head.name for head, _ in table.lines][-1] == "never"


def test_many_classes_come_in_pages() -> None:
    results = results_of(np.eye(120, dtype=np.int64), tuple(str(code) for code in range(120)))

    first = class_table(results, ADDRESS, Notes())
    last = class_table(results, replace(ADDRESS, start=100), Notes())

    assert first.paging.range_text == "1–50 of 120 classes"
    assert (first.paging.previous_url, first.paging.next_url) == (
        None,
        "/runs/r_1/classes?from=51",
    )
    assert last.paging.range_text == "101–120 of 120 classes"
    assert (last.paging.previous_url, last.paging.next_url) == ("/runs/r_1/classes?from=51", None)


def _never_predicted() -> RunResults:
    return results_of(np.array([[9, 0], [1, 0]]), ("always", "never"))
