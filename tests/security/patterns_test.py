"""No text makes a pattern take longer than the text is long.

Patterns are gathered from the source; texts that make a backtracking matcher try the same thing
again and again are made from each pattern's own characters.
"""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

from support.source_rules import PACKAGES, ROOT, python_files

_FUNCTIONS = {"compile", "match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
_CALLED = re.compile(rf"\bre\s*\.\s*({'|'.join(sorted(_FUNCTIONS))})\b")
_FROM_START = {"match", "fullmatch"}
_LENGTH = 12_000
_MOST_CPU_S = 0.15
"""A pattern that tries every pair of places in such a text needs many times that."""


@dataclass(frozen=True)
class Found:
    """A pattern in the source, its flags, and how texts are held against it."""

    place: str
    pattern: str
    flags: int
    ways: tuple[str, ...]


def _constant(node: ast.expr, names: dict[str, str]) -> str | None:
    """The text of a literal, of a name of the module, or of an f-string of these."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Name(id=name):
            return names.get(name)
        case ast.JoinedStr(values=parts):
            texts = [_constant(part, names) for part in parts]
            return None if None in texts else "".join(map(str, texts))
        case ast.FormattedValue(value=value):
            return _constant(value, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            texts = [_constant(left, names), _constant(right, names)]
            return None if None in texts else "".join(map(str, texts))
    return None


def _patterns() -> Iterator[Found]:
    for path in python_files(PACKAGES):
        relative = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        if not _CALLED.search(source):
            continue
        tree = ast.parse(source)
        names: dict[str, str] = {}
        compiled = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                text = _constant(node.value, names)
                if text is not None:
                    names[node.targets[0].id] = text
                compiled[id(node.value)] = node.targets[0].id
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in _FUNCTIONS
            ):
                pattern = _constant(node.args[0], names)
                written = ast.unparse(node)
                flags = sum(
                    getattr(re, flag).value
                    for flag in ("ASCII", "DOTALL", "VERBOSE", "IGNORECASE", "MULTILINE")
                    if f"re.{flag}" in written
                )
                if pattern is not None:
                    ways = _ways(node.func.attr, compiled.get(id(node)), source)
                    yield Found(f"{relative}:{node.lineno}", pattern, flags, ways)


def _calls_of(name: str, source: str) -> set[str]:
    return set(re.findall(rf"\b{name}\.({'|'.join(_FUNCTIONS)})\b", source))


def _ways(called: str, name: str | None, source: str) -> tuple[str, ...]:
    """How a pattern is used: at the start of a text, for all of it, or anywhere in it."""
    used = {called}
    if called == "compile":
        # One that is handed to a function is called `pattern` there.
        used = _calls_of(name, source) or _calls_of("pattern", source) if name else set()
    return tuple(
        sorted({each if each in _FROM_START else "search" for each in used or {"search"}})
    )


def _characters(pattern: str) -> list[str]:
    """Characters the pattern knows of: those written in it, and one of each class."""
    written = {each for each in re.sub(r"\\.", "", pattern) if each not in "()|?{}^$"}
    return sorted(written | {"1", "a", " ", "\n", "é", ".", '"', "\\"})[:14]


def _texts(pattern: str) -> Iterator[str]:
    singles = _characters(pattern)
    starts = ["", *sorted(set(re.findall(r"[A-Za-z'\"(:/]{1,12}", pattern)))]
    for start in starts[:2]:
        for single in singles:
            yield start + single * _LENGTH + "\0"
    for first in singles:
        for second in ("1", " "):
            yield (first + second) * (_LENGTH // 2) + "\0"


class _TooSlow(Exception):
    """The time of a pattern is over."""


def _seconds_are_over(_signal: int, _frame: FrameType | None) -> None:
    raise _TooSlow


def slow_text(
    pattern: re.Pattern[str], texts: Iterator[str], ways: tuple[str, ...] = ("search",)
) -> str | None:
    """The beginning of the first text that takes a pattern too long."""
    before = signal.signal(signal.SIGVTALRM, _seconds_are_over)
    text = ""
    try:
        for text in texts:
            signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_CPU_S)
            for way in ways:
                getattr(pattern, way)(text)
    except _TooSlow:
        return f"{text[:20]!r}…"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return None


def test_bad_patterns_are_recognised() -> None:
    for bad in (r"(a+)+b", r"\d+\.?\d*x", r"(?:a|a)*b", r"\s+$"):
        assert slow_text(re.compile(bad), _texts(bad)), bad


def test_a_pattern_takes_time_that_grows_with_the_text_alone() -> None:
    patterns = set(_patterns())
    slow = {
        found.place: text
        for found in patterns
        if (
            text := slow_text(
                re.compile(found.pattern, found.flags), _texts(found.pattern), found.ways
            )
        )
    }

    assert len(patterns) > 80
    assert slow == {}
