"""The best runs of a dataset by its primary metric, with tests of which are worse."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from offdiag.comparison.many import best_by_metric
from offdiag.comparison.rank_status import Rank, RankStatus, places
from offdiag.domain.runs import Task
from offdiag.errors import InvalidInput
from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.catalogue import CATALOGUE, Direction, Scope
from offdiag.metrics.counted import are_sets
from offdiag.metrics.intervals.delta import range_of
from offdiag.metrics.many_runs.best_runs import FEWEST_SAMPLES, BestOfMany, metric_contest
from offdiag.metrics.many_runs.confidence_set import (
    MOST_TESTED,
    BestSet,
    Contest,
    PairTests,
    best_set_and_pairs,
)
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.multilabel_runs.best_of_many import best_of_many_sets
from offdiag.metrics.multilabel_runs.judged_sets import set_contest
from offdiag.metrics.multilabel_runs.paired import PairedSets, has_slopes, paired_sets
from offdiag.metrics.names import find_metric, nearest_names
from offdiag.metrics.weighted.counts import of_weights
from offdiag.services.comparisons.shared_samples import aligned, places_in_lineages
from offdiag.services.evaluation.compute import INTERVAL_SEED
from offdiag.services.lru_cache import LruCache, result_of
from offdiag.store import compared_runs as queries
from offdiag.store import datasets
from offdiag.store.database import Database, Session
from offdiag.store.dataset_page import DatasetFacts
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.ranked_runs import RankedRun, RankedRuns, ranked_runs
from offdiag.store.truths import truth_codes_of

SCOPES: Mapping[Task, Scope] = {
    task: Scope.MULTILABEL if task is Task.MULTILABEL else Scope.AGGREGATE for task in Task
}
"""The scope of metrics of whole runs in the catalogue, by task."""
DEFAULT_METRICS: Mapping[Task, str] = {
    task: "macro_f1" if task is Task.MULTILABEL else "balanced_accuracy" for task in Task
}
"""The metric that ranks the runs of a dataset without a primary metric."""
LOWER_IS_BETTER: Mapping[Task, frozenset[str]] = {
    task: frozenset(
        key for key, spec in CATALOGUE[scope].items() if spec.direction is Direction.LOWER
    )
    for task, scope in SCOPES.items()
}
"""Metrics for which the lowest run comes first."""
MOST_PREDICTIONS = 20_000_000
"""Most predictions of all runs together for comparing them: what fits beside a request."""
MOST_CORRECTED = 500_000
"""Most predictions and cells of all runs for correcting the best value: about a second of work."""


@dataclass(frozen=True, slots=True)
class Leader:
    """A run with its value of the primary metric, and how it compares with the best."""

    run: RankedRun
    rank: Rank

    @property
    def is_in_set(self) -> bool:
        """Whether the run may be the best: it is not significantly worse than any other run."""
        return self.rank.rank_status in (RankStatus.BEST, RankStatus.NOT_SEPARABLE)


@dataclass(frozen=True)
class Leaders:
    """The runs of a dataset by its primary metric, best first.

    `why_not_tested` says why no run is called worse than another, None if all were compared. At
    most 200 of the `total` ranked runs are included; `n_outdated` others wait for results on the
    newest labels, and `n_weighted` have sample weights, so they are not ranked with these unless
    all have weights (`has_weights`). `best_of_many` is set by `corrected_leaders` alone.
    """

    metric: str
    lower_is_better: bool
    truth_number: int | None
    runs: tuple[Leader, ...]
    total: int
    n_outdated: int
    why_not_tested: str | None = None
    n_weighted: int = 0
    has_weights: bool = False
    best_of_many: BestOfMany | None = None

    @property
    def compared(self) -> tuple[Leader, ...]:
        """Runs whose thresholds were not chosen on these samples."""
        return tuple(each for each in self.runs if not each.run.is_chosen_here)

    @property
    def best_set(self) -> tuple[Leader, ...]:
        """The runs that may be the best; empty if nothing was tested."""
        if self.why_not_tested is not None:
            return ()
        return tuple(each for each in self.runs if each.is_in_set)

    @property
    def n_chosen_here(self) -> int:
        """Runs that are listed but not compared: their thresholds were chosen on these samples."""
        return len(self.runs) - len(self.compared)


def primary_metric(dataset: DatasetRecord | DatasetFacts) -> str:
    """The key by which the runs of a dataset are ranked."""
    return dataset.primary_metric or DEFAULT_METRICS[dataset.task]


def set_primary_metric(
    database: Database, *, project: str, dataset: str, key: str | None
) -> DatasetRecord:
    """Set the metric that ranks the runs of a dataset; None for the default.

    Raises `NotFound`, and `InvalidInput` for a key that is no aggregate metric or has no better
    side.
    """
    with database.write() as session:
        known = dataset_named(session, project=project, name=dataset)
        if key is not None:
            key = ranking_key(key, known.task)
        datasets.set_primary_metric(session, known.id, key)
        return datasets.get_dataset(session, known.id)


def ranking_key(name: str, task: Task) -> str:
    """The key of a metric of whole runs that has a better side, by any of its names.

    Raises `InvalidInput` for an unknown name.
    """
    specs = CATALOGUE[SCOPES[task]]
    meant = find_metric(name, specs)
    if meant is None or specs[meant.key].direction is Direction.NEITHER:
        near = nearest_names(name, specs)
        raise InvalidInput(
            f"runs cannot be ranked by {name!r}.",
            field="metric",
            hint=near
            or "Name a metric of whole runs, not of scores, of which more or less is better, such "
            f"as {DEFAULT_METRICS[task]!r}.",
        )
    return meant.key


def leaders_of(
    database: Database,
    dataset: DatasetRecord,
    *,
    metric: str | None = None,
    kept: LruCache[BestSet | None] | None = None,
) -> Leaders:
    """The runs of a dataset by `metric`, by default the primary one, with their best set.

    The best set is computed from predictions, or taken from `kept`, where its key is made of the
    evaluations it was computed from. Raises `InvalidInput` for a metric without a better side.
    """
    with database.read() as session:
        return leaders_in(session, dataset, metric=metric, kept=kept)


def corrected_leaders(
    database: Database,
    dataset: DatasetRecord,
    *,
    metric: str | None = None,
    kept: LruCache[BestSet | None] | None = None,
    kept_choices: LruCache[BestOfMany | None] | None = None,
) -> Leaders:
    """`leaders_of` with what the run with the best value is expected to reach on new samples."""
    with database.read() as session:
        together = RankedTogether(session, ranked_by(session, dataset, metric=metric))
        found = leaders_among(dataset.task, together, kept=kept)
        best = result_of(
            kept_choices, together.evaluations, lambda: best_of_many_among(found, together)
        )
        return replace(found, best_of_many=best)


def leaders_in(
    session: Session,
    dataset: DatasetRecord,
    *,
    metric: str | None = None,
    kept: LruCache[BestSet | None] | None = None,
) -> Leaders:
    """`leaders_of` within an open session."""
    ranked = ranked_by(session, dataset, metric=metric)
    return leaders_among(dataset.task, RankedTogether(session, ranked), kept=kept)


def ranked_by(
    session: Session, dataset: DatasetRecord, *, metric: str | None = None
) -> RankedRuns:
    """The runs of a dataset by a metric, by default the primary one, as many as are tested."""
    key = primary_metric(dataset) if metric is None else ranking_key(metric, dataset.task)
    return ranked_runs(
        session,
        dataset.id,
        key,
        lower_is_better=is_lower_better(key, dataset.task),
        limit=MOST_TESTED,
    )


@dataclass(frozen=True)
class RankedTogether:
    """Ranked runs on the same samples, read and compared only when needed."""

    session: Session
    ranked: RankedRuns

    @property
    def evaluations(self) -> tuple[Hashable, ...]:
        """What the comparison was computed from: the metric and the evaluation of each run."""
        return (self.ranked.key, *(run.evaluation_id for run in self.ranked.runs))

    @cached_property
    def runs(self) -> PairedRuns | PairedSets | None:
        """Their predictions in rank order; None if they are too many to fit."""
        return side_by_side(self.session, [run.id for run in self.ranked.runs])

    @cached_property
    def tested(self) -> tuple[BestSet | None, PairTests | None]:
        """Their best set and the tests of all pairs, from the same draws.

        Runs whose threshold was chosen on these samples take no part.
        """
        if self.runs is None:
            return None, None
        chosen_here = [at for at, run in enumerate(self.ranked.runs) if run.is_chosen_here]
        contest = contest_by(self.runs, self.ranked.key).without(chosen_here)
        return best_set_and_pairs(contest, seed=INTERVAL_SEED)


def leaders_among(
    task: Task, together: RankedTogether, *, kept: LruCache[BestSet | None] | None = None
) -> Leaders:
    """The leaders among runs that are already ranked."""
    ranked = together.ranked
    found, why_not = None, why_not_tested(task, ranked)
    if why_not is None:
        found = result_of(kept, together.evaluations, lambda: together.tested[0])
        if found is None:
            why_not = "the runs have too many predictions to compare them here"
        elif not found.is_tested.any():
            found = None
            noun = "label" if task is Task.MULTILABEL else "class"
            why_not = f"a {noun} has fewer than {FEWEST_SAMPLES} labelled examples"
    lower_is_better = is_lower_better(ranked.key, task)
    return Leaders(
        ranked.key,
        lower_is_better,
        ranked.truth_number,
        _placed(ranked, found, lower_is_better=lower_is_better),
        ranked.total,
        ranked.n_outdated,
        why_not,
        ranked.n_weighted,
        ranked.has_weights,
    )


def best_of_many_among(leaders: Leaders, together: RankedTogether) -> BestOfMany | None:
    """The best of three or more compared runs, its value corrected for the choice.

    None if nothing was tested, and for too many predictions.
    """
    runs, key = together.runs if leaders.why_not_tested is None else None, leaders.metric
    if runs is None or runs.n_runs * (runs.n_samples + len(runs.labels) ** 2) > MOST_CORRECTED:
        return None
    if isinstance(runs, PairedSets):
        return best_of_many_sets(runs, [key], seed=INTERVAL_SEED).get(key)
    places = [at for at, each in enumerate(leaders.runs) if not each.run.is_chosen_here]
    compared = replace(runs, predictions=tuple(runs.predictions[at] for at in places))
    return best_by_metric(compared, [key]).get(key)


def is_lower_better(key: str, task: Task) -> bool:
    """Whether runs with lower values of a metric are better."""
    return key in LOWER_IS_BETTER[task]


def why_not_tested(task: Task, ranked: RankedRuns) -> str | None:
    """Why no run is called worse than another; None if their predictions can be compared."""
    if not _is_testable(task, ranked.key):
        return f"there is no paired test for {ranked.key}"
    if len(ranked.runs) < 2:
        on_labels = f" on label version {ranked.truth_number}" if ranked.truth_number else ""
        unweighted = " without sample weights" if ranked.n_weighted else ""
        return f"fewer than two runs{unweighted} have {ranked.key}{on_labels}"
    if not all(run.has_predictions for run in ranked.runs):
        return "some runs are matrices without predictions"
    if ranked.has_weights:
        return "the runs have sample weights, and only pairs of such runs are tested"
    if sum(not run.is_chosen_here for run in ranked.runs) < 2:
        return "the thresholds of the runs were chosen on these examples"
    return None


def _is_testable(task: Task, key: str) -> bool:
    if task is Task.MULTILABEL:
        return has_slopes(key)
    spec = AGGREGATES.get(key)
    return spec is not None and (spec.slopes is not None or spec.gradient is not None)


def contest_by(runs: PairedRuns | PairedSets, key: str) -> Contest:
    """The comparison of runs on the same samples by one metric."""
    if isinstance(runs, PairedSets):
        return set_contest(runs, [key])
    return metric_contest(runs, [key])


def side_by_side(session: Session, run_ids: Sequence[str]) -> PairedRuns | PairedSets | None:
    """Runs of one dataset with predictions on the same samples; None if too many to fit."""
    runs = queries.compared_runs(session, run_ids)
    if any(run.is_weighted for run in runs.values()):
        raise of_weights("A comparison of many runs")
    if sum(run.n_predictions for run in runs.values()) > MOST_PREDICTIONS:
        return None
    lineages = list({run.truth.root_id: run.truth for run in runs.values() if run.truth}.values())
    labels = runs[run_ids[0]].labels
    found = aligned(
        [runs[each] for each in run_ids],
        lineages,
        places_in_lineages(lineages, {}) or {},
        truth_codes_of(session, [each.id for each in lineages]),
        queries.predictions_of(session, run_ids),
        n_classes=len(labels),
        n_each=tuple(each.n_samples for each in lineages),
    )
    predicted = tuple(found.predicted[each] for each in run_ids)
    if are_sets(found.actual):
        return paired_sets(found.actual, *predicted, labels=labels)
    return PairedRuns(found.actual, predicted, labels)


def _placed(
    ranked: RankedRuns, found: BestSet | None, *, lower_is_better: bool
) -> tuple[Leader, ...]:
    """Ranked runs with how each compares with the best, None if nothing was tested."""
    if found is None:
        eligible = (run.value.value for run in ranked.runs if not run.is_chosen_here)
        highest = next(eligible, None)
        return tuple(Leader(run, Rank(run.value, _untested(run, highest))) for run in ranked.runs)
    low, high = range_of(ranked.key)
    width = high - low if high < inf and low > -inf else inf
    values = [run.value for run in ranked.runs]
    statuses = places(found, values, lower_is_better=lower_is_better, width=width)
    return tuple(map(Leader, ranked.runs, statuses))


def _untested(run: RankedRun, highest: float | None) -> RankStatus:
    is_best = highest is not None and run.value.value == highest and not run.is_chosen_here
    return RankStatus.BEST if is_best else RankStatus.NOT_TESTED
