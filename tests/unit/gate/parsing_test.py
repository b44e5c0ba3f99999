"""The language of conditions: what is read, and where a text stops to be a condition."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.domain.slices import column_text, parse_slice, slice_of, slice_text
from offdiag.errors import InvalidInput
from offdiag.filters.conditions import Comparison, MetricField, Over, Side
from offdiag.filters.parsing import parse_filter
from offdiag.flags.verdict import Sign
from offdiag.gate.conditions import MetricCondition, NoBadge, NoFlag, parse_condition


def metric_condition(text: str, **facts: Any) -> MetricCondition:
    usual = {"class_label": None, "side": Side.VALUE, "of_difference": False}
    return MetricCondition(text=text, **(usual | {"sign": Sign.AT_LEAST} | facts))


def test_a_metric_of_the_whole_matrix_is_compared_with_a_number() -> None:
    assert parse_condition("mcc>=0.5") == metric_condition("mcc>=0.5", key="mcc", threshold=0.5)


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("n>5", Sign.ABOVE),
        ("n>=5", Sign.AT_LEAST),
        ("n<5", Sign.BELOW),
        ("n<=5", Sign.AT_MOST),
        ("n=5", Sign.EQUAL),
        ("n==5", Sign.EQUAL),
    ],
)
def test_every_sign_means_what_it_says(text: str, sign: Sign) -> None:
    assert parse_condition(text) == metric_condition(text, key="n", sign=sign, threshold=5.0)


def test_one_end_of_the_interval_of_a_difference_of_a_class_can_be_asked_for() -> None:
    text = "low( diff( recall[df] ) ) >= -2e-2"

    assert parse_condition(text) == metric_condition(
        text, key="recall", class_label="df", side=Side.LOW, of_difference=True, threshold=-0.02
    )


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("f1[a b]>=0", "a b"),
        ("f1[ a]>=0", " a"),
        ("f1[a>=1]>=0", "a>=1"),
        ("f1[no-flag F4]>=0", "no-flag F4"),
        ('f1["a]"]>=0', "a]"),
        ('f1["\\u00e4\\""]>=0', 'ä"'),
        ("f1[]>=0", ""),
    ],
)
def test_a_class_may_have_any_name(text: str, label: str) -> None:
    condition = parse_condition(text)

    assert isinstance(condition, MetricCondition)
    assert (condition.key, condition.class_label) == ("f1", label)


def test_a_metric_may_be_called_like_a_function() -> None:
    condition = parse_condition("low>=1")

    assert isinstance(condition, MetricCondition)
    assert (condition.key, condition.side) == ("low", Side.VALUE)


def test_flags_and_the_badge_can_be_forbidden() -> None:
    assert parse_condition(" no-warning ") == NoBadge(text="no-warning")
    assert parse_condition("no-badge") == NoBadge(text="no-badge"), "its name before"
    assert parse_condition("no-flag f4") == NoFlag(text="no-flag f4", rule="F4", class_label=None)
    assert parse_condition("no-possible-warning") == NoBadge(
        text="no-possible-warning", even_possible=True
    )
    assert parse_condition("no-possible-flag F4") == NoFlag(
        text="no-possible-flag F4", rule="F4", class_label=None, even_possible=True
    )
    assert parse_condition("no-flag F4[df]") == NoFlag(
        text="no-flag F4[df]", rule="F4", class_label="df"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a metric is expected at the end"),
        ("mcc", "one of >=, >, <=, < and = is expected at the end"),
        ("mcc>=", "a number is expected at the end"),
        ("mcc>=high", "a number is expected before 'high'"),
        ("mcc>=nan", "a number is expected"),
        ("recall[a]>=80%", "a number, as 0.8 for 80 %, is expected before '80%'"),
        ("mcc>=inf", "a number is expected"),
        ("mcc>=0_1", "a number is expected before '0_1'"),
        ("mcc>=0.5 or f1>=1", "a number is expected before '0.5 or f1>=1'"),
        ("recall[a>=1", "the bracket behind the class is missing"),
        ('recall["a>=1', "the quote behind the class is missing"),
        ('recall["a"b]>=1', "the bracket behind the class is missing"),
        ("low(mcc>=0", "a closing bracket is missing"),
        ("mcc)>=0", "before ')>=0'"),
        ("sqrt(mcc)>=0", "'sqrt' cannot be applied there"),
        ("diff(low(mcc))>=0", "'low' cannot be applied there"),
        ("low(low(mcc))>=0", "'low' cannot be applied there"),
        ("no-flag", "the id of a rule is expected at the end"),
        ("no-flag F4 F5", "nothing more is expected before 'F5'"),
        ("no-flag F99", "there is no rule 'F99'"),
        ("no-flag F5[a]", "rule F5 is about the run as a whole, not about class 'a'"),
        ("no-warning now", "is not a condition"),
    ],
)
def test_a_text_that_is_no_condition_is_refused_where_it_goes_wrong(text: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_condition(text)

    assert says in str(refused.value)
    assert refused.value.field == "condition"
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("recall[ill]@site=z >= 0.8", "site=z"),
        ("recall[ill]@site=z>=0.8", "site=z"),
        ("low(recall[ill]@site=z)>=0.8", "site=z"),
        ("low(recall[ill])@site=z>=0.8", "site=z"),
        ("low(diff(recall[ill]))@site=z & device=old phone>=-0.8", "device=old phone & site=z"),
        ('recall[ill]@"a=b"="c<d" = 0.8', '"a=b"="c<d"'),
    ],
)
def test_a_metric_can_be_of_a_slice(text: str, part: str) -> None:
    condition = parse_condition(text)

    assert isinstance(condition, MetricCondition)
    assert condition.part == parse_slice(part)
    assert (condition.key, condition.class_label) == ("recall", "ill")
    assert (condition.over, condition.by) == (None, None)


@pytest.mark.parametrize(
    "name", ["a!", "!", "!a", "a!b", "'a'", "'s-Hertogenbosch", "a and b", "made in", "Not", "or"]
)
def test_any_name_can_be_written_in_a_condition(name: str) -> None:
    part = slice_of([(name, name)])
    of_slice = parse_condition(f"mcc@{slice_text(part)}>=0.5")
    of_groups = parse_condition(f"worst(mcc, by={column_text(name)})>=0.5")

    assert isinstance(of_slice, MetricCondition)
    assert isinstance(of_groups, MetricCondition)
    assert (of_slice.part, of_groups.by) == (part, name)
    found = parse_filter(f"mcc@{slice_text(part)} != 0.5")
    assert isinstance(found, Comparison)
    assert found.field == MetricField("mcc", part=part)


@pytest.mark.parametrize(
    ("text", "over", "by", "side"),
    [
        ("worst(recall, by=site) >= 0.7", Over.WORST, "site", Side.VALUE),
        ("low(worst(recall,by=site))>=0.7", Over.WORST, "site", Side.LOW),
        ("high( gap( recall , by = skin tone ) )<=0.1", Over.GAP, "skin tone", Side.HIGH),
        ('gap(recall, by="a)b")<=0.1', Over.GAP, "a)b", Side.VALUE),
    ],
)
def test_a_metric_can_be_compared_over_all_groups_of_a_column(
    text: str, over: Over, by: str, side: Side
) -> None:
    condition = parse_condition(text)

    assert isinstance(condition, MetricCondition)
    assert (condition.over, condition.by, condition.side) == (over, by, side)
    assert (condition.key, condition.part) == ("recall", None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("recall@ >= 1", "a slice is expected before '>= 1'"),
        ("recall@site >= 1", "a slice is expected"),
        ("recall@site!=z >= 1", "a slice is expected before 'site!=z >= 1'"),
        ("recall@site='z' >= 1", "a slice is expected before"),
        ("recall@site=z and mcc >= 1", "one of >=, >, <=, < and = is expected"),
        ("worst(recall, by='site')>=1", "a slice column is expected"),
        ("recall@site=>=1", "a slice is expected"),
        ("worst(recall)>=1", "', by=' and a slice column are expected"),
        ("worst(recall, of=site)>=1", "', by=' and a slice column are expected"),
        ("worst(recall, by=)>=1", "a slice column is expected before ')>=1'"),
        ("worst(low(recall), by=site)>=1", "'low' cannot be applied there"),
        ("worst(diff(recall), by=site)>=1", "'diff' cannot be applied there"),
        ("gap(worst(recall, by=a), by=b)>=1", "'worst' cannot be applied there"),
        ("worst(recall@a=b, by=site)>=1", "a slice and by=site cannot be combined"),
        ("worst(recall, by=site)@a=b>=1", "a slice and by=site cannot be combined"),
    ],
)
def test_a_slice_that_is_none_is_refused_where_it_goes_wrong(text: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_condition(text)

    assert says in str(refused.value)
