"""The verdict on several runs, in sentences derived only from intervals and tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from offdiag.comparison import texts
from offdiag.comparison.differences import DIFFERENCE_THAT_MATTERS
from offdiag.comparison.many import FEWEST_RUNS, ManyComparison
from offdiag.comparison.pair_verdict import Verdict, more_samples_sentence, undecided_among
from offdiag.comparison.rank_status import Rank, RankStatus
from offdiag.comparison.texts import run_label
from offdiag.domain.number_text import about, count, number, p_value
from offdiag.domain.sentences import enumerated, listed, name
from offdiag.metrics.many_runs.best_runs import (
    FEWEST_SAMPLES,
    BestOfMany,
    is_class_average,
    small_classes,
)
from offdiag.metrics.paired.hypothesis_tests import CochranQ

_FIRST = ("balanced_accuracy", "macro_f1")


def leading(many: ManyComparison) -> list[str]:
    """The order in which metrics are reported; accuracy is not first: it hides small classes."""
    first = _FIRST[1] if many.of_sets else _FIRST[0]
    return [first, *(key for key in many.places if key != first)]


_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class _Finding:
    """Letters of runs by their standing on a metric; at least one is the highest.

    `undefined` are the runs for which the metric has no value; nothing is said about how good
    they are.
    """

    highest: tuple[str, ...]
    same: tuple[str, ...]
    worse: tuple[str, ...]
    untested: tuple[str, ...]
    undefined: tuple[str, ...]

    @property
    def n_others(self) -> int:
        return len(self.same) + len(self.worse) + len(self.untested)


def many_verdict(many: ManyComparison, *, difference: float = DIFFERENCE_THAT_MATTERS) -> Verdict:
    """Which runs are highest by each metric, and which are significantly worse than the best.

    `difference` is the one in accuracy that matters, as a share. Runs that are not compared
    because they are on other labels are named first.
    """
    found = _among_compared(many, difference)
    if not many.left_out:
        return found
    left_out = enumerated([run_label(at) for at in many.left_out])
    be = "is" if len(many.left_out) == 1 else "are"
    headline = texts.other_labels(many.on_labels, f"{left_out} {be} not compared with the others")
    return Verdict(headline, (found.headline, *found.details), "open")


def _among_compared(many: ManyComparison, difference: float) -> Verdict:
    by_finding: dict[_Finding, list[str]] = {}
    for key in leading(many):
        found = _finding(many.places[key], many.left_out)
        if found.highest and len(found.untested) < max(found.n_others, 1):
            by_finding.setdefault(found, []).append(key)
    details = tuple(_details(many, difference))
    if not by_finding:
        return Verdict("No primary metric could be tested.", details, "open")
    headline, *further = (
        _sentence(many, keys, found) for found, keys in _merged(by_finding).items()
    )
    return Verdict(headline, (*further, *details), "open")


def _finding(places: Sequence[Rank], left_out: Collection[int]) -> _Finding:
    return _Finding(
        *(
            tuple(
                run_label(at)
                for at, place in enumerate(places)
                if place.rank_status is rank_status and at not in left_out
            )
            for rank_status in (
                RankStatus.BEST,
                RankStatus.NOT_SEPARABLE,
                RankStatus.BEHIND,
                RankStatus.NOT_TESTED,
                RankStatus.UNDEFINED,
            )
        )
    )


def _merged(by_finding: dict[_Finding, list[str]]) -> dict[_Finding, list[str]]:
    """Report metrics by which no run is worse together, whichever run is highest."""
    merged: dict[_Finding, list[str]] = {}
    first_open: _Finding | None = None
    for found, keys in by_finding.items():
        at = found
        if found.same and not found.worse and not found.untested and not found.undefined:
            at = first_open = first_open or found
        merged.setdefault(at, []).extend(keys)
    return merged


def _sentence(many: ManyComparison, keys: Sequence[str], found: _Finding) -> str:
    """Name metrics with the same result together, the leading one first."""
    titles = _titles(keys, len(many.places))
    by = f"By {titles}"
    highest = enumerated(found.highest)
    without = _undefined(found)
    if found.n_others == 0:
        if len(found.highest) == 1:
            return f"{by} only {highest} has a value."
        who = f"{highest} are" if found.undefined else "all runs are"
        return f"{by} {who} equally high{without}."
    if not found.worse and not found.untested:
        n_runs = len(found.highest) + len(found.same)
        return f"{by} none of {n_runs} runs is significantly worse than the best{without}."
    if len(found.worse) == found.n_others and len(found.highest) == 1:
        return f"{highest} leads on {titles}; {_worse(found)}{without}."
    value = _value(many.places[keys[0]]) if len(keys) == 1 else ""
    be, it = ("is", "it") if len(found.highest) == 1 else ("are", "them")
    parts = [f"{by} {highest} {be} highest{value}"]
    if found.same:
        show = "shows" if len(found.same) == 1 else "show"
        parts.append(f"{enumerated(found.same)} {show} no significant difference from {it}")
    if found.worse:
        parts.append(_worse(found))
    if found.untested:
        parts.append(f"{enumerated(found.untested)} could not be tested")
    return f"{'; '.join(parts)}{without}."


def _undefined(found: _Finding) -> str:
    """ "; C and D have no value", nothing if all have one."""
    n_runs = len(found.undefined)
    if not n_runs:
        return ""
    who = f"{n_runs} others" if n_runs > _MOST_NAMED else enumerated(found.undefined)
    return f"; {who} {'has' if n_runs == 1 else 'have'} no value"


def _worse(found: _Finding) -> str:
    """Which runs are significantly worse than the best."""
    n_worse = len(found.worse)
    if n_worse == found.n_others and n_worse > 1 and not found.undefined:
        who = "all others are"
    elif n_worse > _MOST_NAMED:
        who = f"{n_worse} others are" if found.undefined else f"the other {n_worse} are"
    else:
        who = f"{enumerated(found.worse)} {'is' if n_worse == 1 else 'are'}"
    return f"{who} significantly worse than the best"


def _details(many: ManyComparison, difference: float) -> Iterator[str]:
    yield from _of_the_choice(many)
    undecided = undecided_among(many, difference=difference)
    if undecided is not None:
        yield more_samples_sentence(undecided)
    yield from _of_classes(many)
    yield from _too_few(many)
    n_tested = _n_together(
        places
        for key, places in many.places.items()
        if not (small_classes(many.compared).any() and is_class_average(key))
    )
    if n_tested:
        metrics = count(n_tested, "metric")
        yield (
            f"All {count(len(many.compared), 'run')} and {metrics} are compared together "
            f"({texts.level_text(many.confidence)})."
        )
    if many.cochran is not None:
        yield _equally_right(many.cochran, many.confidence)
    unpaired = [run_label(at) for at in many.unpaired if at not in many.left_out]
    if unpaired:
        run_labels = enumerated(unpaired)
        if len(unpaired) == 1:
            matrix = f"{run_labels} is a matrix without predictions"
            yield f"{matrix}, so it is not paired with any run."
        else:
            yield f"{run_labels} are matrices without predictions, so they are not paired."


_TESTED = frozenset({RankStatus.NOT_SEPARABLE, RankStatus.BEHIND})


def _n_together(tested: Iterable[Sequence[Rank]]) -> int:
    """How many of the metrics or classes have two runs to compare; 0 if all runs are as high.

    One on which all runs are equally high counts: the critical value is for it as well.
    """
    places = list(tested)
    if not any(place.rank_status in _TESTED for of_runs in places for place in of_runs):
        return 0
    compared = _TESTED | {RankStatus.BEST}
    return sum(sum(place.rank_status in compared for place in of_runs) > 1 for of_runs in places)


def _of_the_choice(many: ManyComparison) -> Iterator[str]:
    """What the highest run is expected to reach by the leading metric, or why that is unknown."""
    first = next((key for key in leading(many) if key in many.best_of_many), None)
    if first is not None:
        noun = "label" if many.of_sets else "class"
        yield selection_sentence(first, many.best_of_many[first], noun)
    elif len(many.compared) >= FEWEST_RUNS:
        why = "there are too many predictions"
        if set(many.unpaired) - set(many.left_out):
            why = "not all runs have predictions"
        elif many.in_pairs:
            why = "they were counted in pairs"
        yield (
            f"Values of the highest runs are not corrected for the choice among "
            f"{len(many.compared)}, because {why}."
        )


def classes_tested(many: ManyComparison) -> int:
    """Number of classes whose recall is compared under one correction."""
    is_small = small_classes(many.compared).tolist()
    return _n_together(
        places for places, small in zip(many.recall, is_small, strict=True) if not small
    )


def _of_classes(many: ManyComparison) -> Iterator[str]:
    """The classes on which a run is significantly worse by recall than the best one."""
    n_tested = classes_tested(many)
    if not n_tested:
        return
    together = f"({texts.class_noun(n_tested, of_sets=many.of_sets)} compared together)"
    noun = "label" if many.of_sets else "class"
    by_runs: dict[tuple[str, ...], list[str]] = {}
    for label, places in zip(many.labels, many.recall, strict=True):
        worse = _finding(places, many.left_out).worse
        if worse:
            by_runs.setdefault(worse, []).append(name(label))
    if not by_runs:
        yield (f"By recall no run is significantly worse than the best on any {noun} {together}.")
        return
    parts = [
        f"{enumerated(runs)} on {listed(labels, at_most=_MOST_NAMED)}"
        for runs, labels in list(by_runs.items())[:_MOST_NAMED]
    ]
    if len(by_runs) > _MOST_NAMED:
        n_more = sum(map(len, list(by_runs.values())[_MOST_NAMED:]))
        more = texts.class_noun(n_more, of_sets=many.of_sets, among="more ")
        parts.append(f"others on {more}")
    yield f"By recall significantly worse than the best {together}: {'; '.join(parts)}."


def _too_few(many: ManyComparison) -> Iterator[str]:
    """The tests that are left out because a class has too few samples."""
    small = np.flatnonzero(small_classes(many.compared)).tolist()
    if not small:
        return
    sizes = [min(int(matrix.actual[code]) for matrix in many.compared) for code in small]
    which = listed(
        [
            f"{name(many.labels[code])} ({count(size, 'example')})"
            for code, size in zip(small, sizes, strict=True)
        ],
        at_most=_MOST_NAMED,
    )
    averages = [texts.title_inside(key) for key in leading(many) if is_class_average(key)]
    noun = "label" if many.of_sets else "class"
    yield (
        f"Not tested, because a {noun} has fewer than {FEWEST_SAMPLES} examples: "
        f"{', '.join(averages)} and the recall of {which}."
    )


def _equally_right(found: CochranQ, confidence: float) -> str:
    if found.q is None or found.p is None:
        return "All runs get the same examples right."
    do = "do not get" if found.p < 1 - confidence else "may get"
    return (
        f"The runs {do} equally many examples right (Cochran's Q = {found.q:,.1f}, "
        f"{p_value(found.p)})."
    )


def _titles(keys: Sequence[str], n_metrics: int) -> str:
    if len(keys) == n_metrics:
        return "every primary metric"
    return enumerated([texts.title_inside(key) for key in keys])


def _value(places: Sequence[Rank]) -> str:
    """The highest value in brackets."""
    highest = next(place.value.value for place in places if place.rank_status is RankStatus.BEST)
    return "" if highest is None else f" ({number(highest)})"


def selection_sentence(key: str, found: BestOfMany, noun: str = "class") -> str:
    """ "The highest balanced accuracy of 9 runs is 0.873; chosen for being highest, ..."."""
    title, runs = texts.title_inside(key), f"{found.n_runs} runs"
    extreme = texts.rank_text(key, RankStatus.BEST)
    said = f"The {extreme} {title} of {runs} is {number(found.value)}"
    if found.corrected.value is None:
        return (
            f"{said}, which flatters a run that was chosen for being {extreme}; it is not "
            f"corrected for that, because a {noun} has too few examples."
        )
    return (
        f"{said}; chosen for being {extreme}, that run is expected to reach "
        f"{about(found.corrected.value)} on new examples."
    )
