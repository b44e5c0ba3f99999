"""Search for slices on which a run is worse than on the rest, among all slices at once.

Every slice of one column is compared with all other samples. A deeper slice, a cross of two or a
`country/site` within its `country`, is compared with each of its parents without it, and
its p is the largest of these (an intersection-union test, Berger 1982, Technometrics 24,
295): it is found only if it adds something to its parents. Half of the error rate goes to slices
of one column and half to deeper ones, each by Benjamini and Hochberg's procedure (1995), so a
column that fails does not make its crosses easier to find. If no slice has any effect, that is
also the chance that any is found. Intervals of differences have the level that matches this many
findings among this many tests (Benjamini and Yekutieli 2005, J. Am. Stat. Assoc. 100, 71).

If samples are in two random halves, what one half finds alone is tested in the other (Holm).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.intervals.proportions import normal_quantile, wilson_of_sizes
from offdiag.metrics.metric_text import spec_of
from offdiag.metrics.names import find_metric
from offdiag.metrics.orientation import STACK_PREDICTED_AXIS
from offdiag.metrics.paired.hypothesis_tests import benjamini_hochberg, holm
from offdiag.metrics.slices.counts import (
    CONDITION_AXIS,
    MIN_SAMPLES,
    NO_PARENT,
    NUMBER_AXIS,
    SliceCounts,
)
from offdiag.metrics.slices.gaps import (
    SLOPES,
    Floats,
    Margins,
    aggregate_statistic,
    difference_interval,
    exact_p,
    normal_p,
)

LEVEL = 0.05
TEST_AXIS = -1
"""Axis of tests (slices, metrics) along which the metric changes."""
HALF_AXIS, TOTAL_HALF_AXIS = 1, 0
"""Axes along which the half of the samples changes, in numbers of slices and of all samples."""
ACCURACY, SUBSET_ACCURACY, RECALL = "overall_accuracy", "subset_accuracy", "recall"
NESTING = "/"
Proportions = tuple[Floats, Floats, Floats, Floats]
"""Hits and samples of one group, hits and samples of the other."""


@dataclass(frozen=True, slots=True)
class SliceGap:
    """One metric of one slice compared with the samples outside it.

    `code` is the class of a recall. `hits` of `cases` are those of a proportion, None for
    averages over classes and for weights, which have an effective size, `n_effective`. `gap` is
    `value` less `rest`; its ends have the level of all findings together, those of `value` are
    95 %. `effect` is Cohen's h. `explained` is the share of all errors that would disappear if
    the slice were as good as the rest. `confirmed` says whether the other half of the samples
    agrees with what the first half found, None if that half alone finds nothing.
    """

    terms: tuple[tuple[str, str], ...]
    key: str
    code: int | None
    n_samples: int
    hits: int | None
    cases: int
    value: float
    low: float | None
    high: float | None
    rest_hits: int | None
    rest_cases: int
    rest: float
    gap: float
    gap_low: float | None
    gap_high: float | None
    p: float
    p_adjusted: float
    is_significant: bool
    effect: float | None
    share_of_errors: float
    explained: float
    confirmed: bool | None
    n_effective: float | None


@dataclass(frozen=True, eq=False)
class Question:
    """What is tested: metrics by key and class, how errors are distributed, and sizes.

    It also defines what the numbers of S slices are, here counts (S, 2 + 3 K).
    """

    metrics: tuple[tuple[str, int | None], ...]
    errors: Floats | None
    min_samples: int
    is_weighted: ClassVar[bool] = False

    def samples(self, numbers: Floats) -> Floats:
        return numbers

    def sums(self, numbers: Floats) -> Floats:
        """The numbers from which metrics are computed: counts, or sums of weights."""
        return numbers

    def margins(self, numbers: Floats) -> Margins:
        """These numbers by class, for averages."""
        return margins_in(numbers)

    def proportions(self, one: Floats, other: Floats, key: str, code: int | None) -> Proportions:
        """Hits and samples of two groups in the form that intervals need."""
        return (*proportion(one, key, code), *proportion(other, key, code))

    def p_of_rates(self, one: Floats, other: Floats, key: str, code: int | None) -> Floats:
        """The p value of the difference of a proportion."""
        return exact_p(*self.proportions(one, other, key, code))


@dataclass(frozen=True, eq=False)
class _Tests:
    """p of each test (S, M), NaN if it is not made; `adjusted` for all tests that are made."""

    gap: Floats
    p: Floats
    is_deep: NDArray[np.bool_]

    @cached_property
    def is_made(self) -> NDArray[np.bool_]:
        return np.isfinite(self.p)

    @cached_property
    def kinds(self) -> list[NDArray[np.bool_]]:
        """Tests of flat and of deep slices, (S, M) each, without kinds that have no test."""
        deep = self.is_made & self.is_deep[:, np.newaxis]
        return [kind for kind in (self.is_made & ~deep, deep) if kind.any()]

    @cached_property
    def adjusted(self) -> Floats:
        found = np.full(self.p.shape, np.nan)
        for kind in self.kinds:
            found[kind] = np.minimum(benjamini_hochberg(self.p[kind]) * len(self.kinds), 1.0)
        return found

    @cached_property
    def found(self) -> NDArray[np.bool_]:
        return self.is_made & (np.nan_to_num(self.adjusted, nan=1.0) <= LEVEL)


@dataclass(frozen=True, eq=False)
class SliceFindings:
    """All tests of a run, and the gap of any slice."""

    counts: SliceCounts
    metrics: tuple[tuple[str, int | None], ...]
    tests: _Tests
    confirmed: NDArray[np.int8]
    """By test: 1 confirmed, -1 not confirmed, 0 not found by one half alone."""
    numbers: Floats
    total: Floats
    question: Question

    @property
    def n_tests(self) -> int:
        return int(self.tests.is_made.sum())

    @property
    def n_slices(self) -> int:
        """Slices with at least one test."""
        return int(self.tests.is_made.any(axis=TEST_AXIS).sum())

    def worst(self, limit: int | None = None, keys: Sequence[str] | None = None) -> list[SliceGap]:
        """Tested gaps below 0, the most surprising first, for these metrics or all."""
        at = np.nonzero(self._below(keys))
        order = np.lexsort((self.tests.gap[at], self.tests.p[at], self.tests.adjusted[at]))
        first = order[:limit]
        return [
            self.gap(int(s), int(m)) for s, m in zip(*(each[first] for each in at), strict=True)
        ]

    def n_below(self, keys: Sequence[str] | None = None) -> int:
        """Number of all gaps that `worst` can list."""
        return int(self._below(keys).sum())

    def _below(self, keys: Sequence[str] | None) -> NDArray[np.bool_]:
        wanted = np.array([keys is None or key in keys for key, _ in self.metrics])
        found: NDArray[np.bool_] = self.tests.is_made & (self.tests.gap < 0) & wanted
        return found

    def keys_named(self, name: str | None) -> tuple[str, ...] | None:
        """The tested metric that a name means; None for all of them.

        Raises `InvalidInput` for a metric that is not tested.
        """
        if name is None:
            return None
        tested = tuple(dict.fromkeys(key for key, _ in self.metrics))
        meant = find_metric(name, tested)
        if meant is None:
            raise InvalidInput(
                f"slices are not tested on {name!r}.",
                field="metric",
                hint=f"They are tested on {', '.join(tested)}.",
            )
        return (meant.key,)

    @cached_property
    def n_found(self) -> int:
        """Significant gaps below 0."""
        return int((self.tests.found & (self.tests.gap < 0)).sum())

    def of_slice(self, terms: Iterable[tuple[str, str]], code: int | None) -> SliceGap | None:
        """Recall of a class (None: accuracy) in one slice; None if the slice is not kept."""
        place = self._places.get(frozenset(terms))
        if place is None:
            return None
        return self.gap(
            place, next(at for at, (_, each) in enumerate(self.metrics) if each == code)
        )

    def errors(self, code: int | None, terms: frozenset[tuple[str, str]]) -> int:
        """Errors among the samples of a class (None: of all) in a slice; 0 if it is not kept.

        Without terms, the slice is all samples.
        """
        place = self._places.get(terms)
        if place is None and terms:
            return 0
        numbers = self.total if place is None else self.numbers[place]
        key = RECALL if code is not None else ACCURACY
        hits, cases = proportion(self.question.samples(numbers), key, code)
        return int(cases - hits)

    def with_wider(self, terms: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """The terms of a slice and of the levels above it: `country/site` is in `country`."""
        known, found = set(self.counts.choice_names), set(terms)
        for name, choice in terms:
            above = _above(name, choice)
            while above in known:
                found.add(above)
                above = _above(*above)
        return frozenset(found)

    @cached_property
    def _places(self) -> dict[frozenset[tuple[str, str]], int]:
        return {frozenset(self.counts.terms(at)): at for at in range(len(self.counts))}

    def gap(self, place: int, test: int) -> SliceGap:
        """One metric of one slice, whether it was tested or not."""
        key, code = self.metrics[test]
        one, rest = self.numbers[place], self.total - self.numbers[place]
        question = self.question
        hits, cases, rest_hits, rest_cases = question.proportions(one, rest, key, code)
        confidence = self._confidence(place, test)
        is_rate = key not in SLOPES
        p = float(self.tests.p[place, test])
        found = bool(self.tests.found[place, test])
        misses = question.sums(self.total)[0] - question.sums(self.total)[1]
        low = high = effect = None
        if is_rate:
            value, other = _share(hits, cases), _share(rest_hits, rest_cases)
            bounds = difference_interval(
                *map(np.asarray, (hits, cases, rest_hits, rest_cases)), confidence=confidence
            )
            ends = (float(bounds.low), float(bounds.high))
            own = wilson_of_sizes(hits, cases)
            low, high = float(own.low), float(own.high)
            effect = float(2 * (np.arcsin(np.sqrt(value)) - np.arcsin(np.sqrt(other))))
        else:
            groups = (question.margins(each[np.newaxis]) for each in (one, rest))
            value, other = (float(each.values(key)[0]) for each in groups)
            spec = spec_of(key, of_class=False)
            ends = _around(value - other, p, confidence, largest=spec.high - spec.low)
        mine = question.sums(one)
        sum_of_hits, sum_of_cases = proportion(mine, key, code)
        saved = max(0.0, sum_of_cases * other - sum_of_hits) if is_rate else 0.0
        is_counted = is_rate and not question.is_weighted
        return SliceGap(
            terms=self.counts.terms(place),
            key=key,
            code=code,
            n_samples=int(question.samples(one)[0]),
            hits=int(hits) if is_counted else None,
            cases=int(proportion(question.samples(one), key, code)[1]),
            value=value,
            low=low,
            high=high,
            rest_hits=int(rest_hits) if is_counted else None,
            rest_cases=int(proportion(question.samples(rest), key, code)[1]),
            rest=other,
            gap=value - other,
            gap_low=ends[0] if np.isfinite(ends[0]) else None,
            gap_high=ends[1] if np.isfinite(ends[1]) else None,
            p=p,
            p_adjusted=float(self.tests.adjusted[place, test]),
            is_significant=found,
            effect=effect,
            share_of_errors=_share(mine[0] - mine[1], misses),
            explained=_share(saved, misses),
            confirmed={1: True, -1: False}.get(int(self.confirmed[place, test])),
            n_effective=float(cases) if question.is_weighted else None,
        )

    def _confidence(self, place: int, test: int) -> float:
        """The level for intervals of differences of a test, given how many are found."""
        for kind in self.tests.kinds:
            if kind[place, test]:
                share = max(1, int((kind & self.tests.found).sum())) / int(kind.sum())
                return 1 - LEVEL * share / len(self.tests.kinds)
        return 1 - LEVEL


def find_slices(
    counts: SliceCounts, matrix: NDArray[np.int64] | None, *, min_samples: int = MIN_SAMPLES
) -> SliceFindings:
    """Test every slice that has `min_samples` or more of the samples that a metric is about.

    `matrix` (K, K) is that of all samples, None for sets of labels: then accuracy is that of whole
    sets, and averages over classes are not tested. Slices with fewer samples of a class than
    `min_samples` are not tested on its recall, slices with fewer than 5 of any on averages.
    """
    numbers, total = counts.numbers.astype(np.float64), counts.total.astype(np.float64)
    question = Question(*metrics_and_errors(counts.n_classes, matrix), min_samples)
    return findings_among(counts, numbers, total, question)


def metrics_and_errors(
    n_classes: int, matrix: NDArray[Any] | None
) -> tuple[tuple[tuple[str, int | None], ...], Floats | None]:
    """The metrics tested for each slice, and each prediction's share of the errors of a class."""
    per_class: list[tuple[str, int | None]] = [(RECALL, code) for code in range(n_classes)]
    of_all: list[tuple[str, int | None]] = [(key, None) for key in SLOPES]
    accuracy = SUBSET_ACCURACY if matrix is None else ACCURACY
    metrics = ((accuracy, None), *(of_all if matrix is not None else []), *per_class)
    errors = None
    if matrix is not None:
        wrong = matrix - np.diag(np.diagonal(matrix))
        of_class = wrong.sum(axis=STACK_PREDICTED_AXIS, keepdims=True)
        errors = wrong / np.where(of_class > 0, of_class, 1)
    return metrics, errors


