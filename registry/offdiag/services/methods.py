"""The methods of a dataset: runs that differ by seed or by fold, taken together and compared."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean, stdev

import numpy as np

from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.runs import Task
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.metrics.intervals.delta import range_of
from offdiag.metrics.paired.best_runs import FEWEST_SAMPLES, tested_metrics
from offdiag.metrics.paired.methods import (
    FOLDS,
    SEEDS,
    Estimate,
    Moments,
    difference_of_methods,
    mean_of_folds,
    mean_of_seeds,
    moments_of,
)
from offdiag.metrics.suite import evaluate_stack
from offdiag.services.champions.leaders import (
    is_lower_better,
    primary_metric,
    ranking_key,
    side_by_side,
)
from offdiag.services.lru_cache import LruCache
from offdiag.services.truth.versions import dataset_named
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord
from offdiag.store.method_runs import MethodRun, matrices_of, method_runs
from offdiag.store.session import Session

LEVEL = 0.05
MOST_RUNS = 500
"""Runs of methods that are read, the newest ones."""


class Design(StrEnum):
    """What the runs of a method differ by."""

    SEEDS = "seeds"
    """They are of the same samples."""
    FOLDS = "folds"
    """Each is of its part of the samples, as in a cross-validation."""


@dataclass(frozen=True)
class Method:
    """The runs of a method by one metric.

    `mean` is the mean over its runs, with the interval that seeds and samples, or folds, allow;
    `spread` the standard deviation of its runs, None for one. `pooled` is the value of the
    matrices of all folds added up, None for seeds. `difference` is to the best method,
    simultaneous over all pairs of methods; None for the best itself, and where
    `why_not_compared` says why.
    """

    name: str
    design: Design
    runs: tuple[MethodRun, ...]
    mean: MetricValue
    spread: float | None
    from_training: float | None
    """Share of the variance of the mean that comes from seeds or folds."""
    pooled: MetricValue | None = None
    rank_status: RankStatus = RankStatus.NOT_TESTED
    difference: MetricValue | None = None
    p_adjusted: float | None = None
    why_not_compared: str | None = None


KnownMoments = tuple[Moments | None, str]
"""Moments of methods, or why there are none."""


@dataclass(frozen=True)
class Methods:
    """The methods of a dataset, best first."""

    dataset: DatasetRecord
    metric: str
    lower_is_better: bool
    methods: tuple[Method, ...]


def methods_of(
    database: Database,
    *,
    project: str,
    name: str,
    metric: str | None = None,
    kept: LruCache[KnownMoments] | None = None,
) -> Methods:
    """The methods of a dataset by `metric`, the primary one by default.

    Runs belong to a method by their tag `group`; the tags `seed` and `fold` say which run of it
    they are. What is read from predictions is kept in `kept`, under the evaluations it is of.
    Raises `NotFound`, and `InvalidInput` for label sets and for a metric that has no better side.
    """
    with database.read() as session:
        dataset = dataset_named(session, project=project, name=name)
        if dataset.task is Task.MULTILABEL:
            raise InvalidInput(
                "its runs have sets of labels.",
                field="dataset",
                hint="Methods are compared by metrics of a confusion matrix.",
            )
        key = primary_metric(dataset) if metric is None else ranking_key(metric, dataset.task)
        lower_is_better = is_lower_better(key, dataset.task)
        by_method: dict[str, list[MethodRun]] = defaultdict(list)
        for run in method_runs(session, dataset.id, key, limit=MOST_RUNS):
            by_method[run.method].append(run)
        folds = {name for name, runs in by_method.items() if any(run.fold for run in runs)}
        of_seeds = {name: runs for name, runs in by_method.items() if name not in folds}
        of_folds = {name: by_method[name] for name in by_method if name in folds}
        methods = [
            *_of_seeds(session, of_seeds, key, lower_is_better=lower_is_better, kept=kept),
            *_of_folds(session, of_folds, key, dataset, lower_is_better=lower_is_better),
        ]
    sign = 1.0 if lower_is_better else -1.0
    methods.sort(key=lambda each: (sign * (each.mean.value or 0.0), each.name))
    return Methods(dataset, key, lower_is_better, tuple(methods))


def _of_seeds(
    session: Session,
    by_method: Mapping[str, Sequence[MethodRun]],
    key: str,
    *,
    lower_is_better: bool,
    kept: LruCache[KnownMoments] | None,
) -> list[Method]:
    """Methods of seeds; those on the samples that most runs have are compared."""
    roots = Counter(
        run.truth_root for runs in by_method.values() for run in runs if run.has_predictions
    )
    root = roots.most_common(1)[0][0] if roots else None
    why_not = {name: _not_paired(runs, root) for name, runs in by_method.items()}
    paired = [name for name, why in why_not.items() if why is None]
    together = [by_method[name] for name in paired]
    evaluations = tuple(tuple(run.evaluation_id for run in runs) for runs in together)

    def compute() -> KnownMoments:
        return _moments(session, together, key)

    moments, reason = compute() if kept is None else kept.get((key, evaluations), compute)
    estimates = {}
    for at, name in enumerate(paired):
        if moments is None:
            why_not[name] = reason
        else:
            values = _values(by_method[name])
            estimates[name] = mean_of_seeds(values, moments.shared(at, len(values)))

    def difference(name: str, best: str) -> Estimate | None:
        if moments is None:
            return None
        at = paired.index(name), paired.index(best)
        first, second = _values(by_method[name]), _values(by_method[best])
        return difference_of_methods(
            first,
            second,
            shared=(moments.shared(at[0], len(first)), moments.shared(at[1], len(second))),
            in_common=float(moments.covariance[at]),
        )

    methods = [
        _method(
            name,
            Design.SEEDS,
            runs,
            key,
            estimate=estimates.get(name),
            why_not=why_not[name],
        )
        for name, runs in by_method.items()
    ]
    return _compared(methods, key, difference, SEEDS, lower_is_better=lower_is_better)


def _not_paired(runs: Sequence[MethodRun], root: int | None) -> str | None:
    """Why the runs of a method are not taken together; None where they can be."""
    if len(runs) < 2:
        return "it has one run"
    if not all(run.has_predictions for run in runs):
        return "some of its runs are matrices without predictions"
    if any(run.truth_root != root for run in runs):
        return "its runs are of other examples"
    return None


def _moments(
    session: Session, runs_of_methods: Sequence[Sequence[MethodRun]], key: str
) -> KnownMoments:
    """What the choice of samples does to the methods, or why that is not known."""
    ids = [run.id for runs in runs_of_methods for run in runs]
    if not ids:
        return None, ""
    paired = side_by_side(session, ids)
    if paired is None:
        return None, "its runs have too many predictions to compare them here"
    if not tested_metrics([key], paired.matrices)[0]:
        return None, f"a class has fewer than {FEWEST_SAMPLES} labelled examples"
    method_of = [at for at, runs in enumerate(runs_of_methods) for _ in runs]
    found = moments_of(paired, method_of, key)
    return found, f"there is no paired test for {key}"


def _of_folds(
    session: Session,
    by_method: Mapping[str, Sequence[MethodRun]],
    key: str,
    dataset: DatasetRecord,
    *,
    lower_is_better: bool,
) -> list[Method]:
    """Methods of folds; those with the same folds as the best one are compared."""
    parts = {name: _by_part(runs) for name, runs in by_method.items()}
    estimates = {
        name: mean_of_folds(_values(found.values()), _test_per_train(found))
        for name, found in parts.items()
        if len({fold for _, fold in found}) > 1
    }
    ids = [run.id for found in parts.values() for run in found.values()]
    matrices = matrices_of(session, ids, dataset.labels) if ids else {}

    def difference(name: str, best: str) -> Estimate | None:
        first, second = parts[name], parts[best]
        if {part: run.truth_root for part, run in first.items()} != {
            part: run.truth_root for part, run in second.items()
        }:
            return None
        apart = [
            a - b
            for a, b in zip(
                _values(first.values()),
                _values(second[part] for part in first),
                strict=True,
            )
        ]
        return mean_of_folds(apart, _test_per_train(first))

    methods = []
    for name, found in parts.items():
        why_not = None if name in estimates else "it has one fold"
        runs = list(found.values())
        counts = sum(matrices[run.id].counts for run in runs)
        value = evaluate_stack(
            np.asarray(counts), ordinal=dataset.labels.ordinal, names=dataset.labels.names
        ).aggregate[key]
        method = _method(
            name, Design.FOLDS, runs, key, estimate=estimates.get(name), why_not=why_not
        )
        methods.append(replace(method, pooled=value.at()))
    return _compared(methods, key, difference, FOLDS, lower_is_better=lower_is_better)


def _by_part(runs: Sequence[MethodRun]) -> dict[tuple[str, str], MethodRun]:
    """Runs by seed and fold in order, the newest of each; runs without a fold are left out."""
    found: dict[tuple[str, str], MethodRun] = {}
    for run in runs:
        if run.fold is not None:
            found.setdefault((run.seed or "", run.fold), run)
    return dict(sorted(found.items()))


def _test_per_train(parts: Mapping[tuple[str, str], MethodRun]) -> float:
    """Size of a test part by that of its training part: 1 / (k - 1) for k folds."""
    return 1 / (len({fold for _, fold in parts}) - 1)


def _values(runs: Iterable[MethodRun]) -> list[float]:
    return [run.value for run in runs]


def _method(
    name: str,
    design: Design,
    runs: Sequence[MethodRun],
    key: str,
    *,
    estimate: Estimate | None,
    why_not: str | None,
) -> Method:
    values = _values(runs)
    mean, share = MetricValue(fmean(values)), None
    if estimate is not None:
        kind = SEEDS if design is Design.SEEDS else FOLDS
        mean = _with_interval(estimate, key, kind, of_difference=False)
        share = estimate.from_training / estimate.variance if estimate.variance > 0 else None
    return Method(
        name=name,
        design=design,
        runs=tuple(runs),
        mean=mean,
        spread=stdev(values) if len(values) > 1 else None,
        from_training=share,
        why_not_compared=why_not,
    )


def _with_interval(
    estimate: Estimate, key: str, kind: str, *, of_difference: bool, n_compared: int = 1
) -> MetricValue:
    """The value with its t interval, cut at the ends of the metric's range."""
    ends = estimate.ends(n_compared=n_compared)
    if ends is None:
        return MetricValue(estimate.value)
    low, high = range_of(key)
    if of_difference:
        low, high = low - high, high - low
    return MetricValue(
        estimate.value, ci_low=max(ends[0], low), ci_high=min(ends[1], high), ci_method=kind
    )


