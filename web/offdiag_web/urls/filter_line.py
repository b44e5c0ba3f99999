"""The filter line of the runs list: `dataset:digits -tag:draft recall(df):<0.5 "two words"`.

Terms are separated by spaces and must all hold. Text in quotes is taken literally (with a
backslash before a quote that belongs to it), a leading minus negates a term, and `*` stands for
any characters, except after a backslash in quotes. After `slice:site=z` all metrics are those of a
slice, and `recall[df]@site=z>=0.5` is a condition as in gates. A term that cannot be understood is
kept, shown with the reason, and left out of the search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from offdiag.domain.number_text import read_number
from offdiag.domain.runs import RunState
from offdiag.domain.sentences import known_names
from offdiag.domain.slices import Slice, parse_slice
from offdiag.errors import InvalidInput
from offdiag.filters.conditions import (
    Attribute,
    AttributeField,
    Comparison,
    Condition,
    MetricField,
    Not,
    Operator,
)
from offdiag.filters.fields import CLASS_METRICS, WHOLE_METRICS
from offdiag.filters.parsing import parse_filter as parse_condition
from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState
from offdiag.metrics.names import find_metric, meanings
from offdiag.store.run_filter import FilterField, FilterTerm
from offdiag_web.urls.query_string import with_query

SHORT_METRICS = {
    "acc": "overall_accuracy",
    "bal": "balanced_accuracy",
    "mcc": "mcc",
    "f1": "macro_f1",
}
"""Metrics of a run with a short name in the filter line; all others are named by their key."""

_COMPARED = re.compile(r"(>=|<=|!=|=|>|<)(.+)", re.DOTALL)
_AGO = re.compile(r"(\d{1,6})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class Unclear(Exception):
    """A value is invalid; the text says which values are allowed."""


def metric_comparison(name: str, class_label: str | None, value: str) -> Comparison:
    """A condition such as `acc:>0.8` or `recall(df):<0.5`. Raises `Unclear`."""
    if class_label is not None:
        found = find_metric(name, CLASS_METRICS)
        if found is None:
            raise Unclear(f"of one class there are {', '.join(CLASS_METRICS)}")
    else:
        found = find_metric(SHORT_METRICS.get(name, name), WHOLE_METRICS)
        if found is None:
            raise Unclear(f"it is of one class: {name}(class):>0.8")
    compared = _COMPARED.fullmatch(value)
    shown = name if class_label is None else f"{name}({class_label})"
    if compared is None:
        raise Unclear(f"compare it with a number, as in {shown}:>0.8")
    operator, text = compared.groups()
    try:
        number = read_number(text)
    except ValueError:
        raise Unclear(f"{text} is not a number") from None
    # Numbers beyond these cannot be compared with a metric.
    if not -1e300 < number < 1e300:
        raise Unclear(f"{text} is not a number that a metric can have")
    plain = Operator(operator)
    if found.is_negated:
        plain, number = plain.reversed, 0.0 - number
    return Comparison(MetricField(found.key, class_label), plain, (number,))


def is_metric(name: str) -> bool:
    """Whether a key before a colon names a metric of a run or of a class."""
    return name in SHORT_METRICS or bool(meanings(name, {*WHOLE_METRICS, *CLASS_METRICS}))


def logged_since(value: str, now: datetime) -> Comparison:
    """Runs logged at this time or later. Raises `Unclear`."""
    return Comparison(_LOGGED, Operator.AT_LEAST, (_moment(value, now),))


def logged_before(value: str, now: datetime) -> Comparison:
    """Runs logged before this time. Raises `Unclear`."""
    return Comparison(_LOGGED, Operator.LESS, (_moment(value, now),))


_LOGGED = AttributeField(Attribute.CREATED_AT)


def _moment(value: str, now: datetime) -> datetime:
    ago = _AGO.fullmatch(value)
    try:
        if ago is not None:
            number, unit = ago.groups()
            return now - timedelta(hours=int(number) * _HOURS[unit])
        moment = datetime.fromisoformat(value)
        # A date, or a time without a zone, is read as UTC, the zone in which times are shown.
        if moment.utcoffset() is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unclear("a time is 12h, 30d, 2w or a date such as 2026-11-20") from None


_QUOTED = r'"(?:\\.|[^"\\])*"'
_GROUPS = r",\s+(?=by=)"
"""The start of a condition over groups, written as in gates: the only space within a term."""
_TOKEN = re.compile(rf'(?:{_GROUPS}|[^\s"]|{_QUOTED}|".*)+', re.DOTALL)
_CLOSED = re.compile(rf'(?:{_GROUPS}|[^\s"]|{_QUOTED})*', re.DOTALL)
_KEY = re.compile(rf'([A-Za-z][A-Za-z0-9_]*)(?:\(((?:[^()"]|{_QUOTED})+)\))?:(.*)', re.DOTALL)
_TRUTH_VERSION = re.compile(r"(.+)@v(\d{1,9})", re.DOTALL)
_TAG = re.compile(rf'((?:[^="]|{_QUOTED})+)=(.*)', re.DOTALL)
_NEEDS_QUOTES = re.compile(r'[\s:="*<>!]|^-|@v\d+$')

STATE_WORDS: Mapping[str, RunState] = {
    "open": RunState.OPEN,
    "queued": RunState.FINISHED,
    "finished": RunState.FINISHED,
    "evaluated": RunState.EVALUATED,
    "failed": RunState.FAILED,
}
FLAG_WORDS = ("any", "none", *FlagState)
"""Values for the flags of a run, in addition to the names of rules."""


@dataclass(frozen=True, slots=True)
class ParsedTerm:
    """One term as typed, and what it means or why it is invalid."""

    text: str
    term: FilterTerm | Condition | None = None
    problem: str | None = None
    part: Slice | None = None
    """The slice to which the metrics of all other terms refer."""


def parse_filter(text: str, *, now: datetime | None = None) -> tuple[ParsedTerm, ...]:
    """All terms of a filter line, in order. `now` is what `since:30d` counts from."""
    moment = now or datetime.now(UTC)
    terms = tuple(_parsed(match.group(), moment) for match in _TOKEN.finditer(text))
    parts = [each.part for each in terms if each.part is not None]
    if not parts:
        return terms
    if len(parts) > 1:
        why = "one slice is enough; join its conditions with &"
        return tuple(each if each.part is None else replace(each, problem=why) for each in terms)
    on_slice = tuple(
        each if each.term is None else replace(each, term=_on_slice(each.term, parts[0]))
        for each in terms
    )
    if on_slice == terms:
        why = "no metric stands beside it: add one, as in recall(class)<0.5"
        return tuple(each if each.part is None else replace(each, problem=why) for each in terms)
    return on_slice


def _on_slice(term: FilterTerm | Condition, part: Slice) -> FilterTerm | Condition:
    """Apply the slice to metrics of all samples."""
    match term:
        case Not(inner):
            found = _on_slice(inner, part)
            return term if isinstance(found, FilterTerm) else Not(found)
        case Comparison(field=MetricField() as field) if not field.is_of_slices:
            return replace(term, field=replace(field, part=part))
        case _:
            return term


def filter_text(terms: tuple[ParsedTerm, ...]) -> str:
    """The filter line that consists of these terms."""
    return " ".join(term.text for term in terms)


def quoted(value: str) -> str:
    """A value as it has to be typed, with quotes if it would otherwise mean something else."""
    if not _NEEDS_QUOTES.search(value):
        return value
    escaped = re.sub(r'([\\"*])', r"\\\1", value)
    return f'"{escaped}"'


def dataset_terms(dataset: str, project: str | None) -> str:
    """The runs on a dataset; `project` is None where the name alone says which."""
    in_project = "" if project is None else f"project:{quoted(project)} "
    return f"{in_project}dataset:{quoted(dataset)}"


def runs_where(line: str, selected: str = "") -> str:
    """The list of the runs that a filter line means; `selected` is the id of one of them."""
    return with_query("/runs", {"q": line, "sel": selected or None})


def _parsed(text: str, now: datetime) -> ParsedTerm:
    if _CLOSED.fullmatch(text) is None:
        return ParsedTerm(text, problem="the quote is not closed")
    negated = text.startswith("-") and len(text) > 1
    body = text[1:] if negated else text
    found = _compared_term(text, body, negated)
    if found is not None:
        return found
    keyed = _KEY.fullmatch(body)
    if keyed is None:
        why = _no_name(body)
        return ParsedTerm(text, None if why else _plain(FilterField.NAME)(body, negated), why)
    key, class_label, value = keyed.groups()
    try:
        return ParsedTerm(text, _understood(key, class_label, value, negated, now))
    except Unclear as reason:
        return ParsedTerm(text, problem=str(reason))


_WORDS = {
    "and": "all terms must hold, so leave it out",
    "or": "all terms must hold; `offdiag runs list --filter` has `or`",
    "not": "a minus before a term excludes it, as in -tag:draft",
}
"""What to do instead of words that other filters have; in quotes they are names."""
_COMPARES = re.compile(r"([A-Za-z][\w.]*)?(>=|<=|!=|<>|==|=|>|<)")


def _no_name(body: str) -> str | None:
    """Why a term is probably not meant as a part of a name; None if it may be."""
    if body.lower() in _WORDS:
        return _WORDS[body.lower()]
    found = _COMPARES.match(body)
    if found is None:
        other = re.search("[<>]", re.sub(_QUOTED, "", body))
        return None if other is None else f"a name with {other.group()} needs quotes"
    name, sign = found.groups()
    if name is None:
        return f"no blanks around {sign}, as in acc>0.8"
    if name.lower() in _READERS:
        return f"write {name.lower()}:{body[found.end() :]}"
    if name.lower().startswith("tags."):
        return f"write tag:{name[5:]}={body[found.end() :]}"
    # Names of runs may contain values of parameters, such as lr=0.1.
    return None if sign == "=" else f"no metric is called {name}; a name with {sign} needs quotes"


_OF_SLICE = "slice:"
_NO_SLICE = re.compile(r"""!=|=\s*'([^']*)'\s*(?:&|$)""")
"""What looks like a slice and names another one than was probably meant."""
_WRITTEN = re.compile(r"(?:low|high|worst|gap)\(|([a-z][a-z0-9_]*)[\[@]")
"""The start of a condition that is written as in gates."""
_BARE = re.compile(rf'([A-Za-z][A-Za-z0-9_]*)(?:\(((?:[^()"]|{_QUOTED})+)\))?(?=[<>=!])')
"""A metric that is compared without a colon."""


