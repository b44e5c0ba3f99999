"""The verdict on two runs, in sentences, and how many samples would decide between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from offdiag.comparison import texts
from offdiag.comparison.differences import (
    ALL_HEADLINES,
    DIFFERENCE_THAT_MATTERS,
    DifferenceStatus,
    MetricDifference,
    excludes_0,
)
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import ACCURACY, PairComparison, accuracy_key
from offdiag.comparison.rank_status import RankStatus
from offdiag.comparison.texts import run_label
from offdiag.domain.number_text import count
from offdiag.domain.sentences import capitalized, enumerated, listed, name
from offdiag.domain.values import reason_text
from offdiag.metrics.counted import class_sizes
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE
from offdiag.metrics.paired.sample_size import SamplesNeeded, about, samples_needed

_UNDECIDED = frozenset({RankStatus.BEST, RankStatus.NOT_SEPARABLE})


@dataclass(frozen=True, slots=True)
class Undecided:
    """Two runs by position whose accuracy does not separate them, and what would."""

    first: int
    second: int
    samples: SamplesNeeded
    metric: str = ACCURACY


def undecided_pair(
    pair: PairComparison, *, difference: float = DIFFERENCE_THAT_MATTERS
) -> Undecided | None:
    """The two runs if paired and without a significant primary metric; else None."""
    if pair.paired is None or pair.is_same_everywhere:
        return None
    if any(each.outcome.is_separable for each in pair.metrics if each.key in ALL_HEADLINES):
        return None
    test = pair.paired.mcnemar
    if test is None:
        return None
    return Undecided(
        0,
        1,
        samples_needed(
            int(test.only_first),
            int(test.only_second),
            pair.first.total,
            difference=difference,
            confidence=pair.confidence,
        ),
        accuracy_key(pair.of_sets),
    )


def undecided_among(
    many: ManyComparison, *, difference: float = DIFFERENCE_THAT_MATTERS
) -> Undecided | None:
    """The run with the highest accuracy and the nearest one that may be as good, if paired."""
    accuracy = accuracy_key(many.of_sets)
    places = many.places[accuracy]
    open_runs = [at for at, place in enumerate(places) if place.rank_status in _UNDECIDED]
    open_runs.sort(key=lambda at: -(places[at].value.value or 0.0))
    if len(open_runs) < 2:
        return None
    highest, nearest = open_runs[:2]
    first, second = sorted((highest, nearest))
    counts = next(
        (each for each in many.pairs if (each.first, each.second) == (first, second)), None
    )
    if counts is None or counts.only_first + counts.only_second == 0:
        return None
    return Undecided(
        highest,
        nearest,
        samples_needed(
            counts.only_first,
            counts.only_second,
            many.matrices[first].total,
            difference=difference,
            confidence=many.confidence,
        ),
        accuracy,
    )


def more_samples_sentence(found: Undecided) -> str:
    """ "About 2,000 labelled examples in all (1,700 to 2,300) would detect a difference ..."."""
    samples = found.samples
    which = (
        f"a difference of {points_text(samples.difference)} in "
        f"{texts.title_inside(found.metric)} between "
        f"{run_label(found.first)} and {run_label(found.second)}"
    )
    present = f"the present {samples.n_samples:,}"
    detectable = "" if samples.detectable is None else points_text(samples.detectable)
    if detectable == points_text(samples.difference):
        detectable = ""
    if samples.needed <= samples.n_samples:
        enough = f", and even one of {detectable}" if detectable else ""
        return f"The present {samples.n_samples:,} labelled examples detect {which}{enough}."
    now = f"; {present} detect one of {detectable}" if detectable else ""
    needed = f"{about(samples.needed, more_than=samples.n_samples):,}"
    return (
        f"About {needed} labelled examples in all ({about(samples.low):,} to "
        f"{about(samples.high):,}) would detect {which}{now}."
    )


def undecided_record(found: Undecided | None) -> dict[str, Any] | None:
    """Plain values, None if nothing is undecided."""
    if found is None:
        return None
    samples = found.samples
    return {
        "metric": found.metric,
        "first": run_label(found.first),
        "second": run_label(found.second),
        "difference": samples.difference,
        "n_samples": samples.n_samples,
        "needed": samples.needed,
        "needed_low": samples.low,
        "needed_high": samples.high,
        "settled": samples.detectable,
    }


def points_text(share: float) -> str:
    """ "1 point", "2.5 points"."""
    number = f"{100 * share:.1f}".removesuffix(".0")
    if number == "0":
        number = f"{100 * share:.2g}"
    return f"{number} {'point' if number == '1' else 'points'}"


Tone = Literal["better", "worse", "mixed", "open"]

_MOST_NAMED = 6
_SAID_IN_NUMBERS = {
    False: ("overall_accuracy", "balanced_accuracy"),
    True: ("subset_accuracy", "macro_f1"),
}
"""Metrics that the verdict gives in numbers, for classes and for sets of labels."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict in one sentence, and the sentences that add to it.

    The tone is that of the primary metrics of the second run against the first.
    """

    headline: str
    details: tuple[str, ...]
    tone: Tone

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join((self.headline, *self.details))


def pair_verdict(pair: PairComparison, *, difference: float = DIFFERENCE_THAT_MATTERS) -> Verdict:
    """The verdict on B, the second run, against A, the first.

    `difference` is the one in accuracy that matters, as a share.
    """
    if pair.on_labels:
        headline = texts.other_labels(pair.on_labels, "no difference between them is tested")
        return Verdict(headline, (), "open")
    if pair.chosen_here:
        why = texts.chosen_here([run_label(at) for at in pair.chosen_here])
        headline = f"No difference between A and B is tested: {why}."
        return Verdict(headline, (_ON_OTHERS, *_undefined(pair)), "open")
    details = tuple(_details(pair, difference))
    return Verdict(_headline(pair), details, _tone(_headliners(pair)))


_ON_OTHERS = "Compare them on examples that the threshold was not chosen on."


def classes_that_change(pair: PairComparison) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Classes whose recall changes significantly: falling, and rising, largest change first."""
    found = sorted(pair.classes["recall"], key=lambda each: -abs(each.difference.value or 0.0))
    falling = tuple(str(each.class_label) for each in found if each.is_loss)
    return falling, tuple(str(each.class_label) for each in found if each.is_gain)