def findings_among(
    counts: SliceCounts, numbers: Floats, total: Floats, question: Question
) -> SliceFindings:
    """Test slices by `numbers` (S, H, ...) and those of all samples, `total` (H, ...)."""
    parents = _parents(counts)

    def tested(part: slice) -> _Tests:
        chosen, whole = numbers[:, part].sum(axis=HALF_AXIS), total[part].sum(axis=TOTAL_HALF_AXIS)
        return _tested(chosen, whole, parents, question)

    everything = tested(slice(None))
    confirmed = np.zeros(everything.p.shape, dtype=np.int8)
    if len(total) == 2:
        first, second = tested(slice(0, 1)), tested(slice(1, 2))
        selected = first.found & second.is_made
        if selected.any():
            agrees = (holm(second.p[selected]) <= LEVEL) & (
                np.sign(second.gap[selected]) == np.sign(first.gap[selected])
            )
            confirmed[selected] = np.where(agrees, 1, -1)
    return SliceFindings(
        counts,
        question.metrics,
        everything,
        confirmed,
        numbers.sum(axis=HALF_AXIS),
        total.sum(axis=TOTAL_HALF_AXIS),
        question,
    )


def _parents(counts: SliceCounts) -> NDArray[np.int32]:
    """The parents of each slice, (S, C): the slices that it crosses, or the level above.

    The parents of a cross of three columns are the crosses of two of them.
    """
    place = {term: at for at, term in enumerate(counts.choice_names)}
    parents = counts.members.copy()
    parents[: counts.n_singles] = NO_PARENT
    if counts.members.shape[CONDITION_AXIS] > 2:
        places = {tuple(each): at for at, each in enumerate(counts.members.tolist())}
        for members, place_of_all in list(places.items()):
            if NO_PARENT not in members:
                parents[place_of_all] = [
                    places.get((*pair, NO_PARENT), NO_PARENT) for pair in combinations(members, 2)
                ]
    for at, (name, choice) in enumerate(counts.choice_names):
        above = _above(name, choice)
        parents[at, 0] = place.get(above, NO_PARENT) if above[0] else NO_PARENT
    return parents


