"""The decision page of a dataset: its best runs, what their errors cost, and their trend.

`leaders` finds which runs may be the best, `promotions` records which were chosen. This module
computes what lies between: how the candidate differs from the champion, whether a model became
worse, and how many labelled examples would decide what is still open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from offdiag.comparison.pair import ACCURACY, EXACT
from offdiag.domain.runs import PromotionRole, Task
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.many_runs.best_runs import BestOfMany
from offdiag.metrics.many_runs.confidence_set import BestSet, PairTests
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.multilabel_runs.paired import PairedSets
from offdiag.metrics.paired.difference import paired_cost_differences
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.paired.sample_size import samples_by_class, samples_for_metric, samples_needed
from offdiag.metrics.paired.simultaneous_tests import Statistic
from offdiag.services.champions.drops import drops_in
from offdiag.services.champions.leaders import (
    Leader,
    Leaders,
    RankedTogether,
    best_of_many_among,
    leaders_among,
    leaders_in,
    ranked_by,
)
from offdiag.services.lru_cache import LruCache, result_of
from offdiag.store.cost_matrices import (
    CostMatrixRecord,
    CostVersion,
    default_costs,
    newest_versions,
)
from offdiag.store.database import Database
from offdiag.store.dataset_page import DatasetSize, dataset_size, models_by_first_run
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.evaluations import aggregates_of
from offdiag.store.promotions import PromotionRecord, decided_promotions
from offdiag.store.ranked_runs import (
    WorstClass,
    label_versions,
    undefined_values,
    worst_classes,
)

MOST_LISTED = 20
"""Most decisions of the history that are shown."""
COST = "mean_cost"
METRICS_OF_RUNS = ("balanced_accuracy", "mcc", "overall_accuracy")
METRICS_OF_SETS = ("macro_f1", "subset_accuracy", "example_jaccard")
MEAN_RECALL = "balanced_accuracy"
LEVEL = 0.95
DIFFERENCE = 0.01
"""The default of the smallest difference that matters: one percentage point."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first run minus the second; no bounds if no interval agrees with the test."""

    value: float
    low: float | None
    high: float | None

    @property
    def is_significant(self) -> bool:
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Drop:
    """A run that is worse than the best earlier run of its model.

    The interval holds simultaneously with those of all other pairs of runs.
    """

    run_id: str
    best_id: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class LabelBudget:
    """Labelled examples needed to detect a difference of two runs, including the present ones.

    `low` and `high` are known only for accuracy; `detectable` is the smallest difference that the
    present ones detect. `by_class` has the smallest numbers of additional ones by class code, if
    the metric is the mean recall; only classes that need some.
    """

    first_id: str
    second_id: str
    difference: float
    n_samples: int
    needed: int
    low: int | None
    high: int | None
    detectable: float | None
    by_class: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """Computed facts about the compared runs, by run id.

    `costs` names the costs by which `cheapest` of the best set is judged; `to_champion` is its
    mean cost minus that of the champion. `candidate` is the primary metric of the candidate, or of
    the highest run if there is none, minus that of the champion. The highest run was chosen for
    being highest, so its interval holds simultaneously with those of all pairs of runs.
    """

    values: Mapping[str, Mapping[str, MetricValue]]
    worst: Mapping[str, WorstClass]
    models: tuple[str | None, ...]
    versions: tuple[tuple[int, datetime], ...]
    costs: CostMatrixRecord | None
    cheapest: str | None
    to_champion: Difference | None
    candidate: Difference | None
    drop: Drop | None
    budget: LabelBudget | None
    best_of_many: BestOfMany | None


@dataclass(frozen=True)
class Decision:
    """Everything on the first page of a dataset; `costs` are those for its classes.

    `why_undefined` is why no run has a value, if runs have been evaluated.
    """

    dataset: DatasetRecord
    size: DatasetSize
    leaders: Leaders
    champion: PromotionRecord | None
    candidate: PromotionRecord | None
    history: Sequence[PromotionRecord]
    facts: Facts
    costs: tuple[CostVersion, ...]
    why_undefined: str | None = None

    @property
    def challenger(self) -> Leader | None:
        """The candidate, or if there is none, the highest run that can be compared."""
        return _challenger(self.leaders, _run_of(self.candidate))


@dataclass(frozen=True)
class RankedDataset:
    """The ranked runs of a dataset, and which of them were chosen."""

    leaders: Leaders
    champion: PromotionRecord | None
    candidate: PromotionRecord | None


def ranked_dataset(
    database: Database,
    dataset: DatasetRecord,
    *,
    best_sets: LruCache[BestSet | None] | None = None,
) -> RankedDataset:
    """Which runs may be the best, with champion and candidate, but without their differences."""
    with database.read() as session:
        leaders = leaders_in(session, dataset, kept=best_sets)
        decided, _ = decided_promotions(session, dataset.id, limit=1)
    return RankedDataset(
        leaders, decided.get(PromotionRole.CHAMPION), decided.get(PromotionRole.CANDIDATE)
    )


