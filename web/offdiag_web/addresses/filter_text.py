"""The filter line of the runs list: `dataset:digits -tag:draft "two words"`.

Terms are separated by spaces and must all hold. Quotes take everything between them as it is
(a backslash in front of a quote that belongs to the text), a minus in front turns a term round,
`*` stands for any characters. A term that cannot be understood is kept, shown with the reason,
and left out of the search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from offdiag.domain.runs import RunState
from offdiag.store.queries.run_filter import FilterField, FilterTerm

_QUOTED = r'"(?:\\.|[^"\\])*"'
_TOKEN = re.compile(rf'(?:[^\s"]|{_QUOTED}|".*)+', re.DOTALL)
_CLOSED = re.compile(rf'(?:[^\s"]|{_QUOTED})*', re.DOTALL)
_KEY = re.compile(r"([a-z]+):(.*)", re.DOTALL)
_TRUTH_VERSION = re.compile(r"(.+)@v(\d{1,9})", re.DOTALL)
_TAG = re.compile(rf'((?:[^="]|{_QUOTED})+)=(.*)', re.DOTALL)
_NEEDS_QUOTES = re.compile(r'[\s:="]|^-|@v\d+$')

STATE_WORDS: Mapping[str, RunState] = {
    "open": RunState.OPEN,
    "queued": RunState.FINISHED,
    "finished": RunState.FINISHED,
    "evaluated": RunState.EVALUATED,
    "failed": RunState.FAILED,
}


@dataclass(frozen=True, slots=True)
class ParsedTerm:
    """One term as typed, and what it means or why it means nothing."""

    text: str
    term: FilterTerm | None = None
    problem: str | None = None


def parse_filter(text: str) -> tuple[ParsedTerm, ...]:
    """All terms of a filter line, in order."""
    return tuple(_parsed(match.group()) for match in _TOKEN.finditer(text))


def filter_text(terms: tuple[ParsedTerm, ...]) -> str:
    """The filter line that consists of these terms."""
    return " ".join(term.text for term in terms)


def quoted(value: str) -> str:
    """A value as it has to be typed, in quotes where it would mean something else without."""
    if not _NEEDS_QUOTES.search(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _parsed(text: str) -> ParsedTerm:
    if _CLOSED.fullmatch(text) is None:
        return ParsedTerm(text, problem="the quote is not closed")
    negated = text.startswith("-") and len(text) > 1
    body = text[1:] if negated else text
    keyed = _KEY.fullmatch(body)
    if keyed is None:
        return ParsedTerm(text, FilterTerm(FilterField.NAME, _unquoted(body), negated))
    key, value = keyed.groups()
    reader = _READERS.get(key)
    if reader is None:
        known = ", ".join(_READERS)
        return ParsedTerm(text, problem=f"there is no filter {key!r}; known are {known}")
    if not _unquoted(value).strip():
        return ParsedTerm(text, problem=f"nothing follows {key}:")
    term = reader(value, negated)
    if term is None:
        return ParsedTerm(text, problem=f"a state is one of {', '.join(STATE_WORDS)}")
    return ParsedTerm(text, term)


def _unquoted(text: str) -> str:
    """The text with its quotes resolved."""
    return re.sub(_QUOTED, lambda found: _unescaped(found.group()[1:-1]), text, flags=re.DOTALL)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _dataset(value: str, negated: bool) -> FilterTerm:
    version = _TRUTH_VERSION.fullmatch(value)
    if version is None:
        return FilterTerm(FilterField.DATASET, _unquoted(value), negated)
    name, number = version.groups()
    return FilterTerm(FilterField.DATASET, _unquoted(name), negated, truth_number=int(number))


def _state(value: str, negated: bool) -> FilterTerm | None:
    state = STATE_WORDS.get(_unquoted(value))
    return None if state is None else FilterTerm(FilterField.STATE, state, negated)


def _tag(value: str, negated: bool) -> FilterTerm:
    parts = _TAG.fullmatch(value)
    key, wanted = parts.groups() if parts else (value, None)
    sought = None if wanted is None else _unquoted(wanted)
    return FilterTerm(FilterField.TAG, _unquoted(key), negated, value=sought)


def _plain(field: FilterField) -> Callable[[str, bool], FilterTerm]:
    return lambda value, negated: FilterTerm(field, _unquoted(value), negated)


_READERS: Mapping[str, Callable[[str, bool], FilterTerm | None]] = {
    "dataset": _dataset,
    "model": _plain(FilterField.MODEL),
    "state": _state,
    "tag": _tag,
    "project": _plain(FilterField.PROJECT),
}
