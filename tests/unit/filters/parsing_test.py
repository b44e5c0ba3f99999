"""The language in which runs are searched: what is understood, and what is said otherwise."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from offdiag.domain.slices import slice_of
from offdiag.errors import InvalidInput
from offdiag.filters.conditions import (
    EVERYTHING,
    AllOf,
    AnyOf,
    Attribute,
    AttributeField,
    Comparison,
    MetricField,
    Not,
    Operator,
    Ordering,
    ParamField,
    TagField,
)
from offdiag.filters.parsing import parse_filter, parse_order

ON_Z = MetricField("mcc", part=slice_of([("site", "z")]))
A = Comparison(TagField("a"), Operator.EQUAL, (1,))
B = Comparison(TagField("b"), Operator.EQUAL, (2,))
C = Comparison(TagField("c"), Operator.EQUAL, (3,))


@pytest.mark.parametrize(
    ("text", "field", "operator", "operands"),
    [
        ("metrics.mcc > 0.5", MetricField("mcc"), Operator.GREATER, (0.5,)),
        ("metrics.mcc>=-1e-3", MetricField("mcc"), Operator.AT_LEAST, (-0.001,)),
        ("METRICS.recall[df] < .5", MetricField("recall", "df"), Operator.LESS, (0.5,)),
        ("metrics.recall[3] <= 1", MetricField("recall", "3"), Operator.AT_MOST, (1,)),
        ("metrics.f1['a ] b'] = 1", MetricField("f1", "a ] b"), Operator.EQUAL, (1,)),
        ("params.lr == 0.1", ParamField("lr"), Operator.EQUAL, (0.1,)),
        ("params.model.depth <> 3", ParamField("model.depth"), Operator.UNEQUAL, (3,)),
        ("tags.team = 'x'", TagField("team"), Operator.EQUAL, ("x",)),
        ("tags.\"two words\" != 'it''s'", TagField("two words"), Operator.UNEQUAL, ("it's",)),
        ("tags.a in ('x', 2, true)", TagField("a"), Operator.IN, ("x", 2, True)),
        ("tags.a LIKE 'x%'", TagField("a"), Operator.LIKE, ("x%",)),
        ("mcc@site=z != 0.5", ON_Z, Operator.UNEQUAL, (0.5,)),
        ("mcc@site=z!=0.5", ON_Z, Operator.UNEQUAL, (0.5,)),
        ("mcc@site=z in (0.5, 1)", ON_Z, Operator.IN, (0.5, 1)),
        (
            "attributes.created_at >= '2026-11-20'",
            AttributeField(Attribute.CREATED_AT),
            Operator.AT_LEAST,
            (datetime(2026, 11, 20, tzinfo=UTC),),
        ),
        (
            "attributes.created_at < '2026-11-20T01:00+02:00'",
            AttributeField(Attribute.CREATED_AT),
            Operator.LESS,
            (datetime(2026, 11, 19, 23, tzinfo=UTC),),
        ),
        ("attributes.badge = TRUE", AttributeField(Attribute.BADGE), Operator.EQUAL, (True,)),
    ],
)
def test_a_comparison_is_read(
    text: str, field: object, operator: Operator, operands: tuple[object, ...]
) -> None:
    condition = parse_filter(text)

    assert isinstance(condition, Comparison)
    assert (condition.field, condition.operator, condition.operands) == (field, operator, operands)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("", EVERYTHING),
        ("  ", EVERYTHING),
        ("tags.a=1 and tags.b=2 and tags.c=3", AllOf((A, B, C))),
        ("tags.a=1 or tags.b=2 and tags.c=3", AnyOf((A, AllOf((B, C))))),
        ("(tags.a=1 or tags.b=2) AND tags.c=3", AllOf((AnyOf((A, B)), C))),
        ("not tags.a=1 and tags.b=2", AllOf((Not(A), B))),
        ("not not tags.a=1", Not(Not(A))),
        ("tags.a not in (1)", Not(Comparison(TagField("a"), Operator.IN, (1,)))),
        ("((((tags.a=1))))", A),
    ],
)
def test_conditions_join_as_in_other_languages(text: str, condition: object) -> None:
    assert parse_filter(text) == condition


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("metrics.mcc >", r"it ends where a number.*\(character 14\)"),
        ("depth > 0.5", r"'depth' stands where a metric or one of metrics\."),
        ("metrics.mc > 0.5", r"no metric 'mc'.*Did you mean .*mcc"),
        ("metrics.recall > 0.5", r"Name the class: metrics.recall\[…\]; or.*macro_recall"),
        ("metrics.mcc[df] > 0.5", r"'mcc' of a class.*recall, precision, f1, support"),
        ("metrics.mcc > 'x'", "compared with a number"),
        ("metrics.mcc like '%'", "compared with a number"),
        ("metrics.mcc > 1e999", "too large"),
        ("metrics.accuracy < 80%", r"'%' at character 22 cannot be read.*Write 80 % as 0.8\."),
        (f"tags.a = {10**30}", "too large"),
        ("metrics.mcc > 0.5 metrics.mcc < 1", r"'metrics' stands where the end, `and` or `or`"),
        ("(tags.a = 1", r"it ends where `\)`"),
        ("tags.a = 1)", r"'\)' stands where the end"),
        ("tags.a in ()", r"'\)' stands where a number, a text in quotes"),
        ("tags.a not = 1", "`in` was expected"),
        ("tags.a = x", "'x' stands where a number, a text in quotes"),
        ("tags.a = 'x", r"the quote at character 10 is not closed.*''"),
        ("mcc@site=z and mcc > 0.5", "'and' stands where one of ="),
        ("mcc@site!=z > 0.5", "at character 4 cannot be read.*A slice is name=value"),
        ("mcc@site='z' > 0.5", r'cannot be read.*double quotes: @site="z"'),
        ("worst(mcc, by='site') > 0.5", "cannot be read|was expected"),
        ("tags.a = 1 & tags.b = 2", r"'& tags.b = 2' at character 12 cannot be read"),
        ("tags.a like 1", "`like` needs a text"),
        ("tags.a > true", "true and false"),
        ("tags.a = 'x\0'", "NUL"),
        ("attributes.password = 'x'", "no attribute 'password'.*Known attributes: id, name"),
        ("attributes.__class__ = 'x'", "cannot be read|no attribute"),
        ("attributes.name.x = 'x'", "was expected"),
        ("attributes.name = 1", "name is compared with a text in quotes"),
        ("attributes.state = 'broken'", "no state 'broken'.*open, finished, evaluated, failed"),
        ("attributes.badge = 1", "badge is compared with = true"),
        ("attributes.n_predictions = 'many'", "compared with a number"),
        ("attributes.created_at > 3", "a time is compared with a text"),
        ("attributes.created_at > 'soon'", "'soon' is not a time.*2026-11-20"),
        ("attributes.created_at > '2026-11-20T10:00'", "has no time zone"),
        ("attributes.created_at > '2026-W47T08'", "has no time zone"),
        ("attributes.created_at = '2026-11-20'", "a date is its first moment.*< '2026-11-21'"),
        ("attributes.created_at != '2026-11-20'", "a date is its first moment"),
        ("attributes.finished_at not in ('2026-12-31')", "a date is .*< '2027-01-01'"),
        ("attributes.created_at = '9999-12-31'", "a date is its first moment"),
        ("attributes.created_at <= '2026-11-20'", "leaves out the day.*< '2026-11-21' to include"),
        ("attributes.finished_at <= '9999-12-31'", "leaves out the day"),
        ("attributes.created_at > '0001-01-01T00:00+14:00'", "out of range"),
        ("(" * 40 + "tags.a = 1" + ")" * 40, "nested more than 25 deep"),
        ("not " * 40 + "tags.a = 1", "nested more than 25 deep"),
        (" and ".join(["tags.a = 1"] * 101), "more than 100 comparisons"),
        (f"tags.a in ({','.join(['1'] * 501)})", "more than 500 values"),
        ("x" * 4_001, "4,001 characters; at most 4,000"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refusal:
        parse_filter(text)

    assert refusal.value.field == "filter"
    assert refusal.value.hint


def test_an_order_names_fields_and_directions() -> None:
    order = parse_order(["metrics.mcc desc", "params.lr", "attributes.name ASC"])

    assert order == (
        Ordering(MetricField("mcc"), descending=True),
        Ordering(ParamField("lr")),
        Ordering(AttributeField(Attribute.NAME)),
    )


def test_a_single_order_needs_no_list() -> None:
    assert parse_order("metrics.mcc desc") == (Ordering(MetricField("mcc"), descending=True),)


@pytest.mark.parametrize("text", ["metrics.mcc down", "depth", "metrics.mcc desc desc", ""])
def test_an_order_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="expected") as refusal:
        parse_order([text])

    assert refusal.value.field == "order_by"


def test_an_order_names_no_place_in_a_text_that_the_caller_did_not_write() -> None:
    with pytest.raises(InvalidInput, match=r"no metric 'nope' of a whole run\. "):
        parse_order(["metrics.nope asc"])


def test_too_many_orders_are_refused() -> None:
    with pytest.raises(InvalidInput, match="9 fields to sort by"):
        parse_order(["tags.a"] * 9)
