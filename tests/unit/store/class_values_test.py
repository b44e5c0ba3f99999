"""Packed per-class values come back exactly as they went in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.values import POSITIVE_INFINITY, MetricValue, Reason
from offdiag.store.class_values import pack, unpack

numbers = st.floats(allow_nan=False, allow_infinity=False)
methods = st.sampled_from(["wilson", "delta", "wilson; unreliable, class has n = 5"])
defined = st.builds(MetricValue, value=numbers)
with_interval = st.builds(
    MetricValue,
    value=numbers,
    ci_low=st.none() | numbers,
    ci_high=st.none() | numbers,
    ci_method=methods,
)
undefined = st.builds(
    MetricValue,
    value=st.none(),
    reason=st.sampled_from([reason.value for reason in Reason]),
    limit=st.none() | st.just(POSITIVE_INFINITY),
)
cells = st.one_of(defined, with_interval, undefined)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=4))
def test_values_reasons_limits_and_intervals_round_trip(
    rows: list[tuple[MetricValue, ...]],
) -> None:
    per_class = {f"key_{index}": row for index, row in enumerate(rows)}

    assert unpack(pack(per_class, 3)) == per_class


def test_more_than_255_different_notes_are_kept_apart() -> None:
    row = tuple(
        MetricValue(0.5, ci_low=0.0, ci_high=1.0, ci_method=f"class has n = {n}")
        for n in range(400)
    )

    assert unpack(pack({"recall": row}, 400)) == {"recall": row}


def test_a_blob_of_another_size_is_refused() -> None:
    packed = pack({"recall": (MetricValue(1.0),)}, 1)

    with pytest.raises(ValueError, match="bytes cannot hold 1 values"):
        unpack(replace(packed, data=packed.data[:-1]))
