"""What users say about a run is bounded text, or it is refused by name."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from offdiag.domain.runs import MAX_ENTRIES, RunFacts, new_run_id, plain_entries
from offdiag.errors import InvalidInput


def test_run_ids_are_short_distinct_and_safe_in_a_url() -> None:
    ids = {new_run_id() for _ in range(1000)}

    assert len(ids) == 1000
    assert all(run_id[:2] == "r_" and run_id[2:].isalnum() and len(run_id) == 14 for run_id in ids)


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 501}, "name"),
        ({"name": 7}, "name"),
        ({"name": "ok", "project": ""}, "project"),
        ({"name": "ok", "model": "\0"}, "model"),
        ({"name": "ok", "author": "x" * 5001}, "author"),
        ({"name": "ok", "params": {"lr": float("nan")}}, "params['lr']"),
        ({"name": "ok", "params": {"lr": [1]}}, "params['lr']"),
        ({"name": "ok", "params": {7: 1}}, "params"),
        ({"name": "ok", "tags": {"a": "x" * 5001}}, "tags['a']"),
        ({"name": "ok", "tags": {str(i): 1 for i in range(MAX_ENTRIES + 1)}}, "tags"),
    ],
)
def test_unusable_facts_are_refused_naming_the_field(facts: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        RunFacts(**facts)

    assert caught.value.field == field
    assert caught.value.hint


@pytest.mark.parametrize("unit", ["ns", "s", "D"])
def test_dates_and_durations_of_numpy_are_no_parameters(unit: Literal["ns", "s", "D"]) -> None:
    for value in (np.datetime64("2026-03-05", unit), np.timedelta64(5, unit)):
        with pytest.raises(InvalidInput, match=r"of type (datetime|timedelta)64 cannot"):
            RunFacts(name="run", params=plain_entries({"x": value}, "params"))
