from hypothesis import given
from hypothesis import strategies as st

from offdiag.store.run_filter import FilterField, FilterTerm
from offdiag_web.urls.filter_line import filter_text, parse_filter, quoted


@given(st.text())
def test_any_text_is_parsed_and_a_canonical_line_stays_as_it_is(text: str) -> None:
    line = filter_text(parse_filter(text))

    assert filter_text(parse_filter(line)) == line
    assert all((term.term is None) != (term.problem is None) for term in parse_filter(text))


@given(st.text(min_size=1).filter(str.strip))
def test_any_value_can_be_asked_for(value: str) -> None:
    (parsed,) = parse_filter(f"model:{quoted(value)}")

    assert parsed.term == FilterTerm(FilterField.MODEL, value)


@given(st.lists(st.text(min_size=1).filter(str.strip), max_size=4))
def test_terms_stay_apart(values: list[str]) -> None:
    line = " ".join(f"-model:{quoted(value)}" for value in values)

    assert [term.term for term in parse_filter(line)] == [
        FilterTerm(FilterField.MODEL, value, negated=True) for value in values
    ]
