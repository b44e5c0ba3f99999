"""The mean of each method over seeds or folds with its interval, and differences of two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean, stdev

from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.number_text import count
from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.counted import CountedSets, Unweighted, added_up
from offdiag.metrics.intervals import custom_samples as custom
from offdiag.metrics.intervals.delta import range_of
from offdiag.metrics.many_runs.best_runs import FEWEST_SAMPLES, tested_metrics
from offdiag.metrics.many_runs.methods import (
    FOLDS,
    SEEDS,
    Estimate,
    Moments,
    difference_of_methods,
    differences,
    mean_of_folds,
    mean_of_seeds,
    moments_of,
    moments_of_covariance,
)
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.multilabel.suite import set_metrics
from offdiag.metrics.multilabel.tally import SetTally
from offdiag.metrics.multilabel_runs.paired import has_slopes
from offdiag.metrics.suite import evaluate_stack
from offdiag.services.champions.leaders import side_by_side
from offdiag.services.lru_cache import LruCache, result_of
from offdiag.store.database import Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.method_runs import MethodRun, counts_of


class Design(StrEnum):
    """How the runs of a method differ."""

    SEEDS = "seeds"
    """All are on the same samples."""
    FOLDS = "folds"
    """Each is on its own part of the samples, as in cross-validation."""


@dataclass(frozen=True)
class Method:
    """The runs of a method by one metric, all trained on the same number of examples.

    `mean` is the mean over its runs, with the interval that seeds and samples, or folds, allow; it
    is undefined if the metric is undefined for one of them. `spread` is the standard deviation of
    its runs, None for one run. `pooled` is the value of the summed matrices of all folds, None for
    seeds. `difference` is to the best method, simultaneous over all pairs of methods; None for the
    best itself. Where `why_not_compared` says why, it has no interval, or is None as well.
    """

    name: str
    design: Design
    runs: tuple[MethodRun, ...]
    mean: MetricValue
    spread: float | None
    from_training: float | None
    """The share of the variance of the mean that comes from seeds or folds."""
    pooled: MetricValue | None = None
    rank_status: RankStatus = RankStatus.NOT_TESTED
    difference: MetricValue | None = None
    p_adjusted: float | None = None
    why_not_compared: str | None = None

    @property
    def train_size(self) -> float | None:
        """Training examples of each run, or up to 1 their share; None if not tagged."""
        return self.runs[0].train_size


_NO_MEAN = MetricValue(None, Reason.COMPONENT_UNDEFINED.value)

KnownMoments = tuple[Moments | None, str]
"""The moments of methods, or why there are none."""


@dataclass(frozen=True)
class Estimated:
    """Methods of one design that have not been compared yet.

    `difference` compares two methods that are not excluded, by name; None for other folds.
    """

    methods: list[Method]
    difference: Callable[[str, str], Estimate | None]
    kind: str


def seeds(
    session: Session,
    by_method: Mapping[str, Sequence[MethodRun]],
    key: str,
    *,
    kept: LruCache[KnownMoments] | None,
) -> Estimated:
    """Methods with seeds; those on the samples that most runs have can be compared."""
    by_method = {name: _one_of_each_seed(runs) for name, runs in by_method.items()}
    roots = Counter(
        run.truth_root for runs in by_method.values() for run in runs if run.has_predictions
    )
    root = roots.most_common(1)[0][0] if roots else None
    why_not = {name: _not_paired(runs, root) for name, runs in by_method.items()}
    paired = [name for name, why in why_not.items() if why is None]
    together = [by_method[name] for name in paired]
    evaluations = tuple(tuple(run.evaluation_id for run in runs) for runs in together)
    moments, reason = result_of(kept, (key, evaluations), lambda: _moments(session, together, key))
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
    return Estimated(methods, difference, SEEDS)


def _one_of_each_seed(runs: Iterable[MethodRun]) -> list[MethodRun]:
    """The newest run of each seed on the same samples; a repeated seed is no further draw."""
    found: dict[tuple[str, int | None], MethodRun] = {}
    for run in runs:
        found.setdefault((run.id if run.seed is None else run.seed, run.truth_root), run)
    return list(found.values())


def _not_paired(runs: Sequence[MethodRun], root: int | None) -> str | None:
    """Why the runs of a method cannot be averaged; None if they can."""
    if len(runs) < 2:
        return "it has one run"
    if not all(run.has_predictions for run in runs):
        return "some of its runs are matrices without predictions"
    if any(run.truth_root != root for run in runs):
        return "its runs are of other examples"
    return _undefined(runs)


def _undefined(runs: Iterable[MethodRun]) -> str | None:
    """How many runs have no value, in words; None if all have one.

    A mean of only the others would favour a method that failed in some of its runs.
    """
    values = [run.value for run in runs]
    n_undefined = values.count(None)
    if not n_undefined:
        return None
    return f"the metric is undefined for {n_undefined} of its {count(len(values), 'run')}"


def _moments(
    session: Session, runs_of_methods: Sequence[Sequence[MethodRun]], key: str
) -> KnownMoments:
    """How the choice of samples affects the methods, or why that is not known."""
    ids = [run.id for runs in runs_of_methods for run in runs]
    if not ids:
        return None, ""
    paired = side_by_side(session, ids)
    if paired is None:
        return None, "its runs have too many predictions to compare them here"
    if not tested_metrics([key], paired.counted)[0]:
        noun = "class" if isinstance(paired, PairedRuns) else "label"
        return None, f"a {noun} has fewer than {FEWEST_SAMPLES} labelled examples"
    method_of = [at for at, runs in enumerate(runs_of_methods) for _ in runs]
    if isinstance(paired, PairedRuns):
        found = moments_of(paired, method_of, key)
    elif has_slopes(key):
        found = moments_of_covariance(paired.own_covariance(key), method_of)
    else:
        found = None
    return found, f"there is no paired test for {key}"


def folds(
    session: Session,
    by_method: Mapping[str, Sequence[MethodRun]],
    key: str,
    dataset: DatasetRecord,
) -> Estimated:
    """Methods with folds; those with the same folds as the best one can be compared."""
    parts = {name: _by_part(runs) for name, runs in by_method.items()}
    why_not = {name: _not_compared(found) for name, found in parts.items()}
    ids = [run.id for found in parts.values() for run in found.values()]
    counts = counts_of(session, ids, dataset.labels) if ids else {}
    ratios = {
        name: _test_per_train(found, counts)
        for name, found in parts.items()
        if why_not[name] is None
    }
    estimates = {
        name: mean_of_folds(_values(parts[name].values()), ratio) for name, ratio in ratios.items()
    }

    def difference(name: str, best: str) -> Estimate | None:
        first, second = parts[name], parts[best]
        if {part: run.truth_root for part, run in first.items()} != {
            part: run.truth_root for part, run in second.items()
        }:
            return None
        apart = differences(_values(first.values()), _values(second[part] for part in first))
        # Of two training sizes the smaller one counts: its values vary more with the training
        # part.
        return mean_of_folds(apart, max(ratios[name], ratios[best]))

    methods = []
    for name, found in parts.items():
        runs = list(found.values())
        value = _value([counts[run.id] for run in runs], key, dataset)
        method = _method(
            name, Design.FOLDS, runs, key, estimate=estimates.get(name), why_not=why_not[name]
        )
        methods.append(replace(method, pooled=value))
    return Estimated(methods, difference, FOLDS)


def _value(found: Sequence[Unweighted], key: str, dataset: DatasetRecord) -> MetricValue:
    """A metric of the summed counts of all folds."""
    parts = [each.tally if isinstance(each, CountedSets) else each.counts for each in found]
    of_sets = isinstance(found[0], CountedSets)
    total = added_up(parts, n_classes=len(dataset.labels), of_sets=of_sets)
    if isinstance(total, SetTally):
        own = custom.set_value(key, total.labels, dataset.labels.names)
        return own or set_metrics(total).get(key, MetricValue(None, Reason.NO_SCORES.value))
    suite = evaluate_stack(total, ordinal=dataset.labels.ordinal, names=dataset.labels.names)
    return suite.aggregate[key].at()


def _by_part(runs: Sequence[MethodRun]) -> dict[tuple[str, str], MethodRun]:
    """Runs by seed and fold in order, the newest of each; runs without a fold are left out."""
    found: dict[tuple[str, str], MethodRun] = {}
    for run in runs:
        if run.fold is not None:
            found.setdefault((run.seed or "", run.fold), run)
    return dict(sorted(found.items()))


def _not_compared(parts: Mapping[tuple[str, str], MethodRun]) -> str | None:
    """Why the folds of a method have no interval; None if they have one."""
    if len({fold for _, fold in parts}) < 2:
        return "it has one fold"
    return _undefined(parts.values())


def _test_per_train(
    parts: Mapping[tuple[str, str], MethodRun], counts: Mapping[str, Unweighted]
) -> float:
    """Test size divided by training size: 1 / (k - 1) for k folds trained on all other parts.

    A stated training size is used instead, which may be fewer examples.
    """
    whole = 1 / (len({fold for _, fold in parts}) - 1)
    runs = list(parts.values())
    size = runs[0].train_size
    if size is None:
        return whole
    if size <= 1:
        return whole / size
    return fmean(float(counts[run.id].total) for run in runs) / size


def _values(runs: Iterable[MethodRun]) -> list[float]:
    """The defined values, in order."""
    return [run.value for run in runs if run.value is not None]


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
    is_defined = len(values) == len(runs)
    mean = MetricValue(fmean(values)) if is_defined else _NO_MEAN
    share = None
    if estimate is not None:
        kind = SEEDS if design is Design.SEEDS else FOLDS
        mean = with_interval(estimate, key, kind, of_difference=False)
        share = estimate.from_training / estimate.variance if estimate.variance > 0 else None
    return Method(
        name=name,
        design=design,
        runs=tuple(runs),
        mean=mean,
        spread=stdev(values) if is_defined and len(values) > 1 else None,
        from_training=share,
        why_not_compared=why_not,
    )


def with_interval(
    estimate: Estimate, key: str, kind: str, *, of_difference: bool, n_compared: int = 1
) -> MetricValue:
    """The value with its t interval, clipped to the range of the metric."""
    ends = estimate.ends(n_compared=n_compared)
    if ends is None:
        return MetricValue(estimate.value)
    low, high = range_of(key)
    if of_difference:
        low, high = low - high, high - low
    return MetricValue(
        estimate.value, ci_low=max(ends[0], low), ci_high=min(ends[1], high), ci_method=kind
    )
