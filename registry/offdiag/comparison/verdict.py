"""What a comparison of two runs says, in sentences made from intervals and tests alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from offdiag.comparison import wording
from offdiag.comparison.differences import HEADLINE, MetricDifference, Outcome
from offdiag.comparison.pair import PairComparison
from offdiag.metrics.intervals.reliability import RELIABLE_CLASS_SIZE
from offdiag.reports.wording import count, listed, name

Tone = Literal["better", "worse", "mixed", "open"]

_MOST_NAMED = 6
_SAID_IN_NUMBERS = ("overall_accuracy", "balanced_accuracy")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict in one sentence, and what belongs to it in further ones.

    The tone is that of the headline metrics of the second run against the first.
    """

    headline: str
    details: tuple[str, ...]
    tone: Tone

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join((self.headline, *self.details))


def pair_verdict(pair: PairComparison) -> Verdict:
    """The verdict on B, the second run, against A, the first."""
    return Verdict(_headline(pair), tuple(_details(pair)), _tone(_headliners(pair)))


def classes_that_change(
    pair: PairComparison, key: str = "recall"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels of the classes whose value falls, and of those where it rises, largest first.

    Exactly the classes whose interval excludes 0.
    """
    found = sorted(pair.classes[key], key=lambda each: -abs(each.difference.value or 0.0))
    falling = tuple(str(each.class_label) for each in found if each.is_loss)
    return falling, tuple(str(each.class_label) for each in found if each.is_gain)


def _headliners(pair: PairComparison) -> list[MetricDifference]:
    return [each for each in pair.metrics if each.key in HEADLINE]


def _tone(found: Sequence[MetricDifference]) -> Tone:
    outcomes = {each.outcome for each in found}
    if Outcome.WORSE in outcomes:
        return "mixed" if Outcome.BETTER in outcomes else "worse"
    return "better" if Outcome.BETTER in outcomes else "open"


def _headline(pair: PairComparison) -> str:
    if pair.is_same_everywhere:
        total = pair.first.total
        if total == 1:
            return "A and B give the same answer to the only example."
        return f"A and B give the same answer to all {count(total, 'example')}."
    found = _headliners(pair)
    better, worse, same = (
        [wording.title_inside(each.key) for each in found if each.outcome is outcome]
        for outcome in (Outcome.BETTER, Outcome.WORSE, Outcome.NOT_SEPARABLE)
    )
    everywhere = len(found)
    if not better and not worse:
        if not same:
            return "Nothing separates A and B, and no headline metric could be tested."
        where = "any headline metric" if len(same) == everywhere else _on(same)
        return f"A and B are not separable on {where}."
    rest = f"; not separable on {_on(same)}" if same else ""
    if better and worse:
        return f"B is better than A on {_on(better)} but worse on {_on(worse)}{rest}."
    side, keys = ("better", better) if better else ("worse", worse)
    where = "every headline metric" if len(keys) == everywhere else _on(keys)
    return f"B is {side} than A on {where}{rest}."


def _on(titles: Sequence[str]) -> str:
    return listed(titles, at_most=len(HEADLINE))


def _details(pair: PairComparison) -> Iterator[str]:
    yield from _numbers(pair)
    if not pair.is_same_everywhere:
        yield from _classes(pair)
        yield from _scores(pair)
    yield from _borderline(pair)
    yield from _undefined(pair)
    if pair.paired is None:
        yield (
            "The runs are not paired: their intervals are those of different examples, wider "
            "than those of the same examples would be."
        )
    yield from _small_classes(pair)


def _numbers(pair: PairComparison) -> Iterator[str]:
    shown = [
        found
        for found in map(pair.metric, _SAID_IN_NUMBERS)
        if found.outcome not in {Outcome.UNDEFINED, Outcome.NO_INTERVAL}
    ]
    if shown:
        first, *others = shown
        texts = [
            wording.difference_sentence(first, pair.confidence),
            *map(wording.difference_sentence, others),
        ]
        yield f"B − A: {', '.join(texts)}."


def _classes(pair: PairComparison) -> Iterator[str]:
    tested = [each for each in pair.classes["recall"] if each.difference.ci_low is not None]
    falling, rising = classes_that_change(pair)
    changed = len(falling) + len(rising)
    if not tested:
        return
    if not changed:
        yield "Recall of no class changes beyond its interval."
        return
    parts = []
    for verb, labels in (("falls", falling), ("rises", rising)):
        if labels:
            parts.append(
                f"{verb} on {listed([name(each) for each in labels], at_most=_MOST_NAMED)}"
            )
    yield f"Recall {' and '.join(parts)}{_others(len(tested) - changed)}."
    by_chance = len(tested) * (1 - pair.confidence)
    if by_chance >= 1:
        yield (
            f"Of {count(len(tested), 'class', 'classes')} about {by_chance:.0f} would change that "
            "far by chance alone."
        )


def _others(n_classes: int) -> str:
    if n_classes == 0:
        return ""
    if n_classes == 1:
        return "; the other class stays within its interval"
    return f"; the other {n_classes} classes stay within theirs"


def _scores(pair: PairComparison) -> Iterator[str]:
    for side, outcome in (("better", Outcome.BETTER), ("worse", Outcome.WORSE)):
        titles = [
            wording.title_inside(each.key)
            for each in pair.metrics
            if each.key not in HEADLINE and each.outcome is outcome
        ]
        if titles:
            yield f"By its scores B is {side} on {_on(titles)}."


def _borderline(pair: PairComparison) -> Iterator[str]:
    for each in pair.metrics:
        if each.outcome is Outcome.BORDERLINE and each.p is not None:
            title, p = wording.title(each.key), wording.p_text(each.p)
            interval, test = "holds", "finds a difference"
            if not (each.difference.ci_low or 0) <= 0 <= (each.difference.ci_high or 0):
                interval, test = "excludes", "finds none"
            yield f"{title} is borderline: its interval {interval} 0, the exact test {test} ({p})."


def _undefined(pair: PairComparison) -> Iterator[str]:
    for each in _headliners(pair):
        if each.outcome is not Outcome.UNDEFINED:
            continue
        title = wording.title(each.key)
        reasons = [side.reason for side in (each.first, each.second)]
        said = str(next(reason for reason in reasons if reason)).replace("_", " ")
        where = "both" if all(reasons) else ("A" if reasons[0] else "B")
        yield f"{title} is undefined for {where} ({said})."


def _small_classes(pair: PairComparison) -> Iterator[str]:
    sizes = np.minimum(pair.first.actual, pair.second.actual)
    sizes = np.where(sizes > 0, sizes, np.iinfo(np.int64).max)
    code = int(np.argmin(sizes))
    if sizes[code] < RELIABLE_CLASS_SIZE and not pair.is_same_everywhere:
        size = count(int(sizes[code]), "example")
        yield (
            "Intervals of averages over classes are unreliable: the smallest class, "
            f"{name(pair.labels[code])}, has {size}."
        )