_NEVER_EXCLUDED = "a slice cannot be excluded; negate the metrics beside it"


def _slice_term(text: str, body: str) -> ParsedTerm:
    meant = _NO_SLICE.search(re.sub(_QUOTED, '""', body))
    if meant is not None:
        why = f'write the value in double quotes: "{meant[1]}"' if meant[1] else _NEVER_EXCLUDED
        return ParsedTerm(text, problem=why)
    try:
        return ParsedTerm(text, part=parse_slice(body))
    except InvalidInput as reason:
        return ParsedTerm(text, problem=reason.message.rstrip("."))


def _compared_term(text: str, body: str, negated: bool) -> ParsedTerm | None:
    """A term that is a slice, or a metric without a colon; None for any other term."""
    bare, written = _BARE.match(body), _WRITTEN.match(body)
    if body.startswith(_OF_SLICE):
        if negated:
            return ParsedTerm(text, problem=_NEVER_EXCLUDED)
        return _slice_term(text, body.removeprefix(_OF_SLICE))
    if bare is not None and is_metric(bare[1].lower()):
        return _bare_term(text, body, bare, negated)
    if written is not None and (written[1] is None or is_metric(written[1])):
        return _condition_term(text, body, negated)
    return None


def _bare_term(text: str, body: str, found: re.Match[str], negated: bool) -> ParsedTerm:
    """A metric without a colon, its class in round brackets: `recall(df)<0.5`."""
    name, label = found.groups()
    class_label = None if label is None else _unquoted(label)
    try:
        condition = metric_comparison(name.lower(), class_label, _unquoted(body[found.end() :]))
    except Unclear as reason:
        return ParsedTerm(text, problem=str(reason))
    return ParsedTerm(text, Not(condition) if negated else condition)