def _headliners(pair: PairComparison) -> list[MetricDifference]:
    return [each for each in pair.metrics if each.key in ALL_HEADLINES]


def _tone(found: Sequence[MetricDifference]) -> Tone:
    outcomes = {each.outcome for each in found}
    if DifferenceStatus.WORSE in outcomes:
        return "mixed" if DifferenceStatus.BETTER in outcomes else "worse"
    return "better" if DifferenceStatus.BETTER in outcomes else "open"


def _headline(pair: PairComparison) -> str:
    if pair.is_same_everywhere:
        total = pair.first.total
        if total == 1:
            return "A and B make the same prediction for the only example."
        return f"A and B make the same prediction for all {count(total, 'example')}."
    found = _headliners(pair)
    better, worse, same = (
        [texts.title_inside(each.key) for each in found if each.outcome is outcome]
        for outcome in (
            DifferenceStatus.BETTER,
            DifferenceStatus.WORSE,
            DifferenceStatus.NOT_SEPARABLE,
        )
    )
    everywhere, how = len(found), _how(pair)
    if not better and not worse:
        if not same:
            return "No primary metric could be tested, so nothing can be said of A and B."
        where = "any primary metric" if len(same) == everywhere else enumerated(same)
        return f"No significant difference between A and B on {where}{how}."
    rest = f"; no significant difference on {enumerated(same)}" if same else ""
    if better and worse:
        both = f"better than A on {enumerated(better)} but worse on {enumerated(worse)}"
        return f"B is {both}{rest}{how}."
    side, keys = ("better", better) if better else ("worse", worse)
    where = "every primary metric" if len(keys) == everywhere else enumerated(keys)
    return f"B is {side} than A on {where}{rest}{how}."


def _how(pair: PairComparison) -> str:
    """How many metrics share the level."""
    level, n_tested = texts.level_text(pair.confidence), len(pair.together.tested)
    if n_tested < 2:
        return ""
    return f" ({texts.number_word(n_tested)} metrics tested together, {level})"


def _details(pair: PairComparison, difference: float) -> Iterator[str]:
    yield from _numbers(pair)
    undecided = undecided_pair(pair, difference=difference)
    if undecided is not None:
        yield more_samples_sentence(undecided)
    if not pair.is_same_everywhere:
        yield from _alone(pair)
        yield from _left_out(pair)
        yield from _classes(pair)
        yield from _scores(pair)
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
        for found in map(pair.metric, _SAID_IN_NUMBERS[pair.of_sets])
        if found.outcome not in {DifferenceStatus.UNDEFINED, DifferenceStatus.NO_INTERVAL}
    ]
    if shown:
        first, *others = shown
        sentences = [
            texts.difference_sentence(first, pair.confidence, decisive_p=_decisive_p(pair, first)),
            *map(texts.difference_sentence, others),
        ]
        yield f"B − A: {', '.join(sentences)}."


