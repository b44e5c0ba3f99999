from datetime import UTC, datetime

import pytest

from offdiag.domain.runs import RunState
from offdiag.domain.slices import parse_slice
from offdiag.filters.conditions import (
    Attribute,
    AttributeField,
    Comparison,
    Condition,
    MetricField,
    Not,
    Operator,
    Over,
    Side,
)
from offdiag.store.run_filter import FilterField, FilterTerm
from offdiag_web.urls.filter_line import filter_text, parse_filter, quoted
from support.dashboard import HOSTILE_NAMES

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SITE = parse_slice("site=z")
LOGGED = AttributeField(Attribute.CREATED_AT)


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
        ("model:vit*", FilterTerm(FilterField.MODEL, "vit*", is_pattern=True)),
        ('model:"two words*"', FilterTerm(FilterField.MODEL, "two words*", is_pattern=True)),
        (r'model:"vit\*"', FilterTerm(FilterField.MODEL, "vit*")),
        ("state:queued", FilterTerm(FilterField.STATE, RunState.FINISHED)),
        ("tag:draft", FilterTerm(FilterField.TAG, "draft")),
        ("tag:team=x", FilterTerm(FilterField.TAG, "team", value="x")),
        ('tag:"a=b"=c', FilterTerm(FilterField.TAG, "a=b", value="c")),
        ("-tag:draft", FilterTerm(FilterField.TAG, "draft", negated=True)),
        ("project:fraud", FilterTerm(FilterField.PROJECT, "fraud")),
        (r'"a \" b"', FilterTerm(FilterField.NAME, 'a " b')),
        ("author:ana", FilterTerm(FilterField.AUTHOR, "ana")),
        ("run:r_7a", FilterTerm(FilterField.RUN, "r_7a")),
        ("class:df", FilterTerm(FilterField.CLASS, "df")),
        ("flag:open", FilterTerm(FilterField.FLAG, "open")),
        ("-flag:f3", FilterTerm(FilterField.FLAG, "F3", negated=True)),
        ("acc:>0.8", Comparison(MetricField("overall_accuracy"), Operator.GREATER, (0.8,))),
        ("f1:<=.5", Comparison(MetricField("macro_f1"), Operator.AT_MOST, (0.5,))),
        ("cohen_kappa:>=-0.1", Comparison(MetricField("cohen_kappa"), Operator.AT_LEAST, (-0.1,))),
        ("recall(df):<0.5", Comparison(MetricField("recall", "df"), Operator.LESS, (0.5,))),
        ('f1("a b"):=1', Comparison(MetricField("f1", "a b"), Operator.EQUAL, (1.0,))),
        ("recall(df)<0.5", Comparison(MetricField("recall", "df"), Operator.LESS, (0.5,))),
        ("acc>0.8", Comparison(MetricField("overall_accuracy"), Operator.GREATER, (0.8,))),
        ("Dataset:digits", FilterTerm(FilterField.DATASET, "digits")),
        ("ACC>0.8", Comparison(MetricField("overall_accuracy"), Operator.GREATER, (0.8,))),
        ("MCC:>0.8", Comparison(MetricField("mcc"), Operator.GREATER, (0.8,))),
        ('"and"', FilterTerm(FilterField.NAME, "and")),
        ('">0.8"', FilterTerm(FilterField.NAME, ">0.8")),
        ("lr=0.1", FilterTerm(FilterField.NAME, "lr=0.1")),
        ('"cost>5"', FilterTerm(FilterField.NAME, "cost>5")),
        ('tag:"fold>"=3', FilterTerm(FilterField.TAG, "fold>", value="3")),
        ('tag:"a:b"=c:d', FilterTerm(FilterField.TAG, "a:b", value="c:d")),
        ('tag:team="sk*"', FilterTerm(FilterField.TAG, "team", value="sk*")),
        (r'class:"df\*"', FilterTerm(FilterField.CLASS, "df*")),
        ("a@b.org", FilterTerm(FilterField.NAME, "a@b.org")),
        ("v[1]", FilterTerm(FilterField.NAME, "v[1]")),
        (
            "-recall[df]@site=z<0.5",
            Not(Comparison(MetricField("recall", "df", part=SITE), Operator.LESS, (0.5,))),
        ),
        (
            "low(worst(recall[df],by=site))>=0.5",
            Comparison(
                MetricField("recall", "df", Side.LOW, over=Over.WORST, by="site"),
                Operator.AT_LEAST,
                (0.5,),
            ),
        ),
        (
            "worst(recall[df], by=site)<0.5",
            Comparison(
                MetricField("recall", "df", over=Over.WORST, by="site"), Operator.LESS, (0.5,)
            ),
        ),
        ("-mcc:>0", Not(Comparison(MetricField("mcc"), Operator.GREATER, (0.0,)))),
        (
            "since:30d",
            Comparison(LOGGED, Operator.AT_LEAST, (datetime(2026, 10, 21, tzinfo=UTC),)),
        ),
        ("before:2w", Comparison(LOGGED, Operator.LESS, (datetime(2026, 11, 6, tzinfo=UTC),))),
        (
            "since:2026-11-01T10:00+02:00",
            Comparison(LOGGED, Operator.AT_LEAST, (datetime(2026, 11, 1, 8, tzinfo=UTC),)),
        ),
    ],
)
def test_terms_are_understood(text: str, term: FilterTerm | Condition) -> None:
    (parsed,) = parse_filter(text, now=NOW)

    assert (parsed.term, parsed.problem) == (term, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("foo:bar", "there is no filter 'foo'"),
        ("state:sleeping", "a state is one of"),
        ("dataset:", "nothing follows dataset:"),
        ('dataset:""', "nothing follows dataset:"),
        ('"open', "the quote is not closed"),
        ("flag:F99", "a flag is one of any, none, open"),
        ("acc:0.8", "as in acc:>0.8"),
        ("acc:>high", "high is not a number"),
        ("acc:>nan", "nan is not a number that a metric can have"),
        ("recall:<0.5", "of one class: recall(class):>0.8"),
        ("mcc(df):<0.5", "of one class there are recall, precision"),
        ("recall(df):", "nothing follows recall:"),
        ("since:soon", "a time is 12h, 30d, 2w"),
        ("since:999999w", "a time is 12h, 30d, 2w"),
        ("acc:>0_8", "0_8 is not a number"),
        ("and", "all terms must hold"),
        ("OR", "all terms must hold"),
        ("not", "a minus before a term excludes it"),
        (">", "no blanks around >, as in acc>0.8"),
        (">=0.8", "no blanks around >=, as in acc>0.8"),
        ("Foo:bar", "there is no filter 'Foo'"),
        ("cost>5", "no metric is called cost"),
        ("metrics.mcc>0.5", "no metric is called metrics.mcc"),
        ("Recall[df]>0.5", "a name with > needs quotes"),
        ("recal[df]<=0.5", "a name with < needs quotes"),
        ("0.5<acc", "a name with < needs quotes"),
        ("created_at>=2026-11-20", "no metric is called created_at"),
        ("dataset=digits", "write dataset:digits"),
        ("tags.team=x", "write tag:team=x"),
        ("tag:fold>=3", "as in tag:fold=3"),
        ("tag:fold>3", "as in tag:fold=3"),
        ("tag:fold!=3", "as in tag:fold=3"),
        ("tag:fold==3", "as in tag:fold=3"),
        ("tag:fold:3", "as in tag:fold=3"),
        ("tag:team=sk*", "* is not a pattern here"),
        ("tag:te*", "* is not a pattern here"),
        ("class:d*", "* is not a pattern here"),
        ("run:r_*", "* is not a pattern here"),
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


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "a b", "-x", "a:b", "x@v2", 'q"\\', "\\", "a*"])
def test_any_name_can_be_asked_for(name: str) -> None:
    (parsed,) = parse_filter(f"dataset:{quoted(name)}")

    assert parsed.term == FilterTerm(FilterField.DATASET, name)


