import pytest

from offdiag.domain.runs import RunState
from offdiag.store.queries.run_filter import FilterField, FilterTerm
from offdiag_web.addresses.filter_text import filter_text, parse_filter, quoted
from support.dashboard import HOSTILE_NAMES


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("forest", FilterTerm(FilterField.NAME, "forest")),
        ('"two words"', FilterTerm(FilterField.NAME, "two words")),
        ("-forest", FilterTerm(FilterField.NAME, "forest", negated=True)),
        ("-", FilterTerm(FilterField.NAME, "-")),
        ("dataset:digits", FilterTerm(FilterField.DATASET, "digits")),
        ("dataset:digits@v3", FilterTerm(FilterField.DATASET, "digits", truth_number=3)),
        ('dataset:"digits@v3"', FilterTerm(FilterField.DATASET, "digits@v3")),
        ('dataset:"my set"@v2', FilterTerm(FilterField.DATASET, "my set", truth_number=2)),
        ("model:vit*", FilterTerm(FilterField.MODEL, "vit*")),
        ("state:queued", FilterTerm(FilterField.STATE, RunState.FINISHED)),
        ("tag:draft", FilterTerm(FilterField.TAG, "draft")),
        ("tag:team=x", FilterTerm(FilterField.TAG, "team", value="x")),
        ('tag:"a=b"=c', FilterTerm(FilterField.TAG, "a=b", value="c")),
        ("-tag:draft", FilterTerm(FilterField.TAG, "draft", negated=True)),
        ("project:fraud", FilterTerm(FilterField.PROJECT, "fraud")),
        (r'"a \" b"', FilterTerm(FilterField.NAME, 'a " b')),
    ],
)
def test_terms_are_understood(text: str, term: FilterTerm) -> None:
    (parsed,) = parse_filter(text)

    assert (parsed.term, parsed.problem) == (term, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("foo:bar", "there is no filter 'foo'"),
        ("state:sleeping", "a state is one of"),
        ("dataset:", "nothing follows dataset:"),
        ('dataset:""', "nothing follows dataset:"),
        ('"open', "the quote is not closed"),
    ],
)
def test_what_is_not_understood_is_kept_with_the_reason(text: str, reason: str) -> None:
    (parsed,) = parse_filter(text)

    assert parsed.text == text
    assert parsed.term is None
    assert reason in (parsed.problem or "")


def test_terms_are_separated_by_spaces_and_written_back_with_one() -> None:
    parsed = parse_filter('  dataset:digits   "two words" -tag:draft ')

    assert filter_text(parsed) == 'dataset:digits "two words" -tag:draft'


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "a b", "-x", "a:b", "x@v2", 'q"\\', "\\"])
def test_any_name_can_be_asked_for(name: str) -> None:
    (parsed,) = parse_filter(f"dataset:{quoted(name)}")

    assert parsed.term == FilterTerm(FilterField.DATASET, name)
