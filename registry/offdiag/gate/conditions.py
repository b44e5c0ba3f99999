"""Conditions on a run, and the numbers, flags and differences they are checked against."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NoReturn

from offdiag.domain.labels import LabelSet
from offdiag.domain.number_text import read_number
from offdiag.domain.slices import WRITTEN_NAME, WRITTEN_SLICE, Slice, parse_slice
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.filters.conditions import Over, Side
from offdiag.flags.catalogue import RULES
from offdiag.flags.verdict import Sign
from offdiag.metrics.counted import Counted, Unweighted


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCondition:
    """A metric, or its difference to the baseline, compared with a number.

    `text` is the condition as it was written. `class_label` is None for metrics of the whole
    matrix. The difference is that of the run minus that of the baseline. `part` is the slice
    that is meant, None for all samples; with `over`, all groups of the slice column `by` are.
    """

    text: str
    key: str
    class_label: str | None
    side: Side
    of_difference: bool
    sign: Sign
    threshold: float
    part: Slice | None = None
    over: Over | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFlag:
    """A rule raises no flag, for one class or (`class_label` None) for any.

    An unproved F4 gap ("in sight") only counts if `even_possible`.
    """

    text: str
    rule: str
    class_label: str | None
    even_possible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBadge:
    """Accuracy does not hide a minority class, nor (with `even_possible`) might it hide one."""

    text: str
    even_possible: bool = False


Condition = MetricCondition | NoFlag | NoBadge


@dataclass(frozen=True)
class MetricValues:
    """Values by key: of the whole matrix, of each class in label order, and costs.

    `costs` is None without a cost matrix.
    """

    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, Sequence[MetricValue]]
    costs: Mapping[str, MetricValue] | None = None


@dataclass(frozen=True, slots=True)
class RaisedFlag:
    """A flag that a rule raised for the run, or for one class of it.

    `is_proved` is False for an F4 gap that is in sight but not proved.
    """

    rule: str
    class_label: str | None
    message: str
    is_proved: bool = True


@dataclass(frozen=True)
class Differences:
    """The run's values minus the baseline's, with intervals if samples could be paired.

    `not_paired` is the reason why the samples of the two runs could not be paired, else None.
    """

    values: MetricValues
    not_paired: str | None = None


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """Why a slice or a column has no numbers: a reason as a word, and a sentence."""

    reason: str
    note: str


@dataclass(frozen=True)
class ColumnGroups:
    """The counts of each group of a slice column; `left_out` names the groups that are missing.

    Groups overlap if samples have several values, such as tags.
    """

    counted: Mapping[str, Unweighted]
    left_out: str = ""
    do_overlap: bool = False


@dataclass(frozen=True)
class Subject:
    """A run, or a slice of it, as conditions see it.

    `asked` are the rules that were applicable; `not_assessable` is the reason why the rules about
    the matrix were not, which proves nothing, else None; `unchecked` says of rules why they were
    not applied. `accepted` are flags that were dismissed with a reason.
    `positive_label` is the positive class of two, None if there is none. `parts` are the slices
    named in conditions, by their canonical text, `groups` those of columns by name. Metrics of
    fewer than `min_size` samples, or samples of the class, decide nothing there; `counted` are the
    counts of the run or slice, None if unknown.
    """

    labels: LabelSet
    values: MetricValues
    asked: frozenset[str]
    flags: tuple[RaisedFlag, ...] = ()
    accepted: tuple[RaisedFlag, ...] = ()
    hides_minority: bool = False
    may_hide_minority: bool = False
    not_assessable: str | None = None
    unchecked: Mapping[str, NotMeasured] = field(default_factory=dict)
    differences: Differences | None = None
    positive_label: str | None = None
    parts: Mapping[str, Subject | NotMeasured] = field(default_factory=dict)
    groups: Mapping[str, ColumnGroups | NotMeasured] = field(default_factory=dict)
    min_size: int = 1
    counted: Counted | None = None


_SPACES = re.compile(r"\s*")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SIGN = re.compile(r">=|<=|>|<|==?")
_NO_FLAG = re.compile(r"no-(possible-)?flag\b")
_NO_WARNING = re.compile(r"no-(possible-)?(?:warning|badge)")
"""`no-badge` is the former name, from the version before."""
_DIFFERENCE = "diff"
_COLUMN = re.compile(WRITTEN_NAME)
_SLICE = re.compile(WRITTEN_SLICE)
_FORM = (
    "Write for instance 'recall[a]>=0.8', 'low(mcc)>=0.5', 'diff(f1[a])>=-0.02', "
    "'recall[a]@site=z>=0.7', 'worst(recall[a], by=site)>=0.7' or 'no-warning'."
)


def parse_condition(text: str) -> Condition:
    """Parse the text of a condition. Raises `InvalidInput` naming the place of the first error."""
    plain = text.strip()
    warning = _NO_WARNING.fullmatch(plain)
    if warning is not None:
        return NoBadge(text=plain, even_possible=warning[1] is not None)
    reader = _Reader(plain)
    flag = reader.skip(_NO_FLAG)
    if flag is not None:
        return _no_flag(reader, even_possible=flag[1] is not None)
    return _metric_condition(reader)


def _no_flag(reader: _Reader, *, even_possible: bool) -> NoFlag:
    rule = reader.take(_WORD, "the id of a rule").upper()
    if rule not in RULES:
        close = get_close_matches(rule, RULES, n=3, cutoff=0.5)
        raise InvalidInput(
            f"there is no rule {rule!r}.",
            field="condition",
            hint=f"Did you mean {' or '.join(close)}?" if close else f"Rules: {', '.join(RULES)}.",
        )
    label = reader.label()
    if label is not None and not RULES[rule].per_class:
        raise InvalidInput(
            f"rule {rule} is about the run as a whole, not about class {label!r}.",
            field="condition",
            hint=f"Write 'no-flag {rule}'.",
        )
    reader.require_end()
    return NoFlag(text=reader.text, rule=rule, class_label=label, even_possible=even_possible)


def _metric_condition(reader: _Reader) -> MetricCondition:
    opened: list[str] = []
    key = reader.take(_WORD, "a metric")
    while reader.skip_character("("):
        if not _can_open(key, opened):
            reader.fail(f"{key!r} cannot be applied there")
        opened.append(key)
        key = reader.take(_WORD, "a metric")
    label, part, by = reader.label(), reader.part(), None
    for name in reversed(opened):
        if name in set(Over):
            by = reader.column()
        if not reader.skip_character(")"):
            reader.fail("a closing bracket is missing")
        part = part or reader.part()
    if part is not None and by is not None:
        reader.fail(f"a slice and by={by} cannot be combined")
    sign = reader.take(_SIGN, "one of >=, >, <=, < and =")
    return MetricCondition(
        text=reader.text,
        key=key,
        class_label=label,
        side=next((side for side in (Side.LOW, Side.HIGH) if side in opened), Side.VALUE),
        of_difference=_DIFFERENCE in opened,
        sign=Sign("=" if sign == "==" else sign),
        threshold=reader.number(),
        part=part,
        over=next((over for over in Over if over in opened), None),
        by=by,
    )


def _can_open(name: str, opened: Sequence[str]) -> bool:
    """Ends of intervals go outside; a difference and a view of all groups exclude each other."""
    if name in {Side.LOW, Side.HIGH}:
        return not opened
    return name in {_DIFFERENCE, *Over} and not {_DIFFERENCE, *Over} & {*opened}


class _Reader:
    """A text and the position up to which it has been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = 0

    def take(self, pattern: re.Pattern[str], what: str) -> str:
        """The next word of a kind, skipping the spaces before it."""
        self._skip_spaces()
        found = pattern.match(self.text, self._at)
        if found is None:
            self.fail(f"{what} is expected")
        self._at = found.end()
        return found.group()

    def skip(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Skip a pattern if it comes next."""
        found = pattern.match(self.text, self._at)
        self._at = self._at if found is None else found.end()
        return found

    def skip_character(self, character: str) -> bool:
        """Skip one character, and spaces before it, if it comes next."""
        self._skip_spaces()
        is_there = self.text.startswith(character, self._at)
        self._at += is_there
        return is_there

    def label(self) -> str | None:
        """A class in square brackets, None if there is none."""
        if not self.skip_character("["):
            return None
        if self.text.startswith('"', self._at):
            return self._quoted_label()
        end = self.text.find("]", self._at)
        if end < 0:
            self.fail("the bracket behind the class is missing")
        label, self._at = self.text[self._at : end], end + 1
        return label

    def part(self) -> Slice | None:
        """A slice after `@`, None if there is none."""
        return parse_slice(self.take(_SLICE, "a slice")) if self.skip_character("@") else None

    def column(self) -> str:
        """The name after `, by=`."""
        is_named = self.skip_character(",") and self.take(_WORD, "by=") == "by"
        if not is_named or not self.skip_character("="):
            self.fail("', by=' and a slice column are expected")
        name = self.take(_COLUMN, "a slice column")
        return str(parse_slice(f"{name}=x").terms[0].name)

    def number(self) -> float:
        """The rest of the text, as a finite number."""
        self._skip_spaces()
        try:
            number = read_number(self.text[self._at :])
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            is_percentage = self.text.endswith("%")
            written = "a number, as 0.8 for 80 %," if is_percentage else "a number"
            self.fail(f"{written} is expected")
        return number

    def require_end(self) -> None:
        self._skip_spaces()
        if self._at < len(self.text):
            self.fail("nothing more is expected")

    def fail(self, what: str) -> NoReturn:
        rest = self.text[self._at :]
        place = f"before {rest!r}" if rest else "at the end"
        raise InvalidInput(
            f"{self.text!r} is not a condition: {what} {place}.", field="condition", hint=_FORM
        )

    def _quoted_label(self) -> str:
        try:
            label, end = json.JSONDecoder().raw_decode(self.text, self._at)
        except ValueError:
            self.fail("the quote behind the class is missing")
        self._at = end
        if not self.skip_character("]"):
            self.fail("the bracket behind the class is missing")
        return str(label)

    def _skip_spaces(self) -> None:
        self.skip(_SPACES)