@pytest.mark.parametrize("name", [*HOSTILE_NAMES, "a>", "b!", "a:b", "c=d", "e*", "<"])
def test_any_tag_can_be_asked_for(name: str) -> None:
    (parsed,) = parse_filter(f"tag:{quoted(name)}={quoted(name)}")

    assert parsed.term == FilterTerm(FilterField.TAG, name, value=name)


def test_after_a_slice_all_metrics_are_those_of_it() -> None:
    _, recall, accuracy, model, other = parse_filter(
        "slice:site=z recall(mel)<0.5 -acc:>0.8 model:vit mcc@a=b>0"
    )

    assert recall.term == Comparison(
        MetricField("recall", "mel", part=SITE), Operator.LESS, (0.5,)
    )
    assert accuracy.term == Not(
        Comparison(MetricField("overall_accuracy", part=SITE), Operator.GREATER, (0.8,))
    )
    assert model.term == FilterTerm(FilterField.MODEL, "vit")
    assert other.term == Comparison(
        MetricField("mcc", part=parse_slice("a=b")), Operator.GREATER, (0.0,)
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("slice:site", "'=' is missing at its end"),
        ("slice:a=b slice:c=d", "one slice is enough"),
        ("slice:a=b", "no metric stands beside it"),
        ("slice:a=b model:vit mcc@c=d>0", "no metric stands beside it"),
        ("-slice:a=b acc:>0.5", "a slice cannot be excluded"),
        ("recall[df]@site=z", "one of = !="),
        ("worst(recall[df])<0.5", "a slice column was expected"),
        ("recall<0.5", "it is of one class"),
        ("slice:site!=z acc>0.5", "a slice cannot be excluded"),
        ("slice:site='z' acc>0.5", 'in double quotes: "z"'),
    ],
)
def test_a_condition_on_a_slice_that_cannot_be_read_says_why(text: str, problem: str) -> None:
    assert problem in str(parse_filter(text)[0].problem)
