"""The catalogue makes claims about every metric; here each claim is tried.

A declared symmetry, independence or reason must hold on all generated matrices, and one that
is not declared must fail on at least one of them, so that no entry can claim too much or too
little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import Reason
from offdiag.metrics import spec as phrases
from offdiag.metrics.catalogue import (
    CATALOGUE,
    Direction,
    MetricSpec,
    Scope,
    Symmetry,
    Transformation,
)
from offdiag.metrics.orientation import actual_totals, swap_axes, to_canonical
from offdiag.metrics.quantity import REASONS, Quantity
from offdiag.metrics.suite import evaluate_stack
from support.symmetry import INVERSIONS, permute_labels, rescaled, swap_roles

Counts = NDArray[np.int64]
Change = Callable[[Counts], Counts]

GENERATOR = np.random.default_rng(1747)
TWO_CLASSES: Counts = GENERATOR.integers(1, 60, (200, 2, 2))
FOUR_CLASSES: Counts = GENERATOR.integers(2, 60, (100, 4, 4))
WITH_GAPS: Counts = GENERATOR.integers(0, 2, (200, 4, 4)) * GENERATOR.integers(0, 9, (200, 4, 4))
ORDER = (2, 0, 3, 1)

SPECS = [*CATALOGUE[Scope.AGGREGATE].values(), *CATALOGUE[Scope.PER_CLASS].values()]


def exceptions(claim: Callable[[MetricSpec], bool]) -> list[str]:
    """The metrics of which a claim is not true; a test each would be a thousand of them."""
    return [f"{spec.scope} {spec.key}" for spec in SPECS if not claim(spec)]


def symmetry_of(spec: MetricSpec) -> Symmetry:
    assert spec.symmetry is not None, spec.key
    return spec.symmetry


def quantity(spec: MetricSpec, counts: NDArray[np.generic], *, ordinal: bool = True) -> Quantity:
    suite = evaluate_stack(counts, ordinal=ordinal)
    return (suite.aggregate if spec.scope is Scope.AGGREGATE else suite.per_class)[spec.key]


def values(spec: MetricSpec, counts: NDArray[np.generic]) -> NDArray[np.float64]:
    return quantity(spec, counts).value


def of_first_class(spec: MetricSpec, counts: Counts) -> NDArray[np.float64]:
    """Aggregate values, or those of class 0, which is the positive one."""
    found = values(spec, counts)
    return found if spec.scope is Scope.AGGREGATE else found[:, 0]


def same(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    return bool(np.allclose(one, other, rtol=1e-10, atol=1e-12, equal_nan=True))


def partner(spec: MetricSpec, transformation: Transformation) -> MetricSpec:
    return CATALOGUE[spec.scope][spec.symmetry.becomes[transformation]] if spec.symmetry else spec


def test_relayout_with_the_orientation_stated_changes_nothing() -> None:
    laid_out_anew = to_canonical(swap_axes(WITH_GAPS), SourceOrientation.ACTUAL_COLUMNS)

    def as_declared(spec: MetricSpec) -> bool:
        unchanged = same(values(spec, laid_out_anew), values(spec, WITH_GAPS))
        return unchanged == symmetry_of(spec).relayout

    assert exceptions(as_declared) == []


def test_role_swap_is_invisible_exactly_to_the_metrics_that_say_so() -> None:
    def as_declared(spec: MetricSpec) -> bool:
        unchanged = all(
            same(values(spec, swap_roles(counts)), values(spec, counts))
            for counts in (FOUR_CLASSES, WITH_GAPS)
        )
        return unchanged == symmetry_of(spec).role_swap

    assert exceptions(as_declared) == []


def test_label_order_matters_exactly_to_the_metrics_that_say_so() -> None:
    def moved_along(spec: MetricSpec, counts: Counts) -> bool:
        before, after = values(spec, counts), values(spec, permute_labels(counts, ORDER))
        return same(after, before if spec.scope is Scope.AGGREGATE else before[:, ORDER])

    def as_declared(spec: MetricSpec) -> bool:
        declared = symmetry_of(spec).label_permutation
        return {moved_along(spec, counts) for counts in (FOUR_CLASSES, WITH_GAPS)} == {declared}

    assert exceptions(as_declared) == []


@pytest.mark.parametrize("inversion", INVERSIONS)
def test_inversions_of_two_classes(inversion: Transformation) -> None:
    def as_declared(spec: MetricSpec) -> bool:
        before = rescaled(of_first_class(spec, TWO_CLASSES), spec)
        after = rescaled(of_first_class(spec, INVERSIONS[inversion](TWO_CLASSES)), spec)
        unchanged = same(after, sign(inversion) * before)
        return unchanged == bool(getattr(symmetry_of(spec), inversion.value))

    assert exceptions(as_declared) == []


def sign(transformation: Transformation) -> int:
    turns_good_into_bad = (Transformation.SCORING_INVERSION, Transformation.FULL_INVERSION)
    return -1 if transformation in turns_good_into_bad else 1


def test_what_a_metric_becomes_under_a_transformation() -> None:
    for spec in SPECS:
        for transformation in symmetry_of(spec).becomes:
            other = partner(spec, transformation)
            counts = FOUR_CLASSES if transformation is Transformation.ROLE_SWAP else TWO_CLASSES
            change = INVERSIONS.get(transformation, swap_roles)

            taken_over = rescaled(of_first_class(other, change(counts)), other)
            before = rescaled(of_first_class(spec, counts), spec)

            what = f"{spec.scope} {spec.key}, {transformation}"
            assert not getattr(spec.symmetry, transformation.value), what
            assert same(taken_over, sign(transformation) * before), what


def test_prevalence_matters_exactly_to_the_metrics_that_do_not_deny_it() -> None:
    def as_declared(spec: MetricSpec) -> bool:
        per_class = spec.scope is Scope.PER_CLASS
        counts = TWO_CLASSES if per_class else FOUR_CLASSES
        factors = np.array([3, 7] if per_class else [3, 7, 1, 2])
        actual_classes_enlarged = counts * factors[:, np.newaxis]
        unchanged = same(values(spec, actual_classes_enlarged), values(spec, counts))
        return unchanged == symmetry_of(spec).prevalence_independent

    assert exceptions(as_declared) == []


def with_more(actual: int, predicted: int) -> Change:
    def change(counts: Counts) -> Counts:
        changed = counts.copy()
        changed[:, actual, predicted] += 5
        return changed

    return change


def errors_moved(*moves: tuple[int, int, int]) -> Change:
    """Add the last number to the cell named by the first two."""

    def change(counts: Counts) -> Counts:
        changed = counts.copy()
        for actual, predicted, cases in moves:
            changed[:, actual, predicted] += cases
        return changed

    return change


IGNORABLE: Mapping[Scope, Mapping[str, tuple[Change, ...]]] = {
    Scope.PER_CLASS: {
        phrases.TRUE_POSITIVES: (with_more(0, 0),),
        phrases.FALSE_NEGATIVES: (with_more(0, 1),),
        phrases.FALSE_POSITIVES: (with_more(1, 0),),
        phrases.TRUE_NEGATIVES: (with_more(1, 1),),
    },
    Scope.AGGREGATE: {
        phrases.PATTERN_OF_ERRORS: (
            errors_moved((0, 1, 1), (0, 2, -1), (3, 1, -1), (3, 2, 1)),
            errors_moved((0, 2, 1), (0, 3, -1), (1, 2, -1), (1, 3, 1)),
        ),
        phrases.NAMED_CLASS: (errors_moved((0, 1, 1), (0, 2, -1)),),
        phrases.ERRING_CLASS: (errors_moved((0, 1, 1), (2, 1, -1)),),
    },
}


def test_a_metric_ignores_exactly_what_it_says_it_ignores() -> None:
    def as_declared(spec: MetricSpec) -> bool:
        counts = TWO_CLASSES if spec.scope is Scope.PER_CLASS else FOUR_CLASSES
        ignored = {
            phrase
            for phrase, changes in IGNORABLE[spec.scope].items()
            if all(
                same(of_first_class(spec, change(counts)), of_first_class(spec, counts))
                for change in changes
            )
        }
        return ignored == set(spec.ignores)

    assert exceptions(as_declared) == []


def tiny_matrices() -> list[NDArray[np.generic]]:
    """All matrices with few samples, stacked by number of classes, and some sums of weights."""
    one, two, three = (
        np.array(list(product(range(highest + 1), repeat=k * k))).reshape(-1, k, k)
        for k, highest in ((1, 2), (2, 2), (3, 1))
    )
    return [one, two, three, two * 0.3]


def test_a_metric_is_undefined_for_exactly_the_reasons_it_lists() -> None:
    stacks = tiny_matrices()

    def as_declared(spec: MetricSpec) -> bool:
        given: set[Reason] = set()
        for stack in stacks:
            for ordinal in (True, False):
                found = quantity(spec, stack, ordinal=ordinal)
                given |= {REASONS[code - 1] for code in np.unique(found.reason) if code}
        return given == set(spec.undefined_when)

    assert exceptions(as_declared) == []


def test_values_stay_within_their_bounds() -> None:
    stacks = (*tiny_matrices(), TWO_CLASSES, FOUR_CLASSES, WITH_GAPS)

    def as_declared(spec: MetricSpec) -> bool:
        found = [values(spec, stack) for stack in stacks]
        defined = [each[~np.isnan(each)] for each in found]
        return all(((each >= spec.low) & (each <= spec.high)).all() for each in defined)

    assert exceptions(as_declared) == []


def test_only_ratios_tend_to_infinity() -> None:
    stacks = tiny_matrices()

    def as_declared(spec: MetricSpec) -> bool:
        tends = any(quantity(spec, stack).to_infinity.any() for stack in stacks)
        return tends == (Reason.POSITIVE_OVER_ZERO in spec.undefined_when)

    assert exceptions(as_declared) == []


def test_nothing_beats_a_perfect_prediction() -> None:
    perfect = np.zeros_like(FOUR_CLASSES)
    places = np.arange(4)
    perfect[:, places, places] = actual_totals(FOUR_CLASSES)

    def beaten_by_none(spec: MetricSpec) -> bool:
        best, found = values(spec, perfect), values(spec, FOUR_CLASSES)
        comparable = ~np.isnan(best)
        if spec.direction is Direction.HIGHER:
            return bool((best >= found)[comparable].all())
        if spec.direction is Direction.LOWER:
            return bool((best <= found)[comparable].all())
        return True

    assert exceptions(beaten_by_none) == []
