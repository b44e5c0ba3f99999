"""Slices are read in any spelling and written in one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.slices import Slice, SliceTerm, parse_slice
from offdiag.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("country=DE", "country=DE"),
        (" country = DE ", "country=DE"),
        ("device=phone & country=DE", "country=DE & device=phone"),
        ("a=b&a=b", "a=b"),
        ('"a"="b"', "a=b"),
        ("shop name=New York", "shop name=New York"),
        ('a="x & y"', 'a="x & y"'),
        ('a=""', 'a=""'),
        (r'a="say \"yes\" \\ no"', r'a="say \"yes\" \\ no"'),
    ],
)
def test_a_slice_has_one_canonical_text(text: str, canonical: str) -> None:
    assert str(parse_slice(text)) == canonical


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "'' is not a slice: a name is missing at its end"),
        ("country", "'country' is not a slice: '=' is missing at its end"),
        ("country=", "a value is missing at its end"),
        ("=DE", "a name is missing before '=DE'"),
        ("a=b c=d", "'&' is missing before '=d'"),
        ("a=b &", "a name is missing at its end"),
        ('a="b', "a value is missing before '\"b'"),
        ('a="b" c', "'&' is missing before 'c'"),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text: str, found: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_slice(text)

    assert found in str(refusal.value)


def test_one_column_cannot_have_two_values() -> None:
    with pytest.raises(InvalidInput, match="'a' is to be 'b' and 'c' at once"):
        parse_slice("a=b & a=c")


@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1, max_size=3))
def test_every_slice_is_read_back_from_its_text(terms: dict[str, str]) -> None:
    written = Slice(tuple(SliceTerm(name, terms[name]) for name in sorted(terms)))

    assert parse_slice(str(written)) == written