def _decisive_p(pair: PairComparison, found: MetricDifference) -> float | None:
    """The p that matches the interval of accuracy, if the exact p does not agree with it."""
    if pair.paired is None or pair.paired.mcnemar is None or found.p is None:
        return None
    excludes = excludes_0(found.difference.ci_low, found.difference.ci_high)
    agrees = excludes is (found.p < 1 - pair.confidence)
    return None if agrees else pair.paired.mcnemar.chi2_p


def _alone(pair: PairComparison) -> Iterator[str]:
    found = [each for each in _headliners(pair) if each.would_pass_alone]
    if found:
        titles = enumerated([texts.title_inside(each.key) for each in found])
        n_tested = texts.number_word(len(pair.together.tested))
        yield f"The difference of {titles} would be significant alone; not among {n_tested}."


def _left_out(pair: PairComparison) -> Iterator[str]:
    left = [
        each
        for each in _headliners(pair)
        if each.key in pair.together.left_out and each.outcome is not DifferenceStatus.UNDEFINED
    ]
    if left:
        titles = capitalized(enumerated([texts.title_inside(each.key) for each in left]))
        verb = "is" if len(left) == 1 else "are"
        why = "no example on which the runs differ counts"
        if pair.paired is None:
            why = "both runs have one prediction for each class, which tells nothing of chance"
        yield f"{titles} {verb} left out of the joint test: {why}."


def _classes(pair: PairComparison) -> Iterator[str]:
    n_tested = pair.classes_tested["recall"]
    falling, rising = classes_that_change(pair)
    if n_tested == 0:
        return
    over, noun = texts.class_noun(n_tested, of_sets=pair.of_sets), _noun(pair)
    method = "Holm" if pair.paired is not None else "Bonferroni"
    if not falling and not rising:
        yield f"No {noun} changes in recall by more than chance explains ({method} over {over})."
        return
    parts = []
    for verb, labels in (("falls", falling), ("rises", rising)):
        if labels:
            parts.append(
                f"{verb} on {listed([name(each) for each in labels], at_most=_MOST_NAMED)}"
            )
    yield f"Recall {' and '.join(parts)} ({method} over {over})."


def _noun(pair: PairComparison, *, plural: bool = False) -> str:
    if pair.of_sets:
        return "labels" if plural else "label"
    return "classes" if plural else "class"


def _scores(pair: PairComparison) -> Iterator[str]:
    of_scores = [each for each in pair.metrics if each.key not in ALL_HEADLINES]
    n_tested = sum(each.simultaneous is not None for each in of_scores)
    how = f", {texts.number_word(n_tested)} tested together" if n_tested > 1 else ""
    for side, outcome in (("better", DifferenceStatus.BETTER), ("worse", DifferenceStatus.WORSE)):
        titles = [texts.title_inside(each.key) for each in of_scores if each.outcome is outcome]
        if titles:
            yield f"By its scores B is {side} on {enumerated(titles)}{how}."


def _undefined(pair: PairComparison) -> Iterator[str]:
    for each in _headliners(pair):
        if each.outcome is not DifferenceStatus.UNDEFINED:
            continue
        title = texts.title(each.key)
        reasons = [side.reason for side in (each.first, each.second)]
        said = reason_text(next(reason for reason in reasons if reason))
        where = "both" if all(reasons) else ("A" if reasons[0] else "B")
        yield f"{title} is undefined for {where} ({said})."


def _small_classes(pair: PairComparison) -> Iterator[str]:
    sizes = np.minimum(class_sizes(pair.first), class_sizes(pair.second))
    sizes = np.where(sizes > 0, sizes, np.iinfo(np.int64).max)
    code = int(np.argmin(sizes))
    if sizes[code] < RELIABLE_CLASS_SIZE and not pair.is_same_everywhere:
        size = count(int(sizes[code]), "example")
        if pair.is_weighted:
            size = f"an effective size of {sizes[code]:,}"
        yield (
            f"Intervals of averages over {_noun(pair, plural=True)} are unreliable: the smallest "
            f"{_noun(pair)}, {name(pair.labels[code])}, has {size}."
        )
