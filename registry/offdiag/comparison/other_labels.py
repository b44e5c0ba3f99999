"""Runs on different label versions: their values are shown, but no difference is computed.

Corrected labels may be the only difference, so a test between them has no known error rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from offdiag.comparison.differences import class_values, headline_values
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison, untested_pair
from offdiag.comparison.rank_status import Rank, RankStatus
from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.confusion import ConfusionMatrix

_NO_DIFFERENCE = MetricValue(None, Reason.DIFFERENCE_OTHER_LABELS)


def without_differences(
    found: PairComparison, *, on_labels: tuple[int | None, ...]
) -> PairComparison:
    """The comparison with only the values and counts of both runs."""
    return replace(untested_pair(found, lambda _: _NO_DIFFERENCE), cells=None, on_labels=on_labels)


def with_left_out(
    found: ManyComparison,
    others: Mapping[int, ConfusionMatrix],
    *,
    on_labels: tuple[int | None, ...],
) -> ManyComparison:
    """The comparison among `others`, by position, whose runs have values but no place."""
    n_runs = len(found.matrices) + len(others)
    compared = [at for at in range(n_runs) if at not in others]
    values = {at: headline_values(matrix) for at, matrix in others.items()}
    recall = {
        at: class_values(matrix, confidence=found.confidence)["recall"]
        for at, matrix in others.items()
    }

    def among(places: Sequence[Rank], of_others: Mapping[int, MetricValue]) -> tuple[Rank, ...]:
        ranks = {at: _moved(place, compared) for at, place in zip(compared, places, strict=True)}
        ranks |= {at: _without_place(value) for at, value in of_others.items()}
        return tuple(ranks[at] for at in range(n_runs))

    matrices = {**dict(zip(compared, found.matrices, strict=True)), **others}
    return replace(
        found,
        matrices=tuple(matrices[at] for at in range(n_runs)),
        places={
            key: among(places, {at: each[key] for at, each in values.items()})
            for key, places in found.places.items()
        },
        recall=tuple(
            among(places, {at: each[code] for at, each in recall.items()})
            for code, places in enumerate(found.recall)
        ),
        pairs=tuple(
            replace(pair, first=compared[pair.first], second=compared[pair.second])
            for pair in found.pairs
        ),
        unpaired=tuple(sorted((*(compared[at] for at in found.unpaired), *others))),
        best_of_many={
            key: replace(best, run=compared[best.run]) for key, best in found.best_of_many.items()
        },
        left_out=tuple(sorted(others)),
        on_labels=on_labels,
    )


def _moved(place: Rank, compared: Sequence[int]) -> Rank:
    if place.compared_with is None:
        return place
    return replace(place, compared_with=compared[place.compared_with])


def _without_place(value: MetricValue) -> Rank:
    return Rank(value, RankStatus.UNDEFINED if value.value is None else RankStatus.NOT_TESTED)
