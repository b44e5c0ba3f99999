"""Comparisons as plain values, ready for `json.dumps(..., allow_nan=False)`."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import Any

from offdiag.comparison.differences import (
    DIFFERENCE_THAT_MATTERS,
    CellDifferences,
    MetricDifference,
    class_values,
)
from offdiag.comparison.many import ManyComparison, selection_record
from offdiag.comparison.pair import PairComparison, PairedFacts
from offdiag.comparison.pair_verdict import (
    Verdict,
    undecided_among,
    undecided_pair,
    undecided_record,
)
from offdiag.comparison.rank_status import Rank
from offdiag.comparison.texts import run_label
from offdiag.metrics.counted import Counted, numbers_of
from offdiag.metrics.intervals.draws import INTERVAL_SEED
from offdiag.metrics.many_runs.confidence_set import DRAWS


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """The sentences and the tone."""
    return {
        "headline": verdict.headline,
        "details": list(verdict.details),
        "tone": verdict.tone,
    }


def pair_record(
    pair: PairComparison, *, difference: float = DIFFERENCE_THAT_MATTERS
) -> dict[str, Any]:
    """Record of two runs; every difference is B minus A. `difference` is the one that matters."""
    return {
        "is_paired": pair.paired is not None,
        "n": {"a": pair.first.total, "b": pair.second.total},
        "class_sizes": {"a": _class_sizes(pair.first), "b": _class_sizes(pair.second)},
        "confidence": pair.confidence,
        "seed": INTERVAL_SEED,
        "judged_together": {
            "metrics": list(pair.together.tested),
            "left_out": list(pair.together.left_out),
            "critical_value": pair.together.critical,
            "n_classes": dict(pair.classes_tested),
        },
        "metrics": {each.key: difference_record(each) for each in pair.metrics},
        "per_class": {
            key: {str(each.class_label): difference_record(each) for each in found}
            for key, found in pair.classes.items()
        },
        **({} if pair.paired is None else _paired_record(pair, pair.paired)),
        "samples_needed": undecided_record(undecided_pair(pair, difference=difference)),
        "cells": _cell_records(pair.cells, pair.labels),
    }


def many_record(
    many: ManyComparison, *, difference: float = DIFFERENCE_THAT_MATTERS
) -> dict[str, Any]:
    """Record of several runs; `behind` is a run minus the one named by `compared_with`."""
    run_labels = [run_label(at) for at in range(len(many.matrices))]
    return {
        "n": {run_label(at): matrix.total for at, matrix in enumerate(many.matrices)},
        "class_sizes": {
            run_label(at): _class_sizes(matrix) for at, matrix in enumerate(many.matrices)
        },
        "not_paired": [run_label(at) for at in many.unpaired],
        "on_other_labels": [run_label(at) for at in many.left_out],
        "confidence": many.confidence,
        "seed": INTERVAL_SEED,
        "replicates": DRAWS,
        "metrics": {
            key: {run_label(at): rank_record(place) for at, place in enumerate(found)}
            for key, found in many.places.items()
        },
        "per_class": {
            run_label(at): {
                key: {
                    name: value.to_dict() for name, value in zip(many.labels, values, strict=True)
                }
                for key, values in class_values(matrix, confidence=many.confidence).items()
            }
            for at, matrix in enumerate(many.matrices)
        },
        "recall_standings": {
            name: {run_label(at): rank_record(place) for at, place in enumerate(found)}
            for name, found in zip(many.labels, many.recall, strict=True)
        },
        "pairs": [
            {
                "first": run_label(pair.first),
                "second": run_label(pair.second),
                "only_first": pair.only_first,
                "only_second": pair.only_second,
                "p": pair.p,
                "p_adjusted": pair.p_adjusted,
            }
            for pair in many.pairs
        ],
        "cochran": None if many.cochran is None else asdict(many.cochran),
        "best_of_many": selection_record(many.best_of_many, run_labels),
        "samples_needed": undecided_record(undecided_among(many, difference=difference)),
    }


def difference_record(found: MetricDifference) -> dict[str, Any]:
    """Record of one metric under both runs."""
    return {
        "a": found.first.to_dict(),
        "b": found.second.to_dict(),
        "difference": found.difference.to_dict(),
        "simultaneous_interval": None
        if found.simultaneous is None
        else {
            "ci_low": found.simultaneous.low,
            "ci_high": found.simultaneous.high,
            "ci_method": found.simultaneous.provenance,
        },
        "outcome": found.outcome.value,
        "p": found.p,
        "p_adjusted": found.p_adjusted,
    }


def rank_record(place: Rank) -> dict[str, Any]:
    """Record of one run by one metric."""
    return {
        **place.value.to_dict(),
        "standing": place.rank_status.value,
        "behind": None if place.behind is None else place.behind.to_dict(),
        "compared_with": None if place.compared_with is None else run_label(place.compared_with),
        "p": place.p,
        "p_adjusted": place.p_adjusted,
    }


def _paired_record(pair: PairComparison, facts: PairedFacts) -> dict[str, Any]:
    churn = zip(pair.labels, facts.churn_of_classes, strict=True)
    return {
        "n_same_answer": facts.n_same_prediction,
        "counts": facts.churn.to_dict(),
        "counts_per_class": {name: each.to_dict() for name, each in churn},
        "mcnemar": None if facts.mcnemar is None else asdict(facts.mcnemar),
        "stuart_maxwell": None if facts.margins is None else asdict(facts.margins),
        "bowker": None if facts.symmetry is None else asdict(facts.symmetry),
    }


def _class_sizes(matrix: Counted) -> dict[str, int]:
    return dict(zip(matrix.labels.names, numbers_of(matrix).actual.tolist(), strict=True))


def _cell_records(cells: CellDifferences | None, labels: tuple[str, ...]) -> list[dict[str, Any]]:
    if cells is None:
        return []
    return [
        {
            "actual": labels[actual],
            "predicted": labels[predicted],
            "difference": gained,
            "share": _finite(share),
            "share_ci_low": _finite(low),
            "share_ci_high": _finite(high),
            "is_significant": is_certain,
        }
        for actual, predicted, gained, share, low, high, is_certain in zip(
            cells.actual.tolist(),
            cells.predicted.tolist(),
            cells.gained.tolist(),
            cells.share.tolist(),
            cells.low.tolist(),
            cells.high.tolist(),
            cells.is_certain.tolist(),
            strict=True,
        )
    ]


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None