def _condition_term(text: str, body: str, negated: bool) -> ParsedTerm:
    """A condition such as `recall[df]@site=z>=0.5`."""
    try:
        condition = parse_condition(body)
    except InvalidInput as reason:
        return ParsedTerm(text, problem=reason.message.rstrip("."))
    return ParsedTerm(text, Not(condition) if negated else condition)


def _understood(
    written: str, class_label: str | None, value: str, negated: bool, now: datetime
) -> FilterTerm | Condition:
    key = written.lower()
    if key not in _READERS and key not in _MOMENTS and not is_metric(key):
        known = (*_READERS, *_MOMENTS, "acc", "bal", "mcc", "f1", "recall[class]")
        raise Unclear(
            f"there is no filter {written!r}. {known_names('filters', known).rstrip('.')}"
        )
    if not _unquoted(value).strip():
        raise Unclear(f"nothing follows {key}:")
    if key in _READERS:
        return _READERS[key](value, negated)
    if key in _MOMENTS:
        condition = _MOMENTS[key](_unquoted(value), now)
    else:
        label = None if class_label is None else _unquoted(class_label)
        condition = metric_comparison(key, label, _unquoted(value))
    return Not(condition) if negated else condition


def _unquoted(text: str) -> str:
    """The text with its quotes resolved."""
    return re.sub(_QUOTED, lambda found: _unescaped(found.group()[1:-1]), text, flags=re.DOTALL)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _dataset(value: str, negated: bool) -> FilterTerm:
    version = _TRUTH_VERSION.fullmatch(value)
    if version is None:
        return _plain(FilterField.DATASET)(value, negated)
    name, number = version.groups()
    return replace(_plain(FilterField.DATASET)(name, negated), truth_number=int(number))