def _above(name: str, choice: str) -> tuple[str, str]:
    """The level above a value such as `a/b`; the name is empty if there is none."""
    return name.rpartition(NESTING)[0], choice.rpartition(NESTING)[0]


def _tested(
    numbers: Floats, total: Floats, parents: NDArray[np.int32], question: Question
) -> _Tests:
    is_deep = (parents != NO_PARENT).any(axis=CONDITION_AXIS)
    gap, p = _against(numbers, total - numbers, question)
    if is_deep.any():
        for at in range(parents.shape[-1]):
            chosen = np.flatnonzero(parents[:, at] != NO_PARENT)
            left = numbers[parents[chosen, at]] - numbers[chosen]
            step, p_step = _against(numbers[chosen], left, question)
            agrees = np.sign(step) == np.sign(gap[chosen])
            # NaN is kept: a slice that equals its parent adds nothing.
            p[chosen] = np.where(agrees | np.isnan(p_step), np.maximum(p[chosen], p_step), 1.0)
    return _Tests(gap, p, is_deep)


def _against(one: Floats, other: Floats, question: Question) -> tuple[Floats, Floats]:
    """Difference and p of each metric between two groups of each slice, (S, M) each.

    The normal limit of an average is far off if a slice has few errors. Averages depend on
    recalls alone as long as errors fall on the same classes, so their p is at least that of all
    rates together (Bonferroni), which are tested exactly.
    """
    gap, p = np.full((2, len(one), len(question.metrics)), np.nan)
    p_of_any = np.ones(len(one))
    n_rates = sum(key not in SLOPES for key, _ in question.metrics)
    # Rates come first, whatever their position, because averages need them.
    for at, (key, code) in sorted(
        enumerate(question.metrics), key=lambda each: each[1][0] in SLOPES
    ):
        cases, rest = (proportion(question.samples(each), key, code)[1] for each in (one, other))
        enough = np.minimum(cases, rest) >= question.min_samples
        mine, others = one[enough], other[enough]
        if key in SLOPES and question.errors is not None:
            here, there = question.margins(mine), question.margins(others)
            statistic = aggregate_statistic(key, here, there, question.errors)
            gap[enough, at] = here.values(key) - there.values(key)
            exact = np.minimum(n_rates * p_of_any[enough], 1.0)
            limit = np.maximum(normal_p(statistic), exact)
            p[enough, at] = np.where(np.isnan(statistic), np.nan, limit)
        else:
            hits, cases, theirs, rest = question.proportions(mine, others, key, code)
            gap[enough, at] = hits / cases - theirs / rest
            found = question.p_of_rates(one, other, key, code)
            p_of_any = np.fmin(p_of_any, found)
            p[enough, at] = found[enough]
    return gap, p


