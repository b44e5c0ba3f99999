"""The methods of a dataset, each compared with the best, and their learning curves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.values import MetricValue
from offdiag.metrics.many_runs.methods import Estimate
from offdiag.metrics.paired.simultaneous_tests import ROUNDING
from offdiag.services.champions.leaders import is_lower_better, primary_metric, ranking_key
from offdiag.services.lru_cache import LruCache
from offdiag.services.methods.estimates import (
    Estimated,
    KnownMoments,
    Method,
    folds,
    seeds,
    with_interval,
)
from offdiag.store.database import Database
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.method_runs import MethodRun, method_runs

LEVEL = 0.05
MOST_RUNS = 500
"""Most runs of methods that are read, the newest ones."""
UNKNOWN_SIZE = 0.0
"""Stands for the training size of runs that do not state it."""


@dataclass(frozen=True)
class Methods:
    """The methods of a dataset, best first.

    `curves` are the methods at each training size, by name and size; they are not compared, and
    `why_not_compared` says why there is no interval. `n_without_size` runs of methods with a
    learning curve do not state their size and are left out, and so are `n_weighted` runs with
    sample weights. `is_cut` says whether there are more runs than the newest `MOST_RUNS`, which
    were read.
    """

    dataset: DatasetRecord
    metric: str
    lower_is_better: bool
    methods: tuple[Method, ...]
    curves: tuple[Method, ...]
    n_without_size: int
    n_weighted: int
    is_cut: bool


def methods_of(
    database: Database,
    *,
    project: str,
    name: str,
    metric: str | None = None,
    kept: LruCache[KnownMoments] | None = None,
) -> Methods:
    """The methods of a dataset by `metric`, by default the primary one.

    Runs belong to a method by their tag `group`; the tags `seed` and `fold` distinguish the runs
    of a method. With the tag `train_size` a method has a learning curve, and is compared by the
    runs of its largest size. Runs may predict one class each, or sets of labels. Results read from
    predictions are cached in `kept`, by the evaluations they belong to. Raises `NotFound`, and
    `InvalidInput` for a metric that has no better side.
    """
    with database.read() as session:
        dataset = dataset_named(session, project=project, name=name)
        key = primary_metric(dataset) if metric is None else ranking_key(metric, dataset.task)
        lower_is_better = is_lower_better(key, dataset.task)
        found = method_runs(session, dataset.id, key, limit=MOST_RUNS + 1)
        is_cut, found = len(found) > MOST_RUNS, found[:MOST_RUNS]
        counted = [run for run in found if not run.is_weighted]
        by_size = _by_size(counted)

        def estimated(by_method: Mapping[str, Sequence[MethodRun]]) -> tuple[Estimated, Estimated]:
            of_folds = {
                name: runs for name, runs in by_method.items() if any(run.fold for run in runs)
            }
            of_seeds = {name: by_method[name] for name in by_method if name not in of_folds}
            return (
                seeds(session, of_seeds, key, kept=kept),
                folds(session, of_folds, key, dataset),
            )

        largest = {method: max(sizes) for method, sizes in by_size.items()}
        methods = [
            each
            for design in estimated({name: by_size[name][largest[name]] for name in by_size})
            for each in _compared(design, key, lower_is_better=lower_is_better)
        ]
        sizes = {size for of_method in by_size.values() for size in of_method} - {UNKNOWN_SIZE}
        curves = [
            each
            for size in sizes
            for design in estimated(
                {name: sizes[size] for name, sizes in by_size.items() if size in sizes}
            )
            for each in design.methods
        ]
    sign = 1.0 if lower_is_better else -1.0
    methods.sort(
        key=lambda each: (
            each.mean.value is None,
            sign * (each.mean.value or 0.0),
            each.name,
        )
    )
    place = {each.name: at for at, each in enumerate(methods)}
    curves.sort(key=lambda each: (place[each.name], each.train_size or 0.0))
    without_size = (
        len(sizes[UNKNOWN_SIZE])
        for method, sizes in by_size.items()
        if UNKNOWN_SIZE in sizes and largest[method] > UNKNOWN_SIZE
    )
    return Methods(
        dataset,
        key,
        lower_is_better,
        tuple(methods),
        tuple(curves),
        sum(without_size),
        len(found) - len(counted),
        is_cut,
    )


def _by_size(runs: Iterable[MethodRun]) -> dict[str, dict[float, list[MethodRun]]]:
    found: dict[str, dict[float, list[MethodRun]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        found[run.method][run.train_size or UNKNOWN_SIZE].append(run)
    return {method: dict(sizes) for method, sizes in found.items()}


def _compared(estimated: Estimated, key: str, *, lower_is_better: bool) -> list[Method]:
    """Each method with its difference from the best, at one level for all pairs of methods.

    Methods with another training size than most are listed but not compared.
    """
    counts = Counter(each.train_size for each in estimated.methods if each.train_size)
    size = max(counts, key=lambda size: (counts[size], size), default=None)
    methods = [
        replace(each, why_not_compared="its largest training size is not that of the others")
        if each.why_not_compared is None and each.train_size not in {None, size}
        else each
        for each in estimated.methods
    ]
    able = [each for each in methods if each.why_not_compared is None]
    if not able:
        return methods
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
            apart = estimated.difference(each.name, best.name)
            found.append(_placed(each, apart, key, estimated.kind, n_pairs=n_pairs))
    return found


def _placed(
    method: Method, apart: Estimate | None, key: str, kind: str, *, n_pairs: int
) -> Method:
    if apart is None:
        return replace(method, why_not_compared="its folds are not those of the best method")
    p = apart.p(n_compared=n_pairs)
    if p is None and abs(apart.value) > ROUNDING:
        return replace(
            method,
            difference=MetricValue(apart.value),
            why_not_compared="its difference to the best method never varies",
        )
    is_behind = p is not None and p <= LEVEL
    return replace(
        method,
        rank_status=RankStatus.BEHIND if is_behind else RankStatus.NOT_SEPARABLE,
        difference=with_interval(apart, key, kind, of_difference=True, n_compared=n_pairs),
        p_adjusted=p,
    )
