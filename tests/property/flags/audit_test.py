"""What holds for the audit of any table: true numbers pass, and no search misses a matrix."""

from __future__ import annotations

import json
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from offdiag.audit.feasible import Constraint, feasible_tables, is_met, table_values
from offdiag.audit.findings import AuditVerdict
from offdiag.audit.printed import Interval
from offdiag.audit.reported_values import AGGREGATES, CLASS_KEYS
from offdiag.domain.values import MetricValue
from offdiag.metrics.suite import Suite, evaluate_stack
from offdiag.sdk.evaluations.audit import audit_reported

Counts = NDArray[np.int64]

pytestmark = pytest.mark.filterwarnings("ignore::offdiag.errors.LabelNote")
"""Counts of 100 examples of each class are noted."""


@st.composite
def matrices(draw: st.DrawFn, most_classes: int = 4) -> Counts:
    """Matrices in which every class has a case."""
    size = draw(st.integers(2, most_classes))
    cells = st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 300))
    counts: Counts = draw(arrays(np.int64, (size, size), elements=cells))
    assume((counts.sum(axis=1) > 0).all())
    return counts


def as_printed(found: MetricValue, decimals: int, *, zero_division: bool = False) -> str:
    """Rounded text; for undefined values the word or, where libraries say 0, a zero."""
    value = found.value
    if value is None and zero_division and found.limit is None:
        value = 0.0
    if value is None:
        return "undefined"
    return str(Decimal(value).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN))


def published(
    suite: Suite, size: int, draw: st.DrawFn, *, zero_division: bool
) -> dict[str, object]:
    """Some metrics of a matrix, each rounded to some number of decimals."""
    keys = draw(st.lists(st.sampled_from((*AGGREGATES, *CLASS_KEYS)), min_size=1, unique=True))
    table: dict[str, object] = {}
    for key in keys:
        decimals = draw(st.integers(2, 6))
        if key in AGGREGATES:
            found = suite.aggregate[key].at()
            table[key] = as_printed(found, decimals, zero_division=zero_division)
        else:
            values = [suite.per_class[key].at(code) for code in range(size)]
            table[key] = [
                as_printed(value, decimals, zero_division=zero_division) for value in values
            ]
    return table


@st.composite
def tables(
    draw: st.DrawFn, most_classes: int = 4, *, zero_division: bool = False
) -> tuple[Counts, dict[str, object]]:
    """A matrix and what might be published about it."""
    counts = draw(matrices(most_classes))
    suite = evaluate_stack(counts, ordinal=True)
    return counts, published(suite, len(counts), draw, zero_division=zero_division)


@given(tables())
def test_what_a_matrix_really_gives_is_consistent_with_it(
    table: tuple[Counts, dict[str, object]],
) -> None:
    counts, reported = table

    report = audit_reported(
        reported=reported,
        matrix=counts,
        class_counts=counts.sum(axis=1),
        labels=range(len(counts)),
    )

    assert {finding.verdict for finding in report.findings} == {AuditVerdict.CONSISTENT}
    json.dumps(report.to_dict(), allow_nan=False)


@given(tables())
def test_true_numbers_are_never_called_impossible_by_the_class_sizes(
    table: tuple[Counts, dict[str, object]],
) -> None:
    counts, reported = table

    report = audit_reported(
        reported=reported, class_counts=counts.sum(axis=1), labels=range(len(counts))
    )

    assert report.verdict is AuditVerdict.CONSISTENT, report
    json.dumps(report.to_dict(), allow_nan=False)


@given(tables())
def test_true_numbers_never_contradict_each_other(table: tuple[Counts, dict[str, object]]) -> None:
    counts, reported = table

    report = audit_reported(reported=reported, labels=range(len(counts)))

    assert report.verdict is AuditVerdict.CONSISTENT, report


@given(tables(zero_division=True), st.booleans())
def test_zeros_for_undefined_values_are_explained_and_never_impossible(
    table: tuple[Counts, dict[str, object]], with_matrix: bool
) -> None:
    counts, reported = table
    sizes = counts.sum(axis=1)

    report = audit_reported(
        reported=reported,
        matrix=counts if with_matrix else None,
        class_counts=sizes,
        labels=range(len(counts)),
    )

    found = {finding.verdict for finding in report.findings}
    assert found <= {AuditVerdict.CONSISTENT, AuditVerdict.OTHER_DEFINITION}, report


@given(matrices())
def test_numbers_of_the_exchanged_matrix_are_never_called_impossible(counts: Counts) -> None:
    suite = evaluate_stack(np.ascontiguousarray(counts.transpose()), ordinal=False)
    keys = ("overall_accuracy", "macro_precision", "macro_recall", "weighted_f1", "mcc")
    reported = {key: as_printed(suite.aggregate[key].at(), 6) for key in keys}

    report = audit_reported(reported=reported, matrix=counts, class_counts=counts.sum(axis=1))

    found = {finding.verdict for finding in report.findings}
    assert found <= {AuditVerdict.CONSISTENT, AuditVerdict.TRANSPOSED}


@given(tables(most_classes=2))
def test_the_matrix_behind_the_numbers_is_always_listed(
    table: tuple[Counts, dict[str, object]],
) -> None:
    counts, reported = table

    report = audit_reported(reported=reported, class_counts=counts.sum(axis=1), labels=[0, 1])

    assert report.tables is not None
    assert tuple(map(tuple, counts.tolist())) in set(report.tables)


@st.composite
def constraints(draw: st.DrawFn) -> tuple[tuple[int, int], tuple[Constraint, ...]]:
    """Class sizes and demands, some of which no table meets."""
    sizes = draw(st.tuples(st.integers(0, 12), st.integers(0, 12)))
    found = []
    for key in draw(st.lists(st.sampled_from((*AGGREGATES, *CLASS_KEYS)), min_size=1, max_size=3)):
        code = None if key in AGGREGATES else draw(st.integers(0, 1))
        low = draw(st.floats(-1, 1.5))
        width = draw(st.sampled_from((0.0, 0.005, 0.1, 0.6)))
        is_undefined = draw(st.booleans()) and draw(st.booleans())
        found.append(Constraint(key, code, None if is_undefined else Interval(low, low + width)))
    return sizes, tuple(found)


@given(constraints())
def test_the_search_finds_exactly_the_tables_that_trying_all_finds(
    question: tuple[tuple[int, int], tuple[Constraint, ...]],
) -> None:
    (first, second), asked = question
    hits, alarms = (grid.ravel() for grid in np.indices((first + 1, second + 1)))
    fits = np.ones(len(hits), np.bool_)
    for one in asked:
        fits &= is_met(table_values(one.key, one.code, hits, alarms, (first, second)), one.allowed)

    found = feasible_tables((first, second), asked)

    places = [(hit, alarm) for (hit, _), (alarm, _) in found]
    assert sorted(places) == sorted(zip(hits[fits].tolist(), alarms[fits].tolist(), strict=True))
    assert found.count == len(places)
