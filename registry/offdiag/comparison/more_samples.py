"""How many labelled examples would decide between runs without a significant difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from offdiag.comparison.differences import DIFFERENCE_THAT_MATTERS, HEADLINE
from offdiag.comparison.letters import letter
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import ACCURACY, PairComparison
from offdiag.comparison.standings import Standing
from offdiag.metrics.paired.sample_size import SamplesNeeded, about, samples_needed

_UNDECIDED = frozenset({Standing.BEST, Standing.NOT_SEPARABLE})


@dataclass(frozen=True, slots=True)
class Undecided:
    """Two runs by position that accuracy does not tell apart, and what would do it."""

    first: int
    second: int
    samples: SamplesNeeded


def undecided_pair(
    pair: PairComparison, *, difference: float = DIFFERENCE_THAT_MATTERS
) -> Undecided | None:
    """Of two paired runs without a significant difference on any headline metric; else None."""
    if pair.paired is None or pair.is_same_everywhere:
        return None
    if any(each.outcome.is_separable for each in pair.metrics if each.key in HEADLINE):
        return None
    test = pair.paired.mcnemar
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
    )


def undecided_among(
    many: ManyComparison, *, difference: float = DIFFERENCE_THAT_MATTERS
) -> Undecided | None:
    """The run with the highest accuracy and the nearest one that may be as good, if paired."""
    places = many.places[ACCURACY]
    open_runs = [at for at, place in enumerate(places) if place.standing in _UNDECIDED]
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
    )


def more_samples_sentence(found: Undecided) -> str:
    """ "About 2,000 labelled examples in all (1,700 to 2,300) would settle a difference ..."."""
    samples = found.samples
    which = (
        f"a difference of {points_text(samples.difference)} in accuracy between "
        f"{letter(found.first)} and {letter(found.second)}"
    )
    present = f"the present {samples.n_samples:,}"
    settled = "" if samples.settled is None else points_text(samples.settled)
    if samples.needed <= samples.n_samples:
        enough = f", and even one of {settled}" if settled else ""
        return f"The present {samples.n_samples:,} labelled examples settle {which}{enough}."
    now = f"; {present} settle one of {settled}" if settled else ""
    return (
        f"About {about(samples.needed):,} labelled examples in all ({about(samples.low):,} to "
        f"{about(samples.high):,}) would settle {which}{now}."
    )


def undecided_record(found: Undecided | None) -> dict[str, Any] | None:
    """Plain values, None where nothing is undecided."""
    if found is None:
        return None
    samples = found.samples
    return {
        "metric": ACCURACY,
        "first": letter(found.first),
        "second": letter(found.second),
        "difference": samples.difference,
        "n_samples": samples.n_samples,
        "needed": samples.needed,
        "needed_low": samples.low,
        "needed_high": samples.high,
        "settled": samples.settled,
    }


def points_text(share: float) -> str:
    """ "1 point", "2.5 points"."""
    number = f"{100 * share:.1f}".removesuffix(".0")
    if number == "0":
        number = f"{100 * share:.2g}"
    return f"{number} {'point' if number == '1' else 'points'}"
