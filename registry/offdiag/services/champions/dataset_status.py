"""The status of each dataset: its champion or best run, and whether that is certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import thread_time

from offdiag.domain.runs import PromotionRole, Task
from offdiag.metrics.many_runs.confidence_set import MOST_TESTED, BestSet
from offdiag.services.champions.drops import RunDrop, newest_drops
from offdiag.services.champions.leaders import (
    DEFAULT_METRICS,
    LOWER_IS_BETTER,
    RankedTogether,
    leaders_among,
    why_not_tested,
)
from offdiag.services.lru_cache import LruCache
from offdiag.store.database import Session
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.promotions import PromotionRecord, Promotions
from offdiag.store.ranked_runs import RankedRun, RankedRuns, ranked_runs_of

MOST_PREDICTIONS = 500_000
"""Most predictions of the ranked runs of a dataset for an overview to compare them."""


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """The ranked runs of a dataset, best first, with its champion and candidate.

    `best_set` has the ids of the runs that may be the best, the highest first, None if they were
    not compared. `candidate_difference` is the candidate minus the champion, 0 if it is not
    significant and None if they were not compared. `drops` are the newest runs of models that are
    significantly worse than an earlier one. With `is_waiting`, they would have taken too long to
    compare now.
    """

    ranked: RankedRuns
    champion: PromotionRecord | None
    candidate: PromotionRecord | None
    best_set: tuple[str, ...] | None = None
    candidate_difference: float | None = None
    drops: tuple[RunDrop, ...] = ()
    is_waiting: bool = False

    @property
    def shown(self) -> RankedRun:
        """The champion, or else the highest-ranked run."""
        return _run_of(self.ranked, self.champion) or self.ranked.runs[0]

    @property
    def n_best(self) -> int | None:
        """How many runs may be the best, None if they were not compared."""
        return None if self.best_set is None else len(self.best_set)

    @property
    def is_champion(self) -> bool:
        """Whether `shown` was approved."""
        return _run_of(self.ranked, self.champion) is not None


@dataclass(frozen=True, slots=True)
class KeptComparisons:
    """Caches of the comparisons between the runs of datasets."""

    best_sets: LruCache[BestSet | None]
    drops: LruCache[tuple[RunDrop, ...]]


def statuses(
    session: Session,
    overview: Sequence[DatasetFacts],
    roles: Mapping[int, Promotions],
    *,
    kept: KeptComparisons,
    most_s: float = inf,
) -> dict[int, DatasetStatus]:
    """The status of datasets by their primary metric, by id; those without a value are absent.

    `roles` are the promotions in force by dataset. One statement, and a few for each dataset that
    is small enough and whose runs have not been compared before. After `most_s` of processor time,
    runs are not compared any more.
    """
    ranked = _ranked(session, overview)
    until = thread_time() + most_s
    return {
        each.id: _status(session, each, ranked[each.id], roles.get(each.id, {}), kept, until=until)
        for each in overview
        if each.id in ranked
    }


def compare_ahead(
    session: Session,
    overview: Sequence[DatasetFacts],
    *,
    kept: KeptComparisons,
    is_stopped: Callable[[], bool],
) -> None:
    """Compare the runs of one dataset after another, so that no one has to wait for it later."""
    ranked = _ranked(session, overview)
    for each in overview:
        if is_stopped():
            return
        if each.id in ranked:
            _status(session, each, ranked[each.id], {}, kept)


def _ranked(session: Session, overview: Sequence[DatasetFacts]) -> dict[int, RankedRuns]:
    return ranked_runs_of(
        session,
        [each.id for each in overview],
        DEFAULT_METRICS,
        lower_is_better=LOWER_IS_BETTER,
        limit=MOST_TESTED,
    )


def _status(
    session: Session,
    dataset: DatasetFacts,
    ranked: RankedRuns,
    roles: Promotions,
    kept: KeptComparisons,
    *,
    until: float = inf,
) -> DatasetStatus:
    status = DatasetStatus(
        ranked, roles.get(PromotionRole.CHAMPION), roles.get(PromotionRole.CANDIDATE)
    )
    is_small = (dataset.n_samples or 0) * len(ranked.runs) <= MOST_PREDICTIONS
    if not is_small or why_not_tested(dataset.task, ranked) is not None:
        return status
    compared = (ranked.key, *(run.evaluation_id for run in ranked.runs))
    if thread_time() >= until and compared not in kept.drops:
        return replace(status, is_waiting=True)

    together = RankedTogether(session, ranked)
    leaders = leaders_among(dataset.task, together, kept=kept.best_sets)
    if leaders.why_not_tested is not None:
        return status
    return replace(
        status,
        best_set=tuple(each.run.id for each in leaders.best_set),
        candidate_difference=_difference(session, dataset.task, status, kept.best_sets),
        drops=kept.drops.get(compared, lambda: newest_drops(ranked, together.tested[1])),
    )


def _difference(
    session: Session, task: Task, status: DatasetStatus, kept: LruCache[BestSet | None]
) -> float | None:
    champion = _run_of(status.ranked, status.champion)
    candidate = _run_of(status.ranked, status.candidate)
    if champion is None or candidate is None or champion.id == candidate.id:
        return None
    if champion.is_chosen_here or candidate.is_chosen_here:
        return None
    in_order = tuple(run for run in status.ranked.runs if run in (champion, candidate))
    pair = replace(status.ranked, runs=in_order, total=2)
    found = leaders_among(task, RankedTogether(session, pair), kept=kept)
    if found.why_not_tested is not None:
        return None
    if len(found.best_set) == 2:
        return 0.0
    assert candidate.value.value is not None  # noqa: S101 - ranked runs have values
    assert champion.value.value is not None  # noqa: S101 - as above
    return candidate.value.value - champion.value.value


def _run_of(ranked: RankedRuns, role: PromotionRecord | None) -> RankedRun | None:
    if role is None:
        return None
    known = (*ranked.runs, *ranked.weighted)
    return next((run for run in known if run.id == role.run_id), None)


def by_time(ranked: RankedRuns, *, most: int) -> Mapping[str, float | None]:
    """The values of the newest ranked runs, oldest first, by run id."""
    newest = sorted(ranked.runs, key=lambda run: (run.created_at, run.id))[-most:]
    return {run.id: run.value.value for run in newest}