def proportion(numbers: Floats, key: str, code: int | None) -> tuple[Any, Any]:
    """Hits and samples of a metric in numbers (..., 2 + 3 K); all samples for an average."""
    n_classes = (numbers.shape[NUMBER_AXIS] - 2) // 3
    if key == RECALL and code is not None:
        return numbers[..., 2 + 2 * n_classes + code], numbers[..., 2 + code]
    return numbers[..., 1], numbers[..., 0]


def margins_in(numbers: Floats) -> Margins:
    """The margins of each class in numbers (S, 2 + 3 K)."""
    actual, predicted, correct = np.split(numbers[..., 2:], 3, axis=NUMBER_AXIS)
    return Margins(actual, predicted, correct)


def _share(part: Any, whole: Any) -> float:
    return float(part / whole) if whole else float("nan")


def _around(gap: float, p: float, confidence: float, *, largest: float) -> tuple[float, float]:
    """The interval that excludes 0 exactly if p is below its level, within -+ `largest`."""
    if not p < 1:
        return (np.nan, np.nan)
    smallest = float(np.finfo(np.float64).tiny)
    reach = abs(gap) * normal_quantile(confidence) / -NormalDist().inv_cdf(max(p, smallest) / 2)
    return (max(-largest, gap - reach), min(largest, gap + reach))
