"""Numbers and names as the sentences and tables of a report show them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from offdiag.domain import number_text
from offdiag.domain.number_text import number
from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import MetricSpec
from offdiag.reports.scope import COST_METRIC, Condition, spec_of

MINUS = "\N{MINUS SIGN}"
EN_DASH = "\N{EN DASH}"
LONGEST_NAME = 60
PER_CASES = 1_000
"""Samples that a mean cost is told for: a cost per sample is a small number with many zeros."""
_TITLES = {COST_METRIC: f"Cost per {PER_CASES:,} examples"}
_PUNCTUATION = set(",;:()“”")
_MORE_DECIMALS = range(4, 10)
_SURNAMES = {"Matthews", "Brier", "Kolmogorov-Smirnov"}
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printed(metric: str, value: MetricValue) -> MetricValue:
    """A value in the unit in which it is told: mean costs are those of 1,000 samples."""
    if metric != COST_METRIC or value.value is None:
        return value
    low, high = (None if end is None else end * PER_CASES for end in (value.ci_low, value.ci_high))
    return replace(value, value=value.value * PER_CASES, ci_low=low, ci_high=high)


def metric_text(metric: str, value: MetricValue) -> str:
    """The value of a metric as it is told, with its interval: "704.3 (650.1 – 760.2)"."""
    return with_interval(printed(metric, value))


def interval(value: MetricValue) -> str | None:
    """ "0.846 – 0.881", None where there is no interval."""
    if value.ci_low is None or value.ci_high is None:
        return None
    return number_text.interval(value.ci_low, value.ci_high)


def shown(value: MetricValue) -> str:
    """A value without its interval, or why there is none."""
    return value.undefined_text if value.value is None else number(value.value)


def outside(after: MetricValue, before: MetricValue) -> str:
    """ "0.740, outside 0.750 – 0.850", with more decimals where rounding would hide that it is."""
    value, low, high = after.value, before.ci_low, before.ci_high
    plain = f"{shown(after)}, outside {interval(before)}"
    if value is None or low is None or high is None or len({*map(number, (value, low, high))}) > 2:
        return plain
    for decimals in _MORE_DECIMALS:
        texts = [f"{each:,.{decimals}f}".replace("-", MINUS) for each in (value, low, high)]
        if len({*texts}) > 2:
            return f"{texts[0]}, outside {texts[1]} {EN_DASH} {texts[2]}"
    return plain


def with_interval(value: MetricValue) -> str:
    """ "0.864 (0.846 – 0.881)"."""
    bounds = interval(value)
    return shown(value) if bounds is None else f"{shown(value)} ({bounds})"


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign: "−4.1 pp"."""
    return f"{_signed(100 * share, 1)} pp"


def difference(value: float, spec: MetricSpec) -> str:
    """A difference of two values of a metric: points for shares, else the plain number."""
    if spec.key == COST_METRIC:
        return _signed(PER_CASES * value, 1)
    return points(value) if is_share(spec) else _signed(value, 3)


def is_share(spec: MetricSpec) -> bool:
    """Whether differences of the metric are commonly told in percentage points."""
    return spec.low == 0 and spec.high == 1


def count(number_of: int, one: str, many: str | None = None) -> str:
    """ "1 run", "12 runs"."""
    return f"{number_of:,} {one if number_of == 1 else many or one + 's'}"


def listed(words: Sequence[str], *, at_most: int = 3) -> str:
    """ "a", "a and b", "a, b and 4 more"."""
    kept = list(words[:at_most])
    if len(words) > at_most:
        return f"{', '.join(kept)} and {len(words) - at_most} more"
    return kept[0] if len(kept) == 1 else f"{', '.join(kept[:-1])} and {kept[-1]}"


def visible(text: str) -> str:
    """The text with everything invisible written as an escape: direction marks swap words."""
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _INVISIBLE
        else character
        for character in text
    )


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~&])")


def markdown_escaped(text: str) -> str:
    """Names are anybody's input: nothing in them may become a heading, a link or a tag."""
    return _MARKDOWN.sub(r"\\\1", visible(text))


def name(text: str) -> str:
    """A name as it may stand in a sentence: nothing invisible, and cut where it is long.

    One that holds punctuation is quoted, or it would look like several.
    """
    kept = visible(text)
    if len(kept) > LONGEST_NAME:
        half = (LONGEST_NAME - 1) // 2
        kept = f"{kept[:half]}\N{HORIZONTAL ELLIPSIS}{kept[-half:]}"
    needs_quotes = kept != kept.strip() or not kept or _PUNCTUATION & set(kept)
    return f"“{kept}”" if needs_quotes else kept


def title(metric: str, class_label: str | None = None) -> str:
    """ "Balanced accuracy", "Recall of mel"."""
    found = _TITLES.get(metric) or spec_of(metric, of_class=class_label is not None).title
    return found if class_label is None else f"{found} of {name(class_label)}"


def title_inside(metric: str, class_label: str | None = None) -> str:
    """A title within a sentence; surnames and abbreviations keep their capitals."""
    text = title(metric, class_label)
    first = text.split(maxsplit=1)[0]
    keeps = first.isupper() or "'" in first or first in _SURNAMES
    return text if keeps else f"{text[0].lower()}{text[1:]}"


def condition_text(condition: Condition) -> str:
    """ "Recall of df below 0.500"."""
    what = title(condition.metric, condition.class_label)
    if condition.over is not None:
        over = "Worst" if condition.over == "worst" else "Gap of"
        what = f"{over} {title_inside(condition.metric, condition.class_label)} by {condition.by}"
    elif condition.slice is not None:
        what = f"{what} on {condition.slice}"
    times = PER_CASES if condition.metric == COST_METRIC else 1
    return f"{what} {condition.side.value} {number(condition.limit * times)}"


def _signed(value: float, decimals: int) -> str:
    text = f"{value:+.{decimals}f}"
    if float(text) == 0:
        # Too small for the decimals shown, but not nothing.
        return "0" if value == 0 else f"{'< ' if value > 0 else f'> {MINUS}'}{10**-decimals:g}"
    return text.replace("-", MINUS)