def browse_decision(
    database: Database,
    *,
    project: str,
    dataset: str,
    difference: float = DIFFERENCE,
    best_sets: LruCache[BestSet | None] | None = None,
    kept: LruCache[Facts] | None = None,
) -> Decision:
    """The decision on a dataset. Raises `NotFound`, `InvalidInput` for a difference not in 0..1.

    Earlier results are taken from the caches `best_sets` and `kept`.
    """
    if not 0 < difference <= 1:
        raise InvalidInput(
            f"{difference:g} is not a difference that could matter.",
            field="difference",
            hint="Give a share above 0 and up to 1, such as 0.01 for one point.",
        )
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        size = dataset_size(session, known.id)
        together = RankedTogether(session, ranked_by(session, known))
        leaders = leaders_among(known.task, together, kept=best_sets)
        decided, history = decided_promotions(session, known.id, limit=MOST_LISTED)
        champion = decided.get(PromotionRole.CHAMPION)
        candidate = decided.get(PromotionRole.CANDIDATE)

        chosen = _run_of(champion), _run_of(candidate)

        key = (
            *(
                known.id,
                leaders.metric,
                leaders.truth_number,
                difference,
                known.default_cost_matrix_id,
            ),
            *chosen,
            # Other costs change the values of an evaluation without making another one.
            *((each.run.evaluation_id, each.run.cost_matrix_id) for each in leaders.runs),
        )
        facts = result_of(kept, key, lambda: _facts(known, leaders, together, chosen, difference))
        has_sets = known.task is Task.MULTILABEL
        costs = () if has_sets else newest_versions(session, dataset_id=known.id)
        undefined = {} if leaders.runs else undefined_values(session, {known.id: leaders.metric})
    return Decision(
        *(known, size, leaders, champion, candidate, history, facts, costs),
        undefined.get(known.id),
    )


def _run_of(decided: PromotionRecord | None) -> str | None:
    return None if decided is None else decided.run_id


def _id_of(leader: Leader | None) -> str | None:
    return None if leader is None else leader.run.id


def _challenger(leaders: Leaders, candidate: str | None) -> Leader | None:
    by_id = {each.run.id: each for each in leaders.runs}
    if candidate in by_id:
        return by_id[candidate]
    return next((each for each in leaders.runs if not each.run.is_chosen_here), None)


def metrics_of(task: Task, primary: str) -> tuple[str, ...]:
    """The metrics by which runs can be ranked, the primary one first."""
    usual = METRICS_OF_SETS if task is Task.MULTILABEL else METRICS_OF_RUNS
    return tuple(dict.fromkeys((primary, *usual)))


def _facts(
    dataset: DatasetRecord,
    leaders: Leaders,
    together: RankedTogether,
    chosen: tuple[str | None, str | None],
    matters: float,
) -> Facts:
    session, (champion, candidate) = together.session, chosen
    run_of = {each.run.evaluation_id: each.run.id for each in leaders.runs}
    keys = (*metrics_of(dataset.task, leaders.metric), COST)
    of_class = "f1" if dataset.task is Task.MULTILABEL else "recall"
    costs = None if dataset.task is Task.MULTILABEL else default_costs(session, dataset.id)
    values = {run_of[at]: each for at, each in aggregates_of(session, run_of, keys).items()}
    paired = _Paired.read(leaders, together)
    challenger = _challenger(leaders, candidate)
    cheapest = None if costs is None else _cheapest(leaders, values)
    to_champion = candidate_difference = drop = budget = None
    if paired is not None:
        if costs is not None and cheapest is not None and champion not in (None, cheapest):
            to_champion = paired.cost_difference(cheapest, champion, costs)
        critical = paired.critical(is_chosen=candidate != _id_of(challenger))
        if challenger is not None:
            candidate_difference = paired.difference(challenger.run.id, champion, critical)
        drop = paired.first_drop(leaders)
        is_apart = champion in paired.places and champion != _id_of(challenger)
        rival = champion if is_apart else _second(leaders, challenger)
        budget = paired.budget(challenger, rival, matters, critical)
    return Facts(
        values=values,
        worst={run_of[at]: each for at, each in worst_classes(session, run_of, of_class).items()},
        models=models_by_first_run(session, [dataset.id]).get(dataset.id, ()),
        versions=label_versions(session, dataset.id),
        costs=costs,
        cheapest=cheapest,
        to_champion=to_champion,
        candidate=candidate_difference,
        drop=drop,
        budget=budget,
        best_of_many=best_of_many_among(leaders, together),
    )


def _cheapest(leaders: Leaders, values: Mapping[str, Mapping[str, MetricValue]]) -> str | None:
    """The run of the best set that costs least; None as long as the cost of one is not known."""
    among = leaders.best_set or leaders.runs
    costs = {
        each.run.id: value.value
        for each in among
        if (value := values.get(each.run.id, {}).get(COST)) is not None and value.value is not None
    }
    if not costs or len(costs) < len(among):
        return None
    return min(costs, key=lambda run_id: costs[run_id])


