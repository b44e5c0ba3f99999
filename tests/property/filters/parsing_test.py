"""Whatever is typed, the answer is a condition or a sentence."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from offdiag.errors import InvalidInput
from offdiag.filters.conditions import Comparison, Operator, TagField
from offdiag.filters.parsing import parse_filter

WORDS = st.sampled_from(
    (
        *("metrics", "tags", "attributes", ".", "mcc", "recall", "[", "]", "(", ")", "and", "or"),
        *("not", "in", "like", "=", ">=", "'x'", '"', "1", ".5", "1e9", "true", ",", "name"),
    )
)


@given(st.one_of(st.text(), st.lists(WORDS, max_size=30).map(" ".join)))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    assert _what_was_made_of(text)


def _what_was_made_of(text: str) -> str:
    """The hint of a refusal, or the condition; anything else raised is a failure."""
    try:
        return repr(parse_filter(text))
    except InvalidInput as refusal:
        return refusal.hint or ""


@given(name=st.text(min_size=1), value=st.text())
def test_any_name_and_text_can_be_searched_in_quotes(name: str, value: str) -> None:
    quoted_name, quoted_value = (
        "'" + text.replace("\0", "").replace("'", "''") + "'" for text in (name, value)
    )

    condition = parse_filter(f"tags.{quoted_name} = {quoted_value}")

    assert condition == Comparison(
        TagField(name.replace("\0", "")), Operator.EQUAL, (value.replace("\0", ""),)
    )