def _state(value: str, negated: bool) -> FilterTerm:
    state = STATE_WORDS.get(_unquoted(value))
    if state is None:
        raise Unclear(f"a state is one of {', '.join(STATE_WORDS)}")
    return FilterTerm(FilterField.STATE, state, negated)


def _flag(value: str, negated: bool) -> FilterTerm:
    text = _unquoted(value)
    rule = next((rule for rule in RULES if rule.lower() == text.lower()), None)
    if rule is None and text not in FLAG_WORDS:
        raise Unclear(f"a flag is one of {', '.join(FLAG_WORDS)} or a rule such as F3")
    return FilterTerm(FilterField.FLAG, rule or text, negated)


_OTHER_SIGNS = re.compile(r"[<>:]|!$")


def _tag(value: str, negated: bool) -> FilterTerm:
    parts = _TAG.fullmatch(value)
    key, wanted = parts.groups() if parts else (value, None)
    if _OTHER_SIGNS.search(re.sub(_QUOTED, "", key)) or (wanted or "").startswith("="):
        raise Unclear("a tag is compared with =, as in tag:fold=3; -tag:fold=3 excludes it")
    _require_no_pattern(value)
    sought = None if wanted is None else _unquoted(wanted)
    return FilterTerm(FilterField.TAG, _unquoted(key), negated, value=sought)


def _require_no_pattern(value: str) -> None:
    if "*" in re.sub(_QUOTED, "", value):
        raise Unclear("* is not a pattern here; in quotes it is a character")


def _plain(field: FilterField) -> Callable[[str, bool], FilterTerm]:
    def read(value: str, negated: bool) -> FilterTerm:
        literal = re.sub(_QUOTED, lambda found: re.sub(r"\\.", "", found.group()), value)
        return FilterTerm(field, _unquoted(value), negated, is_pattern="*" in literal)

    return read


def _without_pattern(field: FilterField) -> Callable[[str, bool], FilterTerm]:
    def read(value: str, negated: bool) -> FilterTerm:
        _require_no_pattern(value)
        return FilterTerm(field, _unquoted(value), negated)

    return read


_READERS: Mapping[str, Callable[[str, bool], FilterTerm]] = {
    "dataset": _dataset,
    "model": _plain(FilterField.MODEL),
    "state": _state,
    "tag": _tag,
    "project": _plain(FilterField.PROJECT),
    "author": _plain(FilterField.AUTHOR),
    "run": _without_pattern(FilterField.RUN),
    "class": _without_pattern(FilterField.CLASS),
    "flag": _flag,
}
_MOMENTS: Mapping[str, Callable[[str, datetime], Condition]] = {
    "since": logged_since,
    "before": logged_before,
}
