"""The parser of a filter and of a sort order.

filter     = any
any        = all { "or" all }
all        = one { "and" one }
one        = "not" one | "(" any ")" | comparison
comparison = field operator value | field ["not"] "in" "(" value { "," value } ")"
order      = field [ "asc" | "desc" ]
field      = [ "metrics." ] metric | ("params." | "tags." | "attributes.") name
metric     = [ "low" | "high" ] ( value | ("worst" | "gap") "(" value ", by=" column ")" )
value      = key [ "[" class "]" ] [ "@" slice ]
"""

from __future__ import annotations

from collections.abc import Iterable

from offdiag.errors import Malformed
from offdiag.filters.conditions import (
    EVERYTHING,
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    MetricField,
    Not,
    Operand,
    Operator,
    Ordering,
)
from offdiag.filters.fields import RequestedField, fitting, read_field
from offdiag.filters.tokens import Kind, Reader, tokens_of

MAX_COMPARISONS = 100
MAX_DEPTH = 25
MAX_LISTED = 500
MAX_ORDERINGS = 8

_SAME = {"==": "=", "<>": "!="}
_CONSTANTS: dict[str, bool] = {"true": True, "false": False}


def parse_filter(text: str, *, field: str = "filter") -> Condition:
    """The condition in `metrics.macro_f1 > 0.8 and tags.team = 'x'`; empty means all runs.

    Raises `Malformed` naming the position, what was found there and what was expected.
    """
    reader = Reader(tokens_of(text, field=field), field)
    if reader.is_at_end():
        return EVERYTHING
    condition = _any(reader, depth=0)
    if not reader.is_at_end():
        raise reader.unexpected("the end, `and` or `or`")
    return condition


def read_metric(text: str, *, field: str = "metric") -> MetricField | None:
    """The metric in `recall[a]@site=z`; None if the name stands for one of several metrics.

    Raises `Malformed`.
    """
    reader = Reader(tokens_of(text, field=field), field)
    found = read_field(reader)
    if not reader.is_at_end():
        raise reader.unexpected("the end")
    (first, *others) = found.fields
    return first if isinstance(first, MetricField) and not others else None


def parse_order(texts: Iterable[str], *, field: str = "order_by") -> tuple[Ordering, ...]:
    """The sort keys in `["metrics.mcc desc", "attributes.name"]`, in their order.

    Raises `Malformed`.
    """
    listed = [texts] if isinstance(texts, str) else list(texts)
    if len(listed) > MAX_ORDERINGS:
        raise Malformed(
            f"{len(listed)} fields to sort by are given; at most {MAX_ORDERINGS} are used.",
            field=field,
            hint="Leave out the last ones: they only break ties of those before.",
        )
    return tuple(ordering for text in listed for ordering in _orderings(text, field))


def _orderings(text: str, field: str) -> tuple[Ordering, ...]:
    """One ordering for each field that the name can mean; runs without the first come last."""
    reader = Reader(tokens_of(text, field=field), field, names_places=False)
    by = read_field(reader)
    if any(isinstance(each, MetricField) and each.is_of_slices for each in by.fields):
        raise reader.error("runs cannot be sorted by a slice", hint="Filter by it.")
    descending = reader.takes_word("desc")
    if not descending:
        reader.takes_word("asc")
    if not reader.is_at_end():
        raise reader.unexpected("`asc`, `desc` or the end")
    return tuple(Ordering(each, descending is not by.is_negated) for each in by.fields)


def _any(reader: Reader, *, depth: int) -> Condition:
    found = [_all(reader, depth=depth)]
    while reader.takes_word("or"):
        found.append(_all(reader, depth=depth))
    return found[0] if len(found) == 1 else AnyOf(tuple(found))


def _all(reader: Reader, *, depth: int) -> Condition:
    found = [_one(reader, depth=depth)]
    while reader.takes_word("and"):
        found.append(_one(reader, depth=depth))
    return found[0] if len(found) == 1 else AllOf(tuple(found))


def _one(reader: Reader, *, depth: int) -> Condition:
    if depth > MAX_DEPTH:
        raise Malformed(
            f"conditions are nested more than {MAX_DEPTH} deep.",
            field=reader.field,
            hint="Leave out parentheses that change nothing.",
        )
    if reader.takes_word("not"):
        return Not(_one(reader, depth=depth + 1))
    if reader.takes_mark("("):
        inner = _any(reader, depth=depth + 1)
        reader.require_mark(")")
        return inner
    return _comparison(reader)


def _comparison(reader: Reader) -> Condition:
    reader.count_comparison(MAX_COMPARISONS)
    asked = read_field(reader)
    if reader.takes_word("not"):
        if not reader.takes_word("in"):
            raise reader.unexpected("`in`")
        return Not(_listed(reader, asked))
    if reader.takes_word("in"):
        return _listed(reader, asked)
    if reader.takes_word("like"):
        operator = Operator.LIKE
    elif reader.token.kind is Kind.OPERATOR:
        text = reader.take().text
        operator = Operator(_SAME.get(text, text))
    else:
        raise reader.unexpected("one of = != > >= < <= in like")
    return _condition(asked, operator, (_operand(reader, asked, operator),))


def _condition(
    asked: RequestedField, operator: Operator, operands: tuple[Operand, ...]
) -> Condition:
    """The comparison with the field that a name means, which may depend on the run."""
    if asked.is_negated:
        operator = operator.reversed
        operands = tuple(-each for each in operands if isinstance(each, int | float))
    found: list[Condition] = []
    for field, is_two in zip(asked.fields, asked.n_classes_is_two, strict=True):
        compared = Comparison(field, operator, operands)
        how_many = Operator.EQUAL if is_two else Operator.UNEQUAL
        of_classes = Comparison(MetricField("n_classes"), how_many, (2,))
        found.append(compared if is_two is None else AllOf((of_classes, compared)))
    return found[0] if len(found) == 1 else AnyOf(tuple(found))


def _listed(reader: Reader, asked: RequestedField) -> Condition:
    reader.require_mark("(")
    operands = [_operand(reader, asked, Operator.IN)]
    while reader.takes_mark(","):
        operands.append(_operand(reader, asked, Operator.IN))
        if len(operands) > MAX_LISTED:
            raise Malformed(
                f"more than {MAX_LISTED} values are listed at character "
                f"{reader.token.position + 1}.",
                field=reader.field,
                hint="Search in several steps.",
            )
    reader.require_mark(")")
    return _condition(asked, Operator.IN, tuple(operands))


def _operand(reader: Reader, asked: RequestedField, operator: Operator) -> Operand:
    token = reader.token
    written: str | float | int | bool
    if token.kind is Kind.TEXT:
        written = token.content
    elif token.kind is Kind.NUMBER:
        written = int(token.text) if token.text.lstrip("+-").isdigit() else float(token.text)
    elif token.kind is Kind.NAME and token.text.lower() in _CONSTANTS:
        written = _CONSTANTS[token.text.lower()]
    else:
        raise reader.unexpected("a number, a text in quotes, true or false")
    operand = fitting(written, asked.fields[0], operator, reader)
    reader.take()
    return operand
