"""Where every dataset stands: its champion or leader, and whether that is certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from offdiag.domain.runs import PromotionRole, Task
from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.catalogue import Direction
from offdiag.metrics.paired.confidence_set import MOST_TESTED, BestSet
from offdiag.services.champions.leaders import (
    DEFAULT_METRIC,
    DEFAULT_OF_SETS,
    best_set_of,
    placed,
    why_not_tested,
)
from offdiag.services.lru_cache import LruCache
from offdiag.store import datasets
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.promotions import PromotionRecord, Promotions, promotions_in_force
from offdiag.store.ranked_runs import RankedRun, RankedRuns, ranked_runs_of_all
from offdiag.store.session import Session

MOST_PREDICTIONS = 500_000
"""Predictions of the ranked runs of one dataset up to which an overview compares them."""
_KEYS = {task: DEFAULT_OF_SETS if task is Task.MULTILABEL else DEFAULT_METRIC for task in Task}
_LOWER = tuple(key for key, spec in AGGREGATES.items() if spec.direction is Direction.LOWER)


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """The ranked runs of a dataset, best first, and who holds its roles.

    `n_best` runs may be the best, None where they were not compared. `candidate_difference` is
    that of the candidate from the champion, only where it is significant.
    """

    ranked: RankedRuns
    champion: PromotionRecord | None
    candidate: PromotionRecord | None
    n_best: int | None = None
    candidate_difference: float | None = None

    @property
    def shown(self) -> RankedRun:
        """The champion, else the highest run."""
        return _run_of(self.ranked, self.champion) or self.ranked.runs[0]

    @property
    def is_champion(self) -> bool:
        """Whether `shown` was approved."""
        return _run_of(self.ranked, self.champion) is not None


def statuses(
    session: Session, overview: Sequence[DatasetFacts], *, kept: LruCache[BestSet | None]
) -> dict[int, DatasetStatus]:
    """Where datasets stand by their primary metric, by id; those without a value are absent.

    Two statements, and a few for each dataset whose best set is not in `kept` and small enough.
    """
    roles = promotions_in_force(session)
    ranked = ranked_runs_of_all(session, _KEYS, lower_is_better=_LOWER, limit=MOST_TESTED)
    return {
        each.id: _status(session, each, ranked[each.id], roles.get(each.id, {}), kept)
        for each in overview
        if each.id in ranked
    }


def _status(
    session: Session,
    dataset: DatasetFacts,
    ranked: RankedRuns,
    roles: Promotions,
    kept: LruCache[BestSet | None],
) -> DatasetStatus:
    status = DatasetStatus(
        ranked, roles.get(PromotionRole.CHAMPION), roles.get(PromotionRole.CANDIDATE)
    )
    is_small = (dataset.n_samples or 0) * len(ranked.runs) <= MOST_PREDICTIONS
    if not is_small or why_not_tested(dataset.task, ranked) is not None:
        return status
    return replace(
        status,
        n_best=len(_in_best_set(session, dataset.id, ranked, kept)),
        candidate_difference=_difference(session, dataset.id, status, kept),
    )


def _in_best_set(
    session: Session, dataset_id: int, ranked: RankedRuns, kept: LruCache[BestSet | None]
) -> list[RankedRun]:
    def compute() -> BestSet | None:
        return best_set_of(session, datasets.get_dataset(session, dataset_id), ranked)

    key = (ranked.key, *(run.evaluation_id for run in ranked.runs))
    found = kept.get(key, compute)
    return [each.run for each in placed(ranked, found) if each.is_in_set]


def _difference(
    session: Session, dataset_id: int, status: DatasetStatus, kept: LruCache[BestSet | None]
) -> float | None:
    champion = _run_of(status.ranked, status.champion)
    candidate = _run_of(status.ranked, status.candidate)
    if champion is None or candidate is None or champion.id == candidate.id:
        return None
    in_order = tuple(run for run in status.ranked.runs if run in (champion, candidate))
    pair = replace(status.ranked, runs=in_order, total=2)
    if len(_in_best_set(session, dataset_id, pair, kept)) != 1:
        return None
    assert candidate.value.value is not None  # noqa: S101 - ranked runs have values
    assert champion.value.value is not None  # noqa: S101 - as before
    return candidate.value.value - champion.value.value


def _run_of(ranked: RankedRuns, role: PromotionRecord | None) -> RankedRun | None:
    if role is None:
        return None
    return next((run for run in ranked.runs if run.id == role.run_id), None)


def by_time(ranked: RankedRuns, *, most: int) -> Mapping[str, float | None]:
    """The values of the newest ranked runs, oldest first, by the id of the run."""
    newest = sorted(ranked.runs, key=lambda run: (run.created_at, run.id))[-most:]
    return {run.id: run.value.value for run in newest}
