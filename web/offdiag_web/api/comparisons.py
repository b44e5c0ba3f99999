"""Runs beside each other."""

from __future__ import annotations

from offdiag.errors import InvalidInput
from offdiag.records.comparison import (
    ComparedExamples,
    ComparedExamplesQuery,
    Comparison,
    ComparisonQuery,
    compared_examples,
    comparison_document,
)
from offdiag.services.compare import compare_runs
from offdiag.services.examples.changed import changed_examples
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry, recent_comparisons

blueprint = resource("comparisons")


@operation(blueprint, "GET", "/compare", answers=Comparison)
def compare(query: ComparisonQuery) -> Comparison:
    """Compare runs from their predictions and the ground truth that counts now.

    Runs that cannot be compared are answered with a refusal that says why.
    """
    found = compare_runs(
        current_registry().database,
        _ids(query),
        slice_text=query.slice,
        on_shared=query.on_shared,
        confidence=query.confidence,
        difference=query.difference,
        kept=recent_comparisons(),
    )
    return comparison_document(found)


@operation(blueprint, "GET", "/compare/examples", answers=ComparedExamples)
def compare_examples(query: ComparedExamplesQuery) -> ComparedExamples:
    """Read examples of two runs that both, one or none of them predict correctly."""
    found = changed_examples(
        current_registry().database,
        [each.strip() for each in query.runs.split(",")],
        outcome=query.which,
        class_label=query.class_label,
        slice_text=query.slice,
        on_shared=query.on_shared,
        start=query.start,
        size=query.limit,
    )
    return compared_examples(found)


def _ids(query: ComparisonQuery) -> list[str]:
    ids = [each.strip() for each in query.runs.split(",")]
    if query.baseline is None:
        return ids
    if query.baseline not in ids:
        raise InvalidInput(
            f"{query.baseline!r} is none of the runs.",
            field="baseline",
            hint="Name one of those that are compared.",
        )
    return [query.baseline, *(each for each in ids if each != query.baseline)]