def _compared(
    methods: Sequence[Method],
    key: str,
    difference: Callable[[str, str], Estimate | None],
    kind: str,
    *,
    lower_is_better: bool,
) -> list[Method]:
    """Each method with its difference to the best, at one level for all pairs of methods."""
    able = [each for each in methods if each.why_not_compared is None]
    if not able:
        return list(methods)
    sign = -1.0 if lower_is_better else 1.0
    best = max(able, key=lambda each: sign * (each.mean.value or 0.0))
    n_pairs = max(1, len(able) * (len(able) - 1) // 2)
    found = []
    for each in methods:
        if each.why_not_compared is not None:
            found.append(each)
        elif each is best:
            found.append(replace(each, rank_status=RankStatus.BEST))
        else:
            apart = difference(each.name, best.name)
            found.append(_placed(each, apart, key, kind, n_pairs=n_pairs))
    return found


def _placed(
    method: Method, apart: Estimate | None, key: str, kind: str, *, n_pairs: int
) -> Method:
    if apart is None:
        return replace(method, why_not_compared="its folds are not those of the best method")
    p = apart.p(n_compared=n_pairs)
    is_behind = p is not None and p <= LEVEL
    return replace(
        method,
        rank_status=RankStatus.BEHIND if is_behind else RankStatus.NOT_SEPARABLE,
        difference=_with_interval(apart, key, kind, of_difference=True, n_compared=n_pairs),
        p_adjusted=p,
    )