def _second(leaders: Leaders, challenger: Leader | None) -> str | None:
    """The highest run other than the challenger, which has to be distinguished from it."""
    others = (each.run for each in leaders.runs if each is not challenger)
    return next((run.id for run in others if not run.is_chosen_here), None)


@dataclass(frozen=True)
class _Paired:
    """Runs on the same samples, with tests of every pair by the primary metric.

    Runs whose threshold was chosen on these samples are not in `places`.
    """

    runs: PairedRuns | PairedSets
    tests: PairTests | None
    places: Mapping[str, int]
    metric: str
    lower_is_better: bool

    @classmethod
    def read(cls, leaders: Leaders, together: RankedTogether) -> _Paired | None:
        if leaders.why_not_tested is not None or together.runs is None:
            return None
        places = {
            each.run.id: at for at, each in enumerate(leaders.runs) if not each.run.is_chosen_here
        }
        tests = together.tested[1]
        return cls(together.runs, tests, places, leaders.metric, leaders.lower_is_better)

    def critical(self, *, is_chosen: bool) -> float:
        """The critical value in standard errors; `is_chosen`: a run was chosen by its value."""
        return self.tests.critical if is_chosen and self.tests else normal_quantile(LEVEL)

    def difference(self, first: str, second: str | None, critical: float) -> Difference | None:
        """The primary metric's difference, with an interval of ± `critical` standard errors."""
        if self.tests is None or second is None or first == second:
            return None
        if not {first, second} <= self.places.keys():
            return None
        statistic = self.tests.statistic(self.places[first], self.places[second])
        return self._around(statistic, critical)

    def cost_difference(
        self, first: str, second: str | None, costs: CostMatrixRecord
    ) -> Difference | None:
        if second is None or isinstance(self.runs, PairedSets):
            return None
        if not {first, second} <= self.places.keys():
            return None
        joint = joint_counts(
            actual=self.runs.actual,
            first=self.runs.predictions[self.places[second]],
            second=self.runs.predictions[self.places[first]],
            labels=self.runs.labels,
        )
        found = paired_cost_differences(joint, costs.costs, keys=("mean_cost",))
        value, interval = found["mean_cost"]
        return None if value is None else Difference(value, interval.low, interval.high)

    def first_drop(self, leaders: Leaders) -> Drop | None:
        """The oldest run that is worse than the best earlier run of its model."""
        if self.tests is None:
            return None
        found = next(drops_in([each.run for each in leaders.runs], self.tests), None)
        if found is None:
            return None
        run_id, best_id = found.run.id, found.best.id
        statistic = self.tests.statistic(self.places[run_id], self.places[best_id])
        return Drop(run_id, best_id, self._around(statistic, self.tests.critical))

    def budget(
        self, challenger: Leader | None, rival: str | None, matters: float, critical: float
    ) -> LabelBudget | None:
        """The labels needed; None if the two already differ significantly, or never can."""
        if self.tests is None or challenger is None or rival is None:
            return None
        if rival == challenger.run.id or not {rival, challenger.run.id} <= self.places.keys():
            return None
        first, second = self.places[challenger.run.id], self.places[rival]
        statistic = self.tests.statistic(first, second)
        if statistic.error == 0 or abs(statistic.t) > critical:
            return None
        n_samples = len(self.runs.actual)
        of_runs = challenger.run.id, rival, matters, n_samples
        right = [self.runs.is_right(at) for at in (first, second)]
        if self.metric in (ACCURACY, EXACT):
            found = samples_needed(
                int(np.count_nonzero(right[0] & ~right[1])),
                int(np.count_nonzero(right[1] & ~right[0])),
                n_samples,
                difference=matters,
            )
            return LabelBudget(*of_runs, found.needed, found.low, found.high, found.detectable)
        needed = samples_for_metric(n_samples, statistic.larger_error, difference=matters)
        # The number of samples grows with the inverse square of the difference.
        detectable = matters * float(np.sqrt(needed / n_samples))
        further: Mapping[int, int] = {}
        if self.metric == MEAN_RECALL and isinstance(self.runs, PairedRuns):
            n_classes = len(self.runs.labels)
            by_class = samples_by_class(
                np.bincount(self.runs.actual[right[0] != right[1]], minlength=n_classes),
                np.bincount(self.runs.actual, minlength=n_classes),
                difference=matters,
            )
            further = {code: n for code, n in enumerate(by_class.tolist()) if n}
        return LabelBudget(*of_runs, needed, None, None, detectable, further)

    def _around(self, statistic: Statistic, critical: float) -> Difference:
        sign = -1 if self.lower_is_better else 1
        value, reach = sign * statistic.difference, statistic.reach(critical)
        if reach is None:
            return Difference(value, None, None)
        return Difference(value, value - reach, value + reach)
