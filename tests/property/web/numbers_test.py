import re

from hypothesis import given
from hypothesis import strategies as st

from offdiag_web.components import numbers

counts = st.integers(0, 10**16)
_ZERO = re.compile(r"^−?0(\.0+)?\D*$")


@given(part=st.integers(1, 10**15), more=st.integers(0, 10**15))
def test_a_count_above_zero_is_never_shown_as_no_share(part: int, more: int) -> None:
    for text in (
        numbers.whole_percent(part, part + more),
        numbers.fine_percent(part, part + more),
    ):
        assert not _ZERO.match(text)


@given(part=st.integers(0, 10**15), missing=st.integers(1, 10**15))
def test_less_than_all_is_never_shown_as_all(part: int, missing: int) -> None:
    for text in (
        numbers.whole_percent(part, part + missing),
        numbers.fine_percent(part, part + missing),
    ):
        assert not text.startswith("100")


@given(st.floats(-1, 1))
def test_only_zero_reads_as_zero_and_only_one_as_one(value: float) -> None:
    text = numbers.metric(value)

    assert (text == "0.000") == (value == 0)
    assert (text == "1.000") == (value == 1)
    assert (text == "−1.000") == (value == -1)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_metrics_are_never_written_with_a_hyphen(value: float) -> None:
    assert "-" not in numbers.metric(value).replace("e-", "")


@given(text=st.text(max_size=600), longest=st.integers(3, 40))
def test_a_shortened_name_fits_and_keeps_both_ends(text: str, longest: int) -> None:
    short = numbers.shortened(text, longest=longest)

    assert len(short) <= longest
    if len(text) > longest:
        assert text.startswith(short.partition("…")[0])
        assert short.endswith(text[-1])
